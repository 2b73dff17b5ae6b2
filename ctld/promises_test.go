package ctld

import (
	"context"
	"fmt"
	"testing"
	"time"

	"muster/api"
	"muster/api/identity"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
	"muster/test/machine"
)

func promiseOf(id job.ID, start job.Time) sched.Promise {
	return sched.Promise{Job: id, Task: job.NoTask, Start: start, Partition: "main", Shape: 9,
		Nodes: []sched.PromisedNode{{Node: 1, Take: partition.Take{Tasks: 1, CPUs: 2, Room: partition.Room{Cores: 1, MemoryMB: 5}}}}}
}

func TestPromisesAreCommittedAtARateNotMoreOften(t *testing.T) {
	m := state.New()
	id := machine.Waiting(t, m, 1)[0]
	p := &promiser{}
	now := time.UnixMilli(1_800_000_000_000)
	list, wait := p.commands(&sched.Plan{Promises: []sched.Promise{promiseOf(id, 10)}}, m.Root(), now)
	if len(list) != 1 || wait != 0 {
		t.Fatalf("the first at once: %v, wait %s", list, wait)
	}
	machine.Apply(t, m, list...)
	next := &sched.Plan{Promises: []sched.Promise{promiseOf(id, 9)}}
	if list, wait = p.commands(next, m.Root(), now.Add(promisesEvery/2)); len(list) != 0 || wait != promisesEvery/2 {
		t.Errorf("too early: %v, wait %s", list, wait)
	}
	if list, wait = p.commands(next, m.Root(), now.Add(promisesEvery)); len(list) != 1 || wait != 0 {
		t.Errorf("in time: %v, wait %s", list, wait)
	}
}

// exclusive submits a job that wants a node for itself.
func (cs *controllers) exclusive(n byte, through string) job.ID {
	cs.t.Helper()
	r, body := submission(n)
	body.Jobs[0].Request.Place.Sharing = job.Exclusive
	body.Jobs[0].Request.Timing.Limit = 60
	chunks, end := call(cs.t, cs.client(identity.Login, "login", through), alice, r, body)
	if end.Err != nil {
		cs.t.Fatalf("submit: %+v", end.Err)
	}
	var reply api.SubmitReply
	if err := wire.Decode(chunks[0], &reply); err != nil {
		cs.t.Fatal(err)
	}
	return reply.Jobs[0]
}

// The promises that are in force when the leader changes are those that the next
// one shows and keeps, also where it would have planned otherwise.
func TestAChangeOfLeaderKeepsPlannedStarts(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	nodes := []*node{cs.join("n1", followers[0].cfg.Name), cs.join("n2", followers[0].cfg.Name)}
	for i := range byte(2) {
		id := cs.exclusive(i, leader.cfg.Name)
		cs.wait("a node is busy", func() bool { return nodes[0].find(launched(id)) || nodes[1].find(launched(id)) })
	}
	a, b := cs.exclusive(2, leader.cfg.Name), cs.exclusive(3, leader.cfg.Name)
	cs.wait("both waiting jobs have a promise", func() bool { return len(leader.Root().Promises()) == 2 })
	// The other way round than any planner would do it by itself.
	pa, pb := *leader.Root().PromiseOf(a), *leader.Root().PromiseOf(b)
	pa.Nodes, pb.Nodes = pb.Nodes, pa.Nodes
	pa.Start, pb.Start = max(pa.Start, pb.Start), max(pa.Start, pb.Start)
	swap := state.Seal(&state.Promise{Set: []state.Planned{pa, pb}}, leader.daemon(), state.RequestID{})
	if _, _, err := leader.Propose(context.Background(), swap); err != nil {
		t.Fatal(err)
	}
	show := func(r *running) string {
		va, _ := r.Verdict(a)
		vb, _ := r.Verdict(b)
		return fmt.Sprint(va.Planned, va.Nodes, vb.Planned, vb.Nodes)
	}
	cs.wait("the swapped promises are shown", func() bool {
		v, _ := leader.Verdict(a)
		return len(v.Nodes) == 1 && v.Nodes[0] == pa.Nodes[0].Node
	})
	var before string
	cs.wait("promised is what is shown", func() bool {
		before = show(leader)
		r := leader.Root()
		return before == fmt.Sprint(r.PromiseOf(a).Start, []job.NodeID{r.PromiseOf(a).Nodes[0].Node}, r.PromiseOf(b).Start, []job.NodeID{r.PromiseOf(b).Nodes[0].Node})
	})
	cs.stop(leader.cfg.Name)
	leader, _ = cs.leader()
	cs.wait("the next leader has planned", func() bool { _, ok := leader.Verdict(b); return ok && leader.Counters().Cycles > 0 })
	if after := show(leader); after != before {
		t.Errorf("planned starts were %s, are %s under the next leader", before, after)
	}
	for _, id := range []job.ID{a, b} {
		if d := leader.Root().Job(id).Delays; len(d) > 0 {
			t.Errorf("job %d was delayed: %+v", id, d)
		}
	}
}
