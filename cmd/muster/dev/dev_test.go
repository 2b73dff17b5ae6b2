package dev

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/api"

	"golang.org/x/sys/unix"
)

// sleeper starts `sh` that runs a script and waits until it has said "ready".
func sleeper(t *testing.T, script string, env ...string) process {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the process said %q, %v", line, err)
	}
	p, err := readProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProcessOfAnotherTimeIsNotKilled(t *testing.T) {
	p := sleeper(t, "echo ready; exec sleep 600")
	earlier := p
	earlier.start--
	if err := earlier.signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if now, err := readProcess(p.pid); err != nil || !now.alive() {
		t.Fatalf("a process with the number of an earlier one was killed (%v)", err)
	}
	c := &Cluster{Boot: hostBoot()}
	for name, d := range map[string]*Daemon{
		"another start": {PID: p.pid, Start: p.start + 1},
		"never started": {},
	} {
		if _, runs := c.process(d); runs {
			t.Errorf("%s: taken for running", name)
		}
	}
	d := &Daemon{PID: p.pid, Start: p.start}
	if _, runs := c.process(d); !runs {
		t.Error("the daemon itself is not found")
	}
	if _, runs := (&Cluster{Boot: "before the reboot"}).process(d); runs {
		t.Error("after a reboot the daemon is taken for running")
	}
	if err := p.signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := waitGone(func() ([]process, error) {
		if p, runs := c.process(d); runs {
			return []process{p}, nil
		}
		return nil, nil
	}); err != nil {
		t.Error(err) // a zombie does not run
	}
}

// TestPowerCutLeavesNothing kills a node whose job has put itself into a session of
// its own and emptied its environment.
func TestPowerCutLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	c := &Cluster{Dir: dir, Sockets: dir, Boot: hostBoot()}
	d := &Daemon{Kind: kindNode, Name: "n1", BootID: newBootID()}
	c.Daemons = []*Daemon{d}
	other := sleeper(t, "echo ready; exec sleep 600", nodeVariable+"="+dir+":n2")
	marked := sleeper(t, "echo ready; exec sleep 600", c.marker(d))
	job := sleeper(t, "env -i setsid sleep 600 & echo ready; wait", "MUSTER_SOCKET="+c.Socket("n1"))
	found, err := c.residents(d)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 {
		t.Errorf("%d processes found, want the daemon, the job and its child", len(found))
	}
	boot := d.BootID
	if err := c.cutPower(d); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(found, marked, job) {
		if now, err := readProcess(p.pid); err == nil && now.start == p.start && now.alive() {
			t.Errorf("process %d lives", p.pid)
		}
	}
	if now, err := readProcess(other.pid); err != nil || !now.alive() {
		t.Error("a process of another node was killed")
	}
	if d.BootID == boot {
		t.Error("the boot id is as before")
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil || !strings.Contains(string(text), d.BootID) {
		t.Errorf("the new boot id is not kept: %v", err)
	}
}

func TestParts(t *testing.T) {
	c := &Cluster{Daemons: []*Daemon{
		{Kind: kindController, Name: "c1"}, {Kind: kindController, Name: "c2"},
		{Kind: kindNode, Name: "n1"}, {Kind: kindLogin, Name: kindLogin},
	}}
	for what, want := range map[string]string{
		"ctld/2": "c2", "ctld/c1": "c1", "noded/n1": "n1", "node/n1": "n1", "login": "login",
		"ctld/3": "", "noded/n2": "", "node": "", "": "", "c1": "",
	} {
		d, node, err := c.find(what)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: found %s", what, d.Name)
		case want == "" && !strings.Contains(err.Error(), "noded/n1"):
			t.Errorf("%q: %v does not say what there is", what, err)
		case want != "" && (err != nil || d.Name != want || node != (what == "node/n1")):
			t.Errorf("%q: got %+v, %v, %v", what, d, node, err)
		}
	}
}

const given = `name = "mine"
[[controller]]
name = "alpha" # ours
addresses = ["10.0.0.1"]

[[node]]
names = "a[1-2]"
cpus = 4
memory = "1000M"
gres = ["gpu:a100:2", "nic:1"]
`

func TestGivenFileGetsControllersOfThisHost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "given.toml")
	if err := os.WriteFile(path, []byte(given), 0o644); err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir}
	file, err := c.clusterFile(Options{Conf: path})
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Controllers) != 1 || file.Controllers[0].Name != "alpha" || file.Controllers[0].Addresses[0] != "127.0.0.1" {
		t.Errorf("controllers: %+v", file.Controllers)
	}
	if file.Cluster.Name != "mine" || len(file.Cluster.Nodes) != 2 || file.Cluster.Nodes[0].Name != "a1" {
		t.Errorf("the rest was not kept: %s, %+v", file.Cluster.Name, file.Cluster.Nodes)
	}
	for what, o := range map[string]Options{
		"another number of controllers": {Conf: path, Controllers: 3},
		"nodes as well":                 {Conf: path, Nodes: 4},
	} {
		if _, err := c.clusterFile(o); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestDeclarationAndDevices(t *testing.T) {
	dir := t.TempDir()
	c := &Cluster{Dir: dir}
	file, err := c.clusterFile(Options{Nodes: 2, CPUs: 8, MemoryMB: 4000, Gres: []string{"gpu:a100:3"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range file.Cluster.Nodes {
		if err := os.MkdirAll(c.path(kindNode, n.Name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.declare(file, ""); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.path(kindNode, "n2", "declare.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"cores_per_socket": 8`, `"memory_mb": 4000`, filepath.Join(dir, "dev", "n2", "gpu2")} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the declaration lacks %s:\n%s", want, text)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "dev", "n2", "gpu2"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 && info.Mode()&os.ModeCharDevice == 0 {
		t.Logf("no device could be made here: mode %v", info.Mode())
	}
}

func TestNodesThatTheControllersDoNotKnowAreAbsent(t *testing.T) {
	p := sleeper(t, "echo ready; exec sleep 600")
	c := &Cluster{Boot: hostBoot(), Daemons: []*Daemon{
		{Kind: kindNode, Name: "n1", PID: p.pid, Start: p.start},
		{Kind: kindNode, Name: "n2", PID: p.pid, Start: p.start},
		{Kind: kindNode, Name: "n3"}, // was killed and not brought back
	}}
	for _, test := range []struct {
		known []api.NodeRecord
		want  string
	}{
		{nil, "n1 n2"}, // no configuration yet
		{[]api.NodeRecord{{Name: "n1", Base: api.NodeIdle}, {Name: "n2", Base: api.NodeUnknown}}, "n2"},
		{[]api.NodeRecord{{Name: "n1", Base: api.NodeIdle}, {Name: "n2", Base: api.NodeIdle, Flags: api.NodeNoResponse}}, "n2"},
		{[]api.NodeRecord{{Name: "n1", Base: api.NodeIdle}, {Name: "n2", Base: api.NodeIdle}}, ""},
	} {
		if got := strings.Join(c.absent(test.known), " "); got != test.want {
			t.Errorf("known %v: absent are %q, want %q", test.known, got, test.want)
		}
	}
}

func TestAProcessLivesUntilItsLastThreadHasEnded(t *testing.T) {
	for stat, want := range map[string]bool{
		"7 (a) b) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 9 0 4321 0":    true,
		"7 (musterd) Z 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 3 0 4321 0": true,
		"7 (musterd) Z 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4321 0": false,
	} {
		p, err := parseStat(7, []byte(stat))
		if err != nil || p.start != 4321 || p.parent != 1 || p.alive() != want {
			t.Errorf("%q: %+v, %v; want alive %v", stat, p, err, want)
		}
	}
	if _, err := parseStat(7, []byte("7 (musterd) Z 1")); err == nil {
		t.Error("a cut line was taken")
	}
}
