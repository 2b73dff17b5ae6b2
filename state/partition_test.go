package state

import (
	"slices"
	"testing"

	"muster/job"
	"muster/partition"
)

// Partitions are made and deleted; one that a job wants is not deleted.
func TestCreateAndDeletePartition(t *testing.T) {
	w := newWorld(t)
	names := func() (out []string) {
		for p := range w.m.Root().Partitions() {
			out = append(out, p.Name)
		}
		return out
	}
	extra := &Partition{Value: partition.Partition{Name: "extra", NodeList: "n2"}, Create: true}
	w.must(extra)
	w.refuse(Exists, extra)
	if got := names(); !slices.Equal(got, []string{"main", "fenced", "extra"}) {
		t.Fatalf("after the creation: %v", got)
	}
	if p := w.m.Root().Partition("extra"); len(p.Nodes) != 1 || p.Nodes[0] != w.m.Root().NodeNamed("n2").ID {
		t.Errorf("its nodes: %v", p.Nodes)
	}
	again := restored(t, snapshot(t, w.m.Root()))
	sameRoots(t, w.m.Root(), again.Root())
	id := w.submit(func(n *NewJob) { n.Request.Partitions = []string{"main", "extra"} })
	gone := &Partition{Value: partition.Partition{Name: "extra"}, Delete: true}
	w.refuse(InUse, gone)
	w.cancel(Target{Job: id})
	w.must(gone)
	w.refuse(NoSuchPartition, gone)
	w.is(id, job.Cancelled, job.ReasonNone)
	if got := names(); !slices.Equal(got, []string{"main", "fenced"}) {
		t.Errorf("after the deletion: %v", got)
	}
}

// A job that is cancelled while it waits keeps the reason it waited for.
func TestReasonOfCancelledWaitingJob(t *testing.T) {
	w := newWorld(t)
	heldJob := w.submit(func(n *NewJob) { n.Held = job.HeldByUser })
	later := w.submit(func(n *NewJob) { n.Request.Timing.Begin = w.now + 1_000_000 })
	free := w.submit(nil)
	w.cancel(Target{Job: heldJob}, Target{Job: later}, Target{Job: free})
	w.is(heldJob, job.Cancelled, job.ReasonJobHeldUser)
	w.is(later, job.Cancelled, job.ReasonBeginTime)
	w.is(free, job.Cancelled, job.ReasonNone)
}
