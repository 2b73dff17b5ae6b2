package state

import (
	"fmt"
	"slices"
	"testing"

	"muster/internal/bitset"
	"muster/job"

	"pgregory.net/rapid"
)

// het submits a heterogeneous job of n components.
func (w *world) het(n int) []job.ID {
	w.t.Helper()
	jobs := make([]NewJob, n)
	for i := range jobs {
		jobs[i] = newJob()
	}
	return w.must(&Submit{Jobs: jobs}).Jobs
}

// hetCmd starts components on cores 0, 1, … of one node.
func (w *world) hetCmd(node string, ids ...job.ID) *StartHet {
	c := &StartHet{}
	for i, id := range ids {
		c.Components = append(c.Components, *w.startCmd(id, job.NoTask, i, node))
	}
	return c
}

func TestComponentsStartTogether(t *testing.T) {
	w := newWorld(t)
	ids := w.het(3)
	if res := w.must(w.hetCmd("n1", ids...)); !slices.Equal(res.Jobs, ids) {
		t.Errorf("started %v, want %v", res.Jobs, ids)
	}
	for _, id := range ids {
		w.is(id, job.Running, job.ReasonNone)
	}
	r := w.m.Root()
	if u := r.NodeUse(r.NodeNamed("n1").ID); u.Jobs != 3 || u.CPUs != 3 || u.MemoryMB != 300 {
		t.Errorf("use of n1: %+v", u)
	}
}

// What each component could have alone, both cannot have: none starts, and
// nothing stays counted.
func TestComponentsAreCheckedTogether(t *testing.T) {
	for name, f := range map[string]func(w *world, c *StartHet){
		"one core": func(_ *world, c *StartHet) { c.Components[1].Alloc.Nodes[0].Cores = bitset.Of(0) },
		"CPUs": func(_ *world, c *StartHet) {
			c.Components[0].Alloc.Nodes[0].CPUs, c.Components[1].Alloc.Nodes[0].CPUs = 2, 3
		},
		"memory": func(_ *world, c *StartHet) {
			c.Components[0].Alloc.Nodes[0].MemoryMB, c.Components[1].Alloc.Nodes[0].MemoryMB = 4000, 4001
		},
		"whole node": func(_ *world, c *StartHet) { c.Components[1].Alloc.Nodes[0].Whole = true },
		"licences": func(_ *world, c *StartHet) {
			for i := range c.Components {
				c.Components[i].Alloc.Licenses = []job.License{{Name: "lic", Count: 2}}
			}
		},
		"device": func(_ *world, c *StartHet) {
			for i := range c.Components {
				c.Components[i].Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 1, Index: bitset.Of(1)}}
			}
		},
		"named twice": func(_ *world, c *StartHet) { c.Components[1].Job = c.Components[0].Job },
		"one missing": func(_ *world, c *StartHet) { c.Components = c.Components[:1] },
		"none":        func(_ *world, c *StartHet) { c.Components = nil },
		"another job added": func(w *world, c *StartHet) {
			c.Components = append(c.Components, *w.startCmd(w.submit(nil), job.NoTask, 3, "n2"))
		},
		"second held": func(w *world, c *StartHet) {
			held := job.HeldByUser
			w.must(&Update{Target: Target{Job: c.Components[1].Job}, Held: &held})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ids := w.het(2)
			c := w.hetCmd("n1", ids...)
			f(w, c)
			w.refuse(NoLongerFits, c)
			r := w.m.Root()
			if u := r.NodeUse(r.NodeNamed("n1").ID); u != nil || r.LicenseUse("lic") != 0 {
				t.Errorf("after the refusal n1 holds %+v, %d licences are in use", u, r.LicenseUse("lic"))
			}
			for _, id := range ids {
				if s := w.job(id).State; s != job.Pending {
					t.Errorf("component %d is %s", id, s)
				}
			}
			checkRoot(t, r)
		})
	}
	w := newWorld(t)
	ids := w.het(2)
	w.refuse(NoLongerFits, w.startCmd(ids[0], job.NoTask, 0, "n1"))
	w.refuse(NoSuchJob, w.hetCmd("n1", ids[0], 999))
	w.refuse(NoLongerFits, w.hetCmd("n1", w.submit(nil), w.submit(nil)))
}

// Whatever is asked for, all components run afterwards or none does.
func TestAllComponentsStartOrNone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		ids := w.het(rapid.IntRange(2, 4).Draw(rt, "components"))
		c := &StartHet{}
		for _, id := range ids {
			node := rapid.SampledFrom([]string{"n1", "n2"}).Draw(rt, "node")
			s := w.startCmd(id, job.NoTask, rapid.IntRange(0, 4).Draw(rt, "core"), node)
			s.Alloc.Nodes[0].MemoryMB = uint64(1000 * rapid.IntRange(0, 5).Draw(rt, "GB"))
			s.Alloc.Licenses = []job.License{{Name: "lic", Count: uint32(rapid.IntRange(1, 2).Draw(rt, "licences"))}}
			c.Components = append(c.Components, *s)
		}
		before := w.m.Root().LicenseUse("lic")
		res, want := w.do(c), job.Pending
		if res.Code == OK {
			want = job.Running
		} else if got := w.m.Root().LicenseUse("lic"); got != before {
			rt.Fatalf("refused, but %d licences are in use, want %d", got, before)
		}
		for _, id := range ids {
			if got := w.job(id).State; got != want {
				rt.Fatalf("answered %d %q, but component %d is %s", res.Code, res.Text, id, got)
			}
		}
		checkRoot(rt, w.m.Root())
	})
}

// TestComponentsEndWithTheFirst: only the first component has a script; when that
// ends, so do the others, with its exit code.
func TestComponentsEndWithTheFirst(t *testing.T) {
	w := newWorld(t)
	ids := w.het(2)
	w.must(w.hetCmd("n1", ids...))
	w.exit(ids[0], 3)
	for _, id := range ids {
		j := w.job(id)
		if j.State != job.Failed || j.End.ExitCode != 3 || j.Times.End == 0 {
			t.Errorf("component %d is %s with %+v, want FAILED with exit code 3", j.Het.Offset, j.State, j.End)
		}
	}
}

// A heterogeneous job goes back to the queue as a whole, whichever of its
// components does so by itself, and starts again with all that were not cancelled.
func TestComponentsAreRequeuedTogether(t *testing.T) {
	for _, lost := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("the node of component ", lost), func(t *testing.T) {
			w := newWorld(t)
			ids := w.het(3)
			c := &StartHet{}
			nodes := []string{"n1", "n2", "n3"}
			for i, id := range ids {
				c.Components = append(c.Components, *w.startCmd(id, job.NoTask, 0, nodes[i]))
			}
			w.must(c)
			w.must(&NodeSilent{Nodes: []job.NodeID{w.m.Root().NodeNamed(nodes[lost]).ID}, Down: true, Reason: "Not responding"})
			for i, id := range ids {
				if i == lost {
					continue
				}
				if j := w.job(id); j.State.Active() && (j.Cancel == nil || j.Cancel.Flags&job.Requeued == 0) {
					t.Errorf("component %d runs on: %+v", i, j)
				}
				w.must(&Report{Job: id, Attempt: w.job(id).Attempt, Node: nodes[i], Ended: true, Released: true})
			}
			for i, id := range ids {
				if j := w.job(id); j.State != job.Pending || j.Attempt != 1 {
					t.Errorf("component %d is %s at attempt %d, want PENDING at 1", i, j.State, j.Attempt)
				}
			}
			checkRoot(t, w.m.Root())
		})
	}
}

func TestAComponentIsNotRequeuedAlone(t *testing.T) {
	w := newWorld(t)
	ids := w.het(2)
	w.must(w.hetCmd("n1", ids...))
	w.refuse(WrongState, &Requeue{Targets: []Target{{Job: ids[1]}}})
	w.is(ids[1], job.Running, job.ReasonNone)
	w.must(&Requeue{Targets: []Target{{Job: ids[0]}}})
	for _, id := range ids {
		if j := w.job(id); j.Cancel == nil || j.Cancel.Flags&job.Requeued == 0 {
			t.Errorf("component %d is not requeued with the first: %+v", id, j)
		}
	}
}

// A heterogeneous job that makes room does so with all its components, which one
// command to its first names.
func TestComponentsMakeRoomTogether(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags job.Flag
		want  job.State
	}{{"requeued", job.Requeued, job.Pending}, {"ended", 0, job.Preempted}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			ids := w.het(2)
			start := &StartHet{}
			nodes := []string{"n1", "n2"}
			for i, id := range ids {
				start.Components = append(start.Components, *w.startCmd(id, job.NoTask, 0, nodes[i]))
			}
			w.must(start)
			attempt := uint32(0)
			w.must(&End{Targets: []Target{{Job: ids[0]}}, To: job.Preempted, Flags: c.flags, Attempt: &attempt, Grace: 30})
			for i, id := range ids {
				if k := w.job(id).Cancel; k == nil || k.To != job.Preempted || k.Grace != 30 {
					t.Fatalf("component %d is not told: %+v", i, k)
				}
			}
			for i := len(ids) - 1; i >= 0; i-- {
				w.must(&Report{Job: ids[i], Attempt: 0, Node: nodes[i], Ended: true, Released: true})
			}
			for i, id := range ids {
				if j := w.job(id); j.State != c.want {
					t.Errorf("component %d is %s, want %s", i, j.State, c.want)
				}
			}
			checkRoot(t, w.m.Root())
		})
	}
}
