package ctld

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"muster/job"
	"muster/partition"
	"muster/sched/cyclelog"
	"muster/state"
)

// Live cycles are recorded while something waits, and planned again they give the
// same plans; when recording fails, planning goes on.
func TestCyclesAreRecorded(t *testing.T) {
	m := state.New()
	apply := func(c state.Command) {
		t.Helper()
		res, err := m.Apply(m.Root().Index()+1, &state.Entry{Now: m.Root().Now() + 1000, Commands: []state.Envelope{state.Seal(c, state.Actor{}, state.RequestID{})}})
		if err != nil || res[0].Code != state.OK {
			t.Fatalf("%T: %+v, %v", c, res, err)
		}
	}
	apply(&state.Configure{Cluster: partition.Cluster{
		Nodes:      []partition.Node{{Name: "n1", Declared: partition.Shape{Sockets: 1, CoresPerSocket: 1, ThreadsPerCore: 1, CPUs: 1, MemoryMB: 100}}},
		Partitions: []partition.Partition{{Name: "main", NodeList: "ALL", Default: true}},
		Policy:     partition.Policy{AllocCores: true},
	}})
	apply(&state.NodeRegister{Name: "n1", BootID: "b", Journal: "j"})
	dir := filepath.Join(t.TempDir(), "cycles")
	c := &Controller{cfg: Config{Cycles: dir, KeepCycles: 10}, log: slog.New(slog.DiscardHandler)}
	p := c.recorded(newPlanner())
	p.plan(m.Root(), m.Root().Now()) // nothing waits
	for range 2 {
		apply(&state.Submit{Jobs: []state.NewJob{{Request: job.Request{Partitions: []string{"main"}, Size: job.Size{Tasks: 1, CPUsPerTask: 1}, Timing: job.Timing{Limit: 5}}}}})
		p.plan(m.Root(), m.Root().Now())
	}
	files, err := cyclelog.Files(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v; want two records", files, err)
	}
	for i, f := range files {
		if r, err := cyclelog.Replay(f); err != nil || !r.Same || r.Waiting != i+1 || r.Starts != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if plan := p.plan(m.Root(), m.Root().Now()); len(plan.Starts) != 1 {
			t.Errorf("without a directory: %d starts, want 1", len(plan.Starts))
		}
	}
	if p.(*recording).cycles != nil {
		t.Error("it goes on to record though the directory is gone")
	}
	c.cfg.KeepCycles = 0
	if _, ok := c.recorded(newPlanner()).(*recording); ok {
		t.Error("a log that keeps nothing was opened")
	}
}
