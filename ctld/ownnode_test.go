package ctld

import (
	"fmt"
	"testing"

	"muster/api"
	"muster/api/identity"
	"muster/internal/wire"
)

// Root of a compute node, by that node's certificate, looks after its own node
// and the jobs on it, through the leader and through a follower, and changes
// nothing else.
func TestRootOfANodeChangesOnlyWhatIsItsOwn(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	n1 := cs.join("n1", leader.cfg.Name)
	here, _ := cs.submit(1, leader.cfg.Name)
	cs.wait("the job is launched on n1", func() bool { return n1.find(launched(here)) })
	root := api.Caller{User: "root", Group: "root"}
	node, jobs := api.MethodUpdateNode, api.MethodUpdateJob
	ours, theirs := api.Pair{Name: "NodeName", Value: "n1"}, api.Pair{Name: "NodeName", Value: "n2"}
	this := api.Pair{Name: "JobId", Value: fmt.Sprint(here)}
	comment := api.Pair{Name: "Comment", Value: "x"}
	pairs := func(list ...api.Pair) *api.UpdateRequest { return &api.UpdateRequest{Pairs: list} }
	for i, c := range []struct {
		name   string
		method string
		body   wire.Message
		ok     bool
	}{
		{"comment of the node", node, pairs(ours, comment), true},
		{"comment of the job", jobs, pairs(this, comment), true},
		{"admin comment of the job", jobs, pairs(this, api.Pair{Name: "AdminComment", Value: "x"}), true},
		{"drain", node, pairs(ours, api.Pair{Name: "State", Value: "drain"}, api.Pair{Name: "Reason", Value: "disk"}), true},
		{"resume", node, pairs(ours, api.Pair{Name: "State", Value: "RESUME"}), true},
		{"down", node, pairs(ours, api.Pair{Name: "State", Value: "DOWN"}, api.Pair{Name: "Reason", Value: "x"}), false},
		{"weight", node, pairs(ours, api.Pair{Name: "Weight", Value: "3"}), false},
		{"another node", node, pairs(theirs, comment), false},
		{"another node, too", node, pairs(ours, theirs, comment), false},
		{"a list of nodes", node, pairs(api.Pair{Name: "NodeName", Value: "n[1-2]"}, comment), false},
		{"all nodes", node, pairs(api.Pair{Name: "NodeName", Value: "ALL"}, comment), false},
		{"no node", node, pairs(comment), false},
		{"time limit of the job", jobs, pairs(this, api.Pair{Name: "TimeLimit", Value: "5"}), false},
		{"comment and priority", jobs, pairs(this, comment, api.Pair{Name: "Priority", Value: "5"}), false},
		{"a job that is nowhere", jobs, pairs(api.Pair{Name: "JobId", Value: "999"}, comment), false},
		{"this job and another", jobs, pairs(api.Pair{Name: "JobId", Value: this.Value + ",999"}, comment), false},
		{"jobs of a name", jobs, pairs(api.Pair{Name: "JobName", Value: "j"}, comment), false},
		{"partition", api.MethodUpdatePart, pairs(api.Pair{Name: "PartitionName", Value: "debug"}, api.Pair{Name: "State", Value: "DOWN"}), false},
		{"cancel", api.MethodCancel, &api.CancelRequest{}, false},
		{"hold", api.MethodControlJob, &api.ControlRequest{}, false},
	} {
		through := []string{leader.cfg.Name, followers[0].cfg.Name}[i%2]
		r := api.Call{Method: c.method, RequestID: [16]byte{7, byte(i)}, FirstTry: int64(leader.store.Now())}
		_, end := call(t, cs.client(identity.Compute, "n1", through), root, r, c.body)
		if c.ok && end.Err != nil || !c.ok && (end.Err == nil || end.Err.Kind != api.ErrDenied) {
			t.Errorf("%s: answered %+v, want it allowed: %t", c.name, end.Err, c.ok)
		}
	}
	r := api.Call{Method: jobs, RequestID: [16]byte{8}, FirstTry: int64(leader.store.Now())}
	if _, end := call(t, cs.client(identity.Compute, "n2", leader.cfg.Name), root, r, pairs(this, comment)); end.Err == nil || end.Err.Kind != api.ErrDenied {
		t.Errorf("root of n2 comments on a job of n1: answered %+v, want it denied", end.Err)
	}
}
