package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/test/cluster"
)

// linked is a node of eight GPUs: NVLink pairs, two pairs on each of two NUMA
// domains, one card for RDMA in each domain.
func linked() string {
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "\tGPU%d", i)
	}
	b.WriteString("\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n")
	for i := range 8 {
		fmt.Fprintf(&b, "GPU%d", i)
		for k := range 8 {
			link := "SYS"
			switch {
			case i == k:
				link = "X"
			case i/2 == k/2:
				link = "NV4"
			case i/4 == k/4:
				link = "NODE"
			}
			b.WriteString("\t" + link)
		}
		for nic := range 2 {
			b.WriteString(map[bool]string{true: "\tPXB", false: "\tSYS"}[i/4 == nic])
		}
		fmt.Fprintf(&b, "\t%d-%d\t%d\n", 8*(i/4), 8*(i/4)+7, i/4)
	}
	return b.String() + "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"
}

// TestDevices: what jobs and steps get of devices, and can open.
func TestDevices(t *testing.T) {
	dir := t.TempDir()
	topology := filepath.Join(dir, "topology")
	if err := os.WriteFile(topology, []byte(linked()), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: dir, Cluster: cluster.Up(t, "--nodes", "2", "--cpus", "16", "--mem", "4000", "--gres", "gpu:a100:8", "--topology", topology)}
	for _, x := range []struct {
		name string
		run  func(*site)
	}{
		{"the best of what is free", devicesByLinks},
		{"by node, job and task", devicesByOption},
		{"tasks are bound", tasksBound},
		{"what is refused", devicesRefused},
	} {
		t.Run(x.name, func(t *testing.T) { one := *s; one.t = t; x.run(&one) })
	}
}

// devicesByLinks holds some GPUs of one node and looks at what the next job gets.
func devicesByLinks(s *site) {
	hold := func(gpus string) string {
		return s.submit("-w", "n1", "--gres=gpu:"+gpus, "-o", "/dev/null", "--wrap", "sleep 300")
	}
	first := hold("1") // 0
	s.runs(first)
	// Of 1 to 7 two with NVLink between them: 2 and 3; with the cores and the card of
	// their domain.
	out := s.Good(s.dir, "srun", "-w", "n1", "-n1", "-c4", "--gres=gpu:2", "sh", "-c",
		`echo $SLURM_STEP_GPUS $MUSTER_JOB_NICS; scontrol show job -d $SLURM_JOB_ID | grep IDX`)
	if !strings.HasPrefix(out, "2,3 mlx5_0\n") || !strings.Contains(out, "IDX:2-3") || !strings.Contains(out, "CPU_IDs=1-4") {
		s.t.Errorf("two GPUs beside one that is held: %s", out)
	}
	// One GPU breaks no pair: the partner of the held one.
	if out := s.gpus("--gres=gpu:1"); out != "1" {
		s.t.Errorf("one GPU beside one that is held is %s, want 1", out)
	}
	if out := s.gpus("--gres=gpu:4", "-c8"); out != "4,5,6,7" {
		s.t.Errorf("four GPUs are %s, want those of one domain", out)
	}
	s.Good(s.dir, "scancel", first)
}

// runs waits until a job runs.
func (s *site) runs(id string) {
	s.t.Helper()
	s.await("job "+id+" runs", func() bool { return strings.TrimSpace(s.Good(s.dir, "squeue", "-h", "-j", id, "-o", "%t")) == "R" })
}

// gpus are the numbers that a batch job on n1 is given.
func (s *site) gpus(args ...string) string {
	s.t.Helper()
	return s.batch(append([]string{"-w", "n1"}, args...), "echo $SLURM_JOB_GPUS")[0]
}

// batch runs a script and returns its lines.
func (s *site) batch(args []string, script string) []string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "out")
	s.Good(s.dir, "sbatch", append(append([]string{"-W", "-o", file}, args...), "--wrap", script)...)
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// devicesByOption opens the devices, in addition to reading the variables.
func devicesByOption(s *site) {
	look := fmt.Sprintf(`echo $SLURM_GPUS_ON_NODE $CUDA_VISIBLE_DEVICES; for i in 0 1 2 3 4 5 6 7; do (: < %s/dev/$SLURMD_NODENAME/gpu$i) 2>&1 | grep -q "No such device" && echo $i; done; true`, s.Dir)
	cases := []struct {
		args []string
		want string // number, numbers seen
	}{
		{[]string{"-w", "n1", "--gres=gpu:2"}, "2 0,1"},
		{[]string{"-w", "n1", "--gres=gpu:a100"}, "1 0"},
		{[]string{"-w", "n1", "--gpus=3"}, "3 0,1,2"},
		{[]string{"--gpus-per-node=a100:2", "-N2"}, "2 0,1"},
		{[]string{"-w", "n1", "--gpus-per-task=2", "-n2"}, "4 0,1,2,3"},
		{[]string{"-w", "n1", "--tres-per-task=gres/gpu=1", "-n3"}, "3 0,1,2"},
		{[]string{"-w", "n1", "--ntasks-per-gpu=2", "-n4"}, "2 0,1"},
		{[]string{"-w", "n1", "--gpus-per-socket=2", "--sockets-per-node=1"}, "2 0,1"},
	}
	hold := s.submit("-w", "n1", "--gres=gpu:2", "-o", "/dev/null", "--wrap", "sleep 300") // so numbers differ from the node's
	s.runs(hold)
	for _, c := range cases {
		lines := s.batch(c.args, look)
		if os.Getuid() != 0 {
			continue // no device files: numbers are the node's
		}
		if lines[0] != c.want {
			s.t.Errorf("%v: %q, want %q", c.args, lines[0], c.want)
		}
		if n := strings.Count(c.want, ",") + 1; len(lines) != n+1 {
			s.t.Errorf("%v: devices that open are %v, want %d", c.args, lines[1:], n)
		}
	}
	s.Good(s.dir, "scancel", hold)
}

// tasksBound reads what each task of a step is given.
func tasksBound(s *site) {
	cases := []struct {
		args []string
		want string // by task
	}{
		{[]string{"-n2", "--gpus-per-task=2"}, "0 0,1;1 2,3"},
		{[]string{"-n2", "--gpus-per-task=1", "--gpu-bind=none"}, "0 0,1;1 0,1"},
		{[]string{"-n4", "--gres=gpu:4", "--gpu-bind=map_gpu:3,2*2,0"}, "0 3;1 2;2 2;3 0"},
		{[]string{"-n2", "--gres=gpu:4", "--gpu-bind=mask_gpu:0x5,a"}, "0 0,2;1 1,3"},
		{[]string{"-n3", "--gres=gpu:2", "--tres-bind=gres/gpu:single:2"}, "0 0;1 0;2 1"},
		{[]string{"-n2", "--gres=gpu:4", "--gpu-bind=per_task:2"}, "0 0,1;1 2,3"},
		{[]string{"--gpus=2", "--ntasks-per-gpu=2"}, "0 0;1 0;2 1;3 1"},
	}
	for _, c := range cases {
		// Without root the numbers are the node's, which are those of the list above
		// only when nothing else holds the first ones.
		s.await("n2 is idle", func() bool { return strings.TrimSpace(s.Good(s.dir, "sinfo", "-h", "-n", "n2", "-o", "%t")) == "idle" })
		out := s.Good(s.dir, "srun", append(append([]string{"-N1", "-w", "n2"}, c.args...), "sh", "-c", "echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES")...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(lines)
		if got := strings.Join(lines, ";"); got != c.want {
			s.t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
}

func devicesRefused(s *site) {
	for _, c := range []struct{ option, text string }{
		{"--gres=gpu:", "Invalid generic resource (gres) specification"},
		{"--gres=gpu:a100:x", "Invalid generic resource (gres) specification"},
		{"--gpu-bind=bogus", "Invalid --gpu-bind argument: bogus"},
		{"--gpu-bind=map_gpu:a", "Invalid --gpu-bind argument"},
		{"--tres-bind=gres/nic:closest", "Invalid --tres-bind argument"},
		{"--gpus-per-task=1", "without either --gpus or -n/--ntasks"},
		{"--gres=gpu:h100:1", "Requested node configuration is not available"},
		{"--gres=gpu:9", "Requested node configuration is not available"},
	} {
		out := s.Run(s.t.Context(), s.dir, "", "sbatch", c.option, "--wrap", "true")
		if out.Code == 0 || !strings.Contains(out.Stderr, c.text) {
			s.t.Errorf("%s: %d %q, want %q", c.option, out.Code, out.Stderr, c.text)
		}
	}
}
