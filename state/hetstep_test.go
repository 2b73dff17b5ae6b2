package state

import (
	"testing"

	"muster/job"
)

// TestComponentsOfAStepHaveOneNumber, whatever steps each component had alone.
func TestComponentsOfAStepHaveOneNumber(t *testing.T) {
	w := newWorld(t)
	ids := w.het(2)
	w.must(w.hetCmd("n1", ids...))
	begin := func(i int, number job.StepID, numbered bool) *StepCreate {
		s := stepOn(w, "n1", 0)
		s.ID = number
		return &StepCreate{Job: ids[i], Step: s, Numbered: numbered}
	}
	for want := range job.StepID(2) {
		if got := w.must(begin(1, 0, false)).Step; got != want {
			t.Fatalf("a step of component 1 alone is %d, want %d", got, want)
		}
	}
	both := w.must(begin(0, 0, false)).Step
	if both != 2 {
		t.Fatalf("the first step of component 0 is %d, want 2: component 1 had two", both)
	}
	if got := w.must(begin(1, both, true)).Step; got != both {
		t.Fatalf("its part in component 1 is %d, want %d", got, both)
	}
	w.refuse(Invalid, begin(1, both, true)) // it is there
	w.refuse(Invalid, begin(1, maxSteps, true))
	if got := w.must(begin(0, 0, false)).Step; got != 3 {
		t.Fatalf("the next step is %d, want 3", got)
	}
	plain := w.submit(nil)
	w.start(plain, "n2")
	w.refuse(Invalid, &StepCreate{Job: plain, Step: stepOn(w, "n2", 0), Numbered: true})
}

// TestStepsHoldCores: a core is one step's, unless the steps overlap.
func TestStepsHoldCores(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	core := w.job(id).Alloc.Nodes[0].Cores
	s := stepOn(w, "n1", 0)
	s.Parts[0].Cores = core
	w.must(&StepCreate{Job: id, Step: s})
	w.refuse(StepWaits, &StepCreate{Job: id, Step: s})
	s.Overlap = true
	w.must(&StepCreate{Job: id, Step: s})
	w.must(&StepEnd{Job: id, Step: 0})
	s.Overlap = false
	w.must(&StepCreate{Job: id, Step: s})
}
