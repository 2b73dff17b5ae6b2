package ctld

import (
	"slices"
	"testing"

	"muster/api"
	"muster/api/identity"
	"muster/internal/wire"
	"muster/state"
)

// The key of a compute node: what its root can say of callers, through the leader
// and through a follower, whose word the leader believes.
func TestAStolenNodeKeyMakesNobodyElse(t *testing.T) {
	cs := newControllers(t, 3)
	cs.configure("[policy]\nadministrators = [\"alice\"]\n")
	cs.start(cs.names...)
	leader, followers := cs.leader()
	n1 := cs.join("n1", leader.cfg.Name)
	id, _ := cs.submit(1, leader.cfg.Name)
	cs.wait("the job is launched on n1", func() bool { return n1.find(launched(id)) })
	like := func(edit func(*api.Caller)) api.Caller { c := alice; edit(&c); return c }
	named := like(func(c *api.Caller) { c.User = "root" })
	bob := api.Caller{UID: 1002, GID: 1002, User: "bob", Group: "bob"}
	root := api.Caller{User: "root", Group: "root"}
	hold, job2 := submission(90)
	job2.Jobs[0].Hold = true
	chunks, end := call(t, cs.client(identity.Login, "login", leader.cfg.Name), bob, hold, job2)
	if end.Err != nil {
		t.Fatalf("bob's job: %+v", end.Err)
	}
	var reply api.SubmitReply
	if err := wire.Decode(chunks[0], &reply); err != nil {
		t.Fatal(err)
	}
	other := api.JobRef{ID: reply.Jobs[0]}
	part := &api.UpdateRequest{Action: "update", Pairs: []api.Pair{{Name: "PartitionName", Value: leader.Root().Job(other.ID).Request.Partitions[0]}, {Name: "State", Value: "UP"}}}
	n := byte(0)
	for _, through := range []string{leader.cfg.Name, followers[0].cfg.Name} {
		for _, c := range []struct {
			name string
			role identity.Role
			host string
			who  api.Caller
			call string
			body wire.Message
			ok   bool
		}{
			{"alice's job submits", identity.Compute, "n1", alice, api.MethodSubmit, nil, true},
			{"a name that manages accounts", identity.Compute, "n1", named, api.MethodSubmit, nil, false},
			{"the same from a login host", identity.Login, "login", named, api.MethodSubmit, nil, false},
			{"another's name", identity.Compute, "n1", like(func(c *api.Caller) { c.User = "bob" }), api.MethodSubmit, nil, false},
			{"root's group", identity.Compute, "n1", like(func(c *api.Caller) { c.GID = 0 }), api.MethodSubmit, nil, false},
			{"script of one's own job here", identity.Compute, "n1", alice, api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: id}}, true},
			{"the same from elsewhere", identity.Compute, "n2", alice, api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: id}}, false},
			{"the same by root of the node", identity.Compute, "n1", root, api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: id}}, false},
			{"accounts, by a user with a job here", identity.Compute, "n1", alice, api.MethodBookChange, nil, false},
			{"the configuration, in the same way", identity.Compute, "n1", alice, api.MethodConfigure, nil, false},
			{"the controllers", identity.Compute, "n1", alice, api.MethodControllers, nil, false},
			{"another's script, by an administrator from a login host", identity.Login, "login", alice, api.MethodScript, &api.ScriptRequest{Job: other}, true},
			{"the same from a compute node with a job of the administrator", identity.Compute, "n1", alice, api.MethodScript, &api.ScriptRequest{Job: other}, false},
			{"a partition, by an administrator from a login host", identity.Login, "login", alice, api.MethodUpdatePart, part, true},
			{"the same from a compute node", identity.Compute, "n1", alice, api.MethodUpdatePart, part, false},
			{"crontab of a user without a job", identity.Compute, "n1", bob, api.MethodCrontab, nil, false},
		} {
			n++
			r, body := submission(100 + n)
			r.Method = c.call
			var m wire.Message = body
			if c.call != api.MethodSubmit {
				m = c.body
			}
			_, end := call(t, cs.client(c.role, c.host, through), c.who, r, m)
			if c.ok && end.Err != nil || !c.ok && (end.Err == nil || end.Err.Kind != api.ErrDenied) {
				t.Errorf("%s through %s: answered %+v, want it allowed: %t", c.name, through, end.Err, c.ok)
			}
		}
	}
}

// A job that a compute node submits for a user has no group that the user's job
// there lacks, and the host in the certificate, through a follower too.
func TestGroupsAndHostOfANodeAreNotBelieved(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	n1 := cs.join("n1", leader.cfg.Name)
	id, _ := cs.submit(1, leader.cfg.Name)
	cs.wait("the job is launched on n1", func() bool { return n1.find(launched(id)) })
	forged := alice
	forged.Groups, forged.GroupNames, forged.Host = []uint32{0, 1001}, []string{"wheel"}, "c1"
	for i, through := range []string{leader.cfg.Name, followers[0].cfg.Name} {
		r, body := submission(byte(50 + i))
		chunks, end := call(t, cs.client(identity.Compute, "n1", through), forged, r, body)
		if end.Err != nil {
			t.Fatalf("submit through %s: %+v", through, end.Err)
		}
		var reply api.SubmitReply
		if err := wire.Decode(chunks[0], &reply); err != nil {
			t.Fatal(err)
		}
		j := leader.Root().Job(reply.Jobs[0])
		if j == nil || !slices.Equal(j.Owner.Groups, []uint32{1001}) || len(j.Owner.GroupNames) != 0 {
			t.Errorf("through %s the job has the owner %+v, want group 1001 only", through, j.Owner)
		}
	}
}

// What a follower passes on is the caller that it believes, not the one it was told.
func TestAFollowerPassesOnWhomItBelieves(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	client := cs.client(identity.Compute, "n1", followers[0].cfg.Name)
	var root api.Caller
	root.User = "root"
	// A method that only the leader answers counts who called.
	if _, end := call(t, client, root, api.Call{Method: api.MethodStats, Read: api.ReadLinearizable}, nil); end.Err != nil {
		t.Fatalf("%s: %+v", api.MethodStats, end.Err)
	}
	users := leader.stats.counters().Users
	if users[0].Count != 0 || users[nobody].Count == 0 {
		t.Errorf("the leader saw the callers %v, want nobody (%d) and not root", users, nobody)
	}
}

func TestVouchFor(t *testing.T) {
	k := &knownUser{jobs: 1, names: map[string]bool{"alice": true}, groups: map[uint32]bool{5: true, 7: true}, named: map[string]bool{"phys": true}}
	who := api.Caller{UID: 1, GID: 7, User: "alice", Groups: []uint32{5, 6, 7}, GroupNames: []string{"wheel"}}
	given := who.Groups
	if err := k.vouchFor(&who, "n1"); err != nil || !slices.Equal(who.Groups, []uint32{5, 7}) || !slices.Equal(who.GroupNames, []string{"phys"}) {
		t.Errorf("%+v, %v", who, err)
	}
	if !slices.Equal(given, []uint32{5, 6, 7}) {
		t.Error("the caller's own list was changed")
	}
	if k := knownOn(state.New().Root(), "n1", 1); k.jobs != 0 {
		t.Errorf("%+v on a node that is not there", k)
	}
}
