package ctld

import (
	"testing"

	"muster/api"
	"muster/api/identity"
)

// An administrator changes the configuration from a login host; from a compute node
// nobody does, whoever its root says that it is.
func TestNoComputeNodeConfigures(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start(cs.names...)
	leader, _ := cs.leader()
	n1 := cs.join("n1", leader.cfg.Name)
	id, _ := cs.submit(1, leader.cfg.Name) // alice may write from n1: she has a job there
	cs.wait("the job is launched on n1", func() bool { return n1.find(launched(id)) })
	grant := &api.BookChange{Verb: "add", Entity: "user", Names: []string{"alice"}, Commit: true,
		Set: []api.Pair{{Name: "account", Value: "root"}, {Name: "adminlevel", Value: "Administrator"}}}
	root := api.Caller{User: "root", Group: "root"}
	r := api.Call{Method: api.MethodBookChange, RequestID: [16]byte{1}, FirstTry: int64(leader.store.Now())}
	if _, end := call(t, cs.client(identity.Controller, "c1", "c1"), root, r, grant); end.Err != nil {
		t.Fatalf("alice does not become an administrator: %+v", end.Err)
	}
	look := &api.ConfigureRequest{Name: "f", Source: leader.store.Root().Cluster().Source}
	for i, c := range []struct {
		role identity.Role
		host string
		who  api.Caller
		ok   bool
	}{
		{identity.Login, "login", alice, true},
		{identity.Login, "login", root, false},
		{identity.Compute, "n1", alice, false},
		{identity.Compute, "n1", root, false},
	} {
		r := api.Call{Method: api.MethodConfigure, RequestID: [16]byte{2, byte(i)}, FirstTry: int64(leader.store.Now())}
		_, end := call(t, cs.client(c.role, c.host, "c1"), c.who, r, look)
		if c.ok && end.Err != nil || !c.ok && (end.Err == nil || end.Err.Kind != api.ErrDenied) {
			t.Errorf("%s on %s: answered %+v, want it allowed: %t", c.who.User, c.host, end.Err, c.ok)
		}
	}
}
