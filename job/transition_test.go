package job

import (
	"testing"

	"pgregory.net/rapid"
)

// Every state is reached from PENDING, and every ended one leads to PENDING only.
func TestTransitionTable(t *testing.T) {
	reached := map[State]bool{Pending: true}
	for range OutOfMemory {
		for from := range reached {
			for to := Pending; to <= OutOfMemory; to++ {
				if from.CanBecome(to) {
					reached[to] = true
				}
			}
		}
	}
	for s := Pending; s <= OutOfMemory; s++ {
		if !reached[s] {
			t.Errorf("%s is never reached", s)
		}
		for to := Pending; to <= OutOfMemory; to++ {
			if s.Ended() && to != s && to != Pending && s.CanBecome(to) {
				t.Errorf("%s may become %s: how an attempt ended would change", s, to)
			}
		}
		if s != Pending && !s.Ended() && s.CanBecome(Pending) {
			t.Errorf("%s may go back to the queue without an end", s)
		}
	}
	if State(0).CanBecome(Running) || Running.CanBecome(State(99)) {
		t.Error("a state that is none takes part")
	}
}

func TestCheckTransition(t *testing.T) {
	held := &Allocation{Nodes: []Share{{Node: 1}}}
	free := &Allocation{Nodes: []Share{{Node: 1, Released: true}}}
	for name, c := range map[string]struct {
		old, next *Job
		legal     bool
	}{
		"new, waiting":                 {nil, &Job{State: Pending}, true},
		"new, running":                 {nil, &Job{State: Running, Alloc: held}, false},
		"new task, running":            {nil, &Job{ID: 2, Array: Array{JobID: 1}, State: Running, Alloc: held}, true},
		"new task, completed":          {nil, &Job{ID: 2, Array: Array{JobID: 1}, State: Completed}, false},
		"start":                        {&Job{State: Pending}, &Job{State: Running, Alloc: held}, true},
		"start on nothing":             {&Job{State: Pending}, &Job{State: Running}, false},
		"end, then requeue":            {&Job{State: Failed, Alloc: free}, &Job{State: Pending, Attempt: 1}, true},
		"requeue, same attempt":        {&Job{State: Failed}, &Job{State: Pending}, false},
		"requeue, holds nodes":         {&Job{State: Failed, Alloc: held}, &Job{State: Pending, Attempt: 1, Alloc: held}, false},
		"attempt changes in the run":   {&Job{State: Running, Alloc: held}, &Job{State: Running, Attempt: 1, Alloc: held}, false},
		"completing again":             {&Job{State: Failed}, &Job{State: Failed, Flags: Completing}, false},
		"requeue of a completing one":  {&Job{State: Failed, Flags: Completing}, &Job{State: Failed, Flags: Completing | Requeued}, true},
		"waits after it ran, no end":   {&Job{State: Running, Alloc: held}, &Job{State: Pending, Attempt: 1}, false},
		"ends otherwise than it ended": {&Job{State: Failed}, &Job{State: Completed}, false},
	} {
		if err := CheckTransition(c.old, c.next); (err == nil) != c.legal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No walk through legal transitions leaves an end but by a new attempt.
func TestRandomWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &Job{State: Pending}
		ends := uint32(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			next := *j
			next.State = State(rapid.IntRange(1, int(OutOfMemory)).Draw(t, "state"))
			next.Attempt += uint32(rapid.IntRange(0, 1).Draw(t, "attempt"))
			next.Alloc = nil
			if next.State.Active() {
				next.Alloc = &Allocation{Nodes: []Share{{Node: 1}}}
			}
			if CheckTransition(j, &next) != nil {
				continue
			}
			if next.State.Ended() && !j.State.Ended() {
				ends++
			}
			j = &next
			if over := j.Attempt; ends != over && !(j.State.Ended() && ends == over+1) {
				t.Fatalf("%d ends after %d attempts in state %s", ends, j.Attempt, j.State)
			}
		}
	})
}
