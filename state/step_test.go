package state

import (
	"testing"

	"muster/internal/bitset"
	"muster/job"
)

// stepOn is a step with one part.
func stepOn(w *world, node string, cpus uint32, gpus ...int) job.Step {
	p := job.StepPart{CPUs: cpus, Tasks: 1}
	if len(gpus) > 0 {
		p.Devices = []job.DeviceShare{{Name: "gpu", Count: uint64(len(gpus)), Index: bitset.Of(gpus...)}}
	}
	return job.Step{Name: "s", Tasks: 1, CPUs: cpus, Nodes: []job.NodeID{w.m.Root().NodeNamed(node).ID}, Parts: []job.StepPart{p}}
}

func TestStepsShareTheJobsResources(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.refuse(WrongState, &StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
	w.start(id, "n1")
	w.refuse(Invalid, &StepCreate{Job: id, Step: stepOn(w, "n2", 1)})
	if got := w.must(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)}).Step; got != 0 {
		t.Fatalf("the first step is %d, want 0", got)
	}
	w.refuse(StepWaits, &StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
	w.refuse(StepWaits, &StepCreate{Job: id, Step: stepOn(w, "n1", 0, 0)}) // the job has no such device
	over := stepOn(w, "n1", 1)
	over.Overlap = true
	if got := w.must(&StepCreate{Job: id, Step: over}).Step; got != 1 {
		t.Fatalf("the step with --overlap is %d, want 1", got)
	}
	w.must(&StepEnd{Job: id, Step: 0, ExitCode: 3})
	w.refuse(Stale, &StepEnd{Job: id, Step: 0, ExitCode: 9})
	if got := w.must(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)}).Step; got != 2 {
		t.Fatalf("the next step is %d, want 2", got)
	}
	w.exit(id, 0)
	j := w.job(id)
	want := []job.State{job.Failed, job.Cancelled, job.Cancelled}
	for i, s := range j.Steps {
		if s.State != want[i] || s.End == 0 {
			t.Errorf("step %d is %s and ended at %d, want %s with an end", s.ID, s.State, s.End, want[i])
		}
	}
	if j.State != job.Completed || j.End.ExitCode != 0 || j.End.Derived != 3 || j.End.DerivedSig != 0 {
		t.Errorf("the job is %s with %+v, want COMPLETED, 0 and derived 3:0", j.State, j.End)
	}
	w.refuse(WrongState, &StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
}

// TestWaitingStepIsNoAnswer: the same request is tried again and is not answered
// from memory with its refusal.
func TestWaitingStepIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	w.must(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
	again := Seal(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)}, Actor{UID: 1000}, RequestID{7})
	if r := w.apply(again)[0]; r.Code != StepWaits {
		t.Fatalf("code %d, want that it waits", r.Code)
	}
	w.must(&StepEnd{Job: id, Step: 0})
	for range 2 { // the second try finds the answer of the first
		if r := w.apply(again)[0]; r.Code != OK || r.Step != 1 {
			t.Fatalf("code %d and step %d, want step 1", r.Code, r.Step)
		}
	}
	if n := len(w.job(id).Steps); n != 2 {
		t.Errorf("%d steps, want 2: a request was done twice", n)
	}
}

func TestComplete(t *testing.T) {
	w := newWorld(t)
	interactive := func(n *NewJob) { n.Request.Interactive, n.Request.Requeue = true, false }
	batch := w.submit(nil)
	w.start(batch, "n2")
	w.refuse(WrongState, &Complete{Job: batch})
	waiting := w.submit(interactive)
	w.must(&Complete{Job: waiting, Signal: 9})
	w.is(waiting, job.Cancelled, job.ReasonNone)
	for _, c := range []struct {
		code   uint32
		state  job.State
		reason job.Reason
	}{{0, job.Completed, job.ReasonNone}, {9, job.Failed, job.ReasonNonZeroExitCode}} {
		id := w.submit(interactive)
		w.start(id, "n1")
		w.must(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
		w.must(&Complete{Job: id, ExitCode: c.code})
		w.is(id, c.state, c.reason)
		if j := w.job(id); j.Flags&job.Completing == 0 || j.End.ExitCode != c.code || j.Steps[0].Active() {
			t.Errorf("job %d: %+v, want completing with code %d and its step ended", id, j.End, c.code)
		}
		w.refuse(AlreadyDone, &Complete{Job: id})
		w.must(&Report{Job: id, Node: "n1", Released: true, At: w.now})
		if j := w.job(id); j.Flags&job.Completing != 0 || j.State != c.state {
			t.Errorf("job %d is %s after its node let it go", id, job.Word(j.State, j.Flags, false))
		}
	}
}

// TestSignalledStep: a step that a signal ended is cancelled, and the signal counts
// for its job unless the job itself was being ended.
func TestSignalledStep(t *testing.T) {
	for _, sig := range []uint8{9, 11, 15} {
		w := newWorld(t)
		id := w.submit(nil)
		w.start(id, "n1")
		w.must(&StepCreate{Job: id, Step: stepOn(w, "n1", 1)})
		w.must(&StepEnd{Job: id, Step: 0, Signal: sig})
		w.exit(id, 0)
		if j := w.job(id); j.Steps[0].State != job.Cancelled || j.End.DerivedSig != sig {
			t.Errorf("signal %d: the step is %s, the job's derived signal %d", sig, j.Steps[0].State, j.End.DerivedSig)
		}
	}
}
