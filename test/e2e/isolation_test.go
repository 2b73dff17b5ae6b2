package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"muster/test/cluster"
)

// realNode is a cluster of one node that binds its jobs to this machine's CPUs.
const realNode = `
name = "real"
time_zone = "UTC"

[[controller]]
name = "c1"

[[node]]
names = "n1"
sockets = 1
cores = %d
memory = "3000M"
gres = ["gpu:2"]
real = true

[[partition]]
name = "main"
nodes = "n1"
default = true

[timers]
sampling = 1

[policy]
def_mem_per_cpu = 100
propagate_except = ["MEMLOCK"]
`

// user is who submits in these tests: nobody, who has many groups.
const user, groupsFrom, groupsMany = 65534, 71000, 200

// realCluster brings up a node that is this machine.
func realCluster(t *testing.T, dir string) *cluster.Cluster {
	t.Helper()
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	conf := filepath.Join(dir, "cluster.toml")
	if err := os.WriteFile(conf, fmt.Appendf(nil, realNode, runtime.NumCPU()), 0o644); err != nil {
		t.Fatal(err)
	}
	return cluster.Up(t, "--conf", conf)
}

// TestIsolation looks around from inside jobs.
func TestIsolation(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: control groups, device files and jobs of another user")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // the other user writes here
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c := realCluster(t, dir)
	groups := controlGroups(t, c)
	for _, step := range []struct {
		name string
		run  func(*site)
	}{
		{"CPUs", cpusAreOwn},
		{"memory and what was used", memoryIsBound},
		{"devices", devicesAreKept},
		{"another user's files", filesAreKept},
		{"groups", groupsAreAll},
		{"umask and limits", limitsAreTaken},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(&site{Cluster: c, t: t, dir: dir}) })
	}
	if out, err := c.Muster("dev", "down", "--dir", c.Dir); err != nil {
		t.Fatalf("muster dev down: %v\n%s", err, out)
	}
	for _, dir := range groups {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("control group %s is left (%v)", dir, err)
		}
	}
}

// controlGroups are the directories of the node's control groups.
func controlGroups(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "noded", "n1", "data", "cgroups"))
	if err != nil {
		t.Skipf("needs control groups: %v", err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		_, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("control group that the node names: %v", err)
		}
		out = append(out, dir)
	}
	return out
}

// as runs sbatch as the other user, from a shell that does setup first, and
// returns the job id.
func (s *site) as(setup string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", setup + "\nexec sbatch --parsable \"$@\"", "sh"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.Env()
	var groups []uint32
	for i := range uint32(groupsMany) {
		groups = append(groups, groupsFrom+i)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user, Groups: groups}}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("sbatch: %v\n%s", err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// lines is the output of a job that has ended well, without blank lines.
func (s *site) lines(id, file string) []string {
	s.t.Helper()
	s.awaitRecord(id, "COMPLETED|0:0")
	return strings.FieldsFunc(s.read(file), func(r rune) bool { return r == '\n' })
}

const whichCPUs = `uname -n; grep Cpus_allowed_list /proc/self/status | cut -f2; echo $SLURM_CPUS_ON_NODE
echo > up.$SLURM_JOB_ID; while [ ! -e both ]; do sleep 0.05; done`

func cpusAreOwn(s *site) {
	if runtime.NumCPU() < 2 {
		s.t.Skip("needs two CPUs")
	}
	a := s.as("", "-c", "1", "-o", "cpus.a", "--wrap", whichCPUs)
	b := s.as("", "-c", "1", "-o", "cpus.b", "--wrap", whichCPUs)
	s.await("both jobs run", func() bool { return s.exists("up."+a) && s.exists("up."+b) })
	if err := os.WriteFile(filepath.Join(s.dir, "both"), nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
	la, lb := s.lines(a, "cpus.a"), s.lines(b, "cpus.b")
	for _, l := range [][]string{la, lb} {
		if len(l) != 3 || l[0] != "n1" || l[2] != "1" || strings.ContainsAny(l[1], "-,") {
			s.t.Errorf("host name, CPUs allowed and given are %q, want n1, one CPU and 1", l)
		}
	}
	if la[1] == lb[1] {
		s.t.Errorf("two jobs at once have CPU %s", la[1])
	}
}

func memoryIsBound(s *site) {
	id := s.as("", "--mem", "60", "-o", "mem.out", "--wrap", "head -c 400M /dev/zero | tail -n 1 >/dev/null")
	s.awaitRecord(id, "OUT_OF_MEMORY|0:125")
	id = s.as("", "--mem", "500", "-o", "mem.out", "--wrap", "{ head -c 100M /dev/zero; sleep 3; } | tail -n 1 >/dev/null; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	s.awaitRecord(id, "COMPLETED|0:0")
	f := strings.Split(strings.TrimSpace(s.Good(s.dir, "sacct", "-n", "-P", "--noconvert", "-j", id+".batch", "-o", "MaxRSS,TotalCPU")), "|")
	if len(f) != 2 {
		s.t.Fatalf("sacct says %q", f)
	}
	rss, err := strconv.Atoi(strings.TrimSuffix(f[0], "K"))
	if err != nil || rss < 100<<10 || rss > 200<<10 {
		s.t.Errorf("MaxRSS of a job that had 100 MB is %s", f[0])
	}
	if f[1] == "" || f[1] == "00:00:00" || strings.HasPrefix(f[1], "00:00.00") {
		s.t.Errorf("TotalCPU of a job that computed is %s", f[1])
	}
}

func devicesAreKept(s *site) {
	// Nothing answers behind a device that may be opened.
	try := fmt.Sprintf(`for i in 0 1; do (: < %s/dev/n1/gpu$i) 2>&1 | grep -q "No such device" && echo open $i || echo kept $i; done; echo $CUDA_VISIBLE_DEVICES`, s.Dir)
	l := s.lines(s.as("", "--gres=gpu:1", "-o", "dev.one", "--wrap", try), "dev.one")
	if len(l) != 3 || l[0] == l[1] || l[2] != "0" || l[0] != "open 0" || l[1] != "kept 1" {
		s.t.Errorf("a job with one device: %q", l)
	}
	l = s.lines(s.as("", "-o", "dev.none", "--wrap", try), "dev.none")
	if len(l) < 2 || l[0] != "kept 0" || l[1] != "kept 1" {
		s.t.Errorf("a job without devices: %q", l)
	}
}

func filesAreKept(s *site) {
	if err := os.WriteFile(filepath.Join(s.dir, "secret"), []byte("secret"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	data := filepath.Join(s.Dir, "noded", "n1")
	l := s.lines(s.as("", "-o", "files.out", "--wrap", fmt.Sprintf(
		`cat secret; ls %[1]s/data %[1]s/certs; cat %[1]s/data/cgroups; kill $PPID 2>&1; id -u`, data)), "files.out")
	refused := 0
	for _, line := range l {
		if strings.Contains(line, "ermission denied") || strings.Contains(line, "not permitted") {
			refused++
		}
	}
	if refused != len(l)-1 || refused != 5 || l[len(l)-1] != strconv.Itoa(user) {
		s.t.Errorf("files and processes of root, from a job of uid %d: %q", user, l)
	}
	// Nor may an output file be written where the user may not.
	id := s.as("", "-o", filepath.Join(s.dir, "secret"), "--wrap", "echo overwritten")
	s.awaitRecord(id, "FAILED|0:53")
	if got := s.read("secret"); got != "secret" {
		s.t.Errorf("root's file has %q", got)
	}
}

func groupsAreAll(s *site) {
	l := s.lines(s.as("", "-o", "groups.out", "--wrap", "id -G"), "groups.out")
	has := map[string]bool{}
	for _, g := range strings.Fields(l[0]) {
		has[g] = true
	}
	for i := range groupsMany {
		if !has[strconv.Itoa(groupsFrom+i)] {
			s.t.Errorf("the job is not in group %d", groupsFrom+i)
		}
	}
	if len(has) != groupsMany+1 {
		s.t.Errorf("the job is in %d groups, want %d and its own", len(has), groupsMany)
	}
}

func limitsAreTaken(s *site) {
	l := s.lines(s.as("umask 027; ulimit -Sn 333; ulimit -Sc 0; ulimit -Sl 32; ulimit -St 5000", "-o", "limits.out", "--wrap",
		"umask; ulimit -Sn; ulimit -Sc; ulimit -Sl; ulimit -St; nice"), "limits.out")
	own, err := exec.Command("nice").Output() // the daemon's, which it has from here
	if err != nil {
		s.t.Fatal(err)
	}
	if len(l) != 6 || l[0] != "0027" || l[1] != "333" || l[2] != "0" || l[3] == "32" || l[4] != "5000" || l[5] != strings.TrimSpace(string(own)) {
		s.t.Errorf("umask, open files, core, locked memory, seconds and nice value: %q", l)
	}
	st, err := os.Stat(filepath.Join(s.dir, "limits.out"))
	if err != nil || st.Mode().Perm() != 0o640 {
		s.t.Errorf("the output file is %v (%v)", st.Mode(), err)
	}
}
