package noded

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/job"
)

// needRoot skips what only root's jobs have.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: control groups and device files")
	}
}

// TestDevicesOfOthersAreClosed makes device nodes that no driver answers: opening
// one that is allowed gives ENXIO, one that is not allowed EPERM. Drivers have
// major numbers below 512.
func TestDevicesOfOthersAreClosed(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	var files []string
	for i := range 2 {
		name := filepath.Join(dir, "gpu"+string(rune('0'+i)))
		if err := unix.Mknod(name, unix.S_IFCHR|0o666, int(unix.Mkdev(4000, uint32(i)))); err != nil {
			t.Skipf("needs the right to make device files: %v", err)
		}
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	declare := filepath.Join(dir, "declare.json")
	text := `{"sockets":1,"cores_per_socket":4,"threads":1,"memory_mb":1000,"tmp_disk":0,"hostname":"node-x",
		"gres":[{"name":"gpu","type":"a100","files":["` + strings.Join(files, `","`) + `"]}]}`
	if err := os.WriteFile(declare, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *Config) { c.Declare = declare })
	if n := len(s.hello.Found.Devices); n != 2 || s.hello.Found.Cpus != 4 {
		t.Fatalf("found %v", s.hello.Found)
	}
	s.launch(1, "for f in "+strings.Join(files, " ")+"; do cat $f; done; echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS; uname -n", stdout("o"),
		func(l *pb.Launch, _ *job.Request) {
			l.Part.Devices = []*pb.PartDevice{{Name: "gpu", Type: "a100", Count: 1, Index: []uint32{1}}}
		})
	s.released(1)
	lines := strings.Split(strings.TrimSpace(s.output("o")), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], "Operation not permitted") || !strings.Contains(lines[1], "No such device") {
		t.Fatalf("output %q: want the first device refused and the second reached", lines)
	}
	if lines[2] != "0 1" || lines[3] != "node-x" {
		t.Errorf("visible devices and host name are %q", lines[2:])
	}
}

func TestCPUsAreThoseOfTheJob(t *testing.T) {
	needRoot(t)
	s := newSite(t)
	if len(s.hello.Found.GetDevices()) != 0 || s.hello.Found.Cpus < 2 {
		t.Skip("needs a machine of two CPUs")
	}
	s.launch(1, "grep Cpus_allowed_list /proc/self/status", stdout("o"),
		func(l *pb.Launch, _ *job.Request) { l.Part.Cores = []uint32{0} })
	s.released(1)
	v, err := lookAround("/sys/devices/system/cpu", s.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	want := v.cpuList([]uint32{0})
	if got := strings.Fields(s.output("o")); len(got) != 2 || strings.ReplaceAll(got[1], "-", ",") != want {
		t.Errorf("the job may run on %q, want %s", got, want)
	}
}

func TestForkBombStopsAtTheProcessLimit(t *testing.T) {
	needRoot(t)
	s := newSite(t, func(c *Config) { c.MaxPIDs = 40 })
	if s.cfg.tracked(t) != "control groups" {
		t.Skip("needs control groups")
	}
	s.launch(1, "i=0; while [ $i -lt 200 ]; do sleep 300 & i=$((i+1)); done; echo all", stdout("o"))
	r := s.released(1)
	if out := s.output("o"); !strings.Contains(out, "fork") || strings.Contains(out, "all") || r.ExitCode == 0 {
		t.Errorf("reported %v, output %q", r, out)
	}
	s.launch(2, "sleep 0 & wait; echo fine", stdout("o2")) // the others may still
	s.released(2)
	if got := s.output("o2"); got != "fine\n" {
		t.Errorf("the next job says %q", got)
	}
}

// tracked says by what the daemon holds its jobs' processes.
func (c *Config) tracked(t *testing.T) string {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(c.DataDir, "cgroups")); err == nil && len(b) > 0 {
		return "control groups"
	}
	return "process groups"
}

// TestAllGroupsOfTheUser starts a job of a user of 200 groups.
func TestAllGroupsOfTheUser(t *testing.T) {
	needRoot(t)
	s := newSite(t)
	want := map[string]bool{strconv.Itoa(int(s.gid)): true}
	s.launch(1, "id -G", stdout("o"), func(l *pb.Launch, _ *job.Request) {
		for g := range uint32(200) {
			l.Groups = append(l.Groups, 80000+g)
			want[strconv.Itoa(int(80000+g))] = true
		}
	})
	s.released(1)
	got := map[string]bool{}
	for _, g := range strings.Fields(s.output("o")) {
		got[g] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d groups, want %d: %v", len(got), len(want), got)
	}
}

func TestLimitAboveTheHardOneIsCut(t *testing.T) {
	s := newSite(t)
	s.launch(1, "ulimit -Sn; ulimit -Hn", stdout("o"), func(_ *pb.Launch, r *job.Request) {
		r.Batch.Limits = []job.Limit{{Name: "NOFILE", Value: 1 << 40}}
	})
	s.released(1)
	if f := strings.Fields(s.output("o")); len(f) != 2 || f[0] != f[1] {
		t.Errorf("soft and hard limit are %q, want the same", f)
	}
}

func TestLimitsAreThoseOfTheSubmitter(t *testing.T) {
	s := newSite(t)
	s.launch(1, "ulimit -Sn; ulimit -St; ulimit -Hn", stdout("o"), func(_ *pb.Launch, r *job.Request) {
		r.Batch.Limits = []job.Limit{{Name: "NOFILE", Value: 333}, {Name: "CPU", Value: 4444}}
	})
	s.released(1)
	got := strings.Fields(s.output("o"))
	if len(got) != 3 || got[0] != "333" || got[1] != "4444" || got[2] == "333" {
		t.Errorf("soft NOFILE, soft CPU and hard NOFILE are %q", got)
	}
	if n, ok := slurm.LimitNumber("NOFILE"); !ok || n != unix.RLIMIT_NOFILE {
		t.Errorf("NOFILE is limit %d here, %d in the kernel", n, unix.RLIMIT_NOFILE)
	}
}

func TestSuspendedJobStandsStill(t *testing.T) {
	s := newSite(t)
	s.launch(1, "echo up; while [ ! -e go ]; do sleep 0.02; done; echo went", stdout("o"))
	s.appears("o", "up")
	a := []*pb.Attempt{{Job: 1}}
	s.tell(&pb.ToNode{Desired: &pb.Desired{Suspend: a}})
	s.tell(&pb.ToNode{Signal: &pb.Signal{Id: 1, Attempt: a[0], Number: 0}}) // answered after the suspension
	s.wait("answer", func() bool { return len(s.signals) == 1 })
	if err := os.WriteFile(filepath.Join(s.work, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.launch(2, "sleep 0.2") // time in which job 1 would go on
	s.released(2)
	if strings.Contains(s.output("o"), "went") {
		t.Error("a suspended job went on")
	}
	s.tell(&pb.ToNode{Desired: &pb.Desired{Resume: a}})
	if r := s.released(1); r.ExitCode != 0 || r.ExitSignal != 0 {
		t.Errorf("reported %v", r)
	}
}

func TestUnknownUserIsRefused(t *testing.T) {
	needRoot(t)
	s := newSite(t)
	s.launch(1, "true", func(l *pb.Launch, _ *job.Request) { l.Uid = 3_999_999_111 })
	if r := s.released(1); !r.Failed || !strings.Contains(r.Detail, "3999999111") {
		t.Errorf("reported %v", r)
	}
}

func TestLoginVariablesWithoutTheSubmitters(t *testing.T) {
	s := newSite(t)
	s.launch(1, "echo $HOME $USER", stdout("o"), func(l *pb.Launch, r *job.Request) {
		r.Batch.GetUserEnv = true
		l.Script.EnvironmentData = []byte("USER=given")
	})
	s.released(1)
	if got := strings.Fields(s.output("o")); len(got) != 2 || !filepath.IsAbs(got[0]) || got[1] != "given" {
		t.Errorf("home and user are %q", got)
	}
}
