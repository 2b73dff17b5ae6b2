package cyclelog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/sched/feed"
	"muster/state"
)

// aRoot is the state of a node of two CPUs, with three jobs that wait.
func aRoot(t *testing.T) *state.Root {
	t.Helper()
	m := state.New()
	list := []state.Command{
		&state.Configure{Cluster: partition.Cluster{
			Nodes:      []partition.Node{{Name: "n1", Declared: partition.Shape{Sockets: 1, CoresPerSocket: 2, ThreadsPerCore: 1, CPUs: 2, MemoryMB: 100}}},
			Partitions: []partition.Partition{{Name: "main", NodeList: "ALL", Default: true}},
			Policy:     partition.Policy{AllocCores: true},
		}},
		&state.NodeRegister{Name: "n1", BootID: "b", Journal: "j"},
	}
	for range 3 {
		list = append(list, &state.Submit{Jobs: []state.NewJob{{Request: job.Request{Partitions: []string{"main"},
			Size: job.Size{Tasks: 1, CPUsPerTask: 1}, Timing: job.Timing{Limit: 5}}}}})
	}
	e := &state.Entry{Now: 1_000_000}
	for _, c := range list {
		e.Commands = append(e.Commands, state.Seal(c, state.Actor{}, state.RequestID{}))
	}
	if _, err := m.Apply(1, e); err != nil {
		t.Fatal(err)
	}
	return m.Root()
}

func add(t *testing.T, l *Log, root *state.Root, change func(*sched.Plan)) {
	t.Helper()
	plan := feed.New().Update(root).Plan(root.Now(), sched.Budget{})
	if len(plan.Starts) != 2 || len(plan.Verdicts) != 1 {
		t.Fatalf("%+v", plan)
	}
	if change != nil {
		change(plan)
	}
	if err := l.Add(root, root.Now(), sched.Budget{}, plan); err != nil {
		t.Fatal(err)
	}
}

func TestRingKeepsTheLast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cycles")
	root := aRoot(t)
	for range 2 { // the second goes on where the first ended
		l, err := Open(dir, 3)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			add(t, l, root, nil)
		}
	}
	files, err := Files(dir)
	if err != nil || len(files) != 3 || !strings.HasPrefix(filepath.Base(files[2]), "0000000000000008") {
		t.Errorf("%v, %v", files, err)
	}
	if r, err := Replay(files[0]); err != nil || !r.Same || r.Starts != 2 || r.Waiting != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A plan that is not the recorded one is told, with what is different.
func TestReplayTellsDifferences(t *testing.T) {
	root := aRoot(t)
	for name, change := range map[string]func(*sched.Plan){
		"another core":   func(p *sched.Plan) { p.Starts[0].Alloc.Nodes[0].Cores.Add(1) },
		"a start less":   func(p *sched.Plan) { p.Starts = p.Starts[:1] },
		"another reason": func(p *sched.Plan) { p.Verdicts[0].Reasons[0].Detail += "!" },
		"another time":   func(p *sched.Plan) { p.Verdicts[0].Planned++ },
		"more steps":     func(p *sched.Plan) { p.Steps++ },
	} {
		l, err := Open(t.TempDir(), 1)
		if err != nil {
			t.Fatal(err)
		}
		add(t, l, root, change)
		files, err := Files(l.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Replay(files[0]); err != nil || r.Same || r.Differs == "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestBadRecords(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, 5)
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, aRoot(t), nil)
	files, _ := Files(dir)
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad")
	for _, n := range []int{0, 3, len(data) / 2, len(data) - 1} {
		if err := os.WriteFile(bad, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%d of %d bytes: error %v", n, len(data), err)
		}
	}
	if _, err := Open(dir, 0); err == nil {
		t.Error("a log that keeps nothing was opened")
	}
	if err := os.WriteFile(filepath.Join(dir, "x"+suffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, 1); err == nil {
		t.Error("a directory with a foreign file was opened")
	}
}
