package ctld

import (
	"slices"
	"testing"

	"muster/api"
	"muster/api/identity"
	"muster/internal/wire"
)

var other = api.Caller{UID: 1002, GID: 1002, User: "bob", Group: "bob"}

// Whoever asks, at whichever controller, sees at once what was acknowledged to
// somebody else through another one.
func TestAReadIncludesWhatOthersWereTold(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	cs.leader()
	for n := range byte(12) {
		id, _ := cs.submit(n+1, cs.names[int(n)%len(cs.names)])
		for _, name := range cs.names {
			r := api.Call{Method: api.MethodJobs, Read: api.ReadLinearizable}
			query := &api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: id}}}
			chunks, end := call(t, cs.client(identity.Login, "login", name), other, r, query)
			if end.Err != nil {
				t.Fatalf("job %d, just acknowledged, asked for at %s: %+v", id, name, end.Err)
			}
			var list api.JobList
			for _, c := range chunks {
				if err := wire.Decode(c, &list); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.ContainsFunc(list.Jobs, func(j api.JobRecord) bool { return j.ID == id }) {
				t.Fatalf("%s does not list job %d, which was just acknowledged", name, id)
			}
		}
	}
}

// Without a majority no controller claims to know all that was acknowledged.
func TestNoSuchReadWithoutAMajority(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	cs.stop(leader.cfg.Name)
	cs.stop(followers[0].cfg.Name)
	c := cs.client(identity.Login, "login", followers[1].cfg.Name)
	_, end := call(t, c, other, api.Call{Method: api.MethodJobs, Read: api.ReadLinearizable}, &api.JobQuery{})
	if end.Err == nil || end.Err.Kind != api.ErrUnavailable {
		t.Errorf("got %+v, want that nobody can tell", end.Err)
	}
	_, end = call(t, c, other, api.Call{Method: api.MethodJobs}, &api.JobQuery{})
	if end.Err != nil {
		t.Errorf("a read of what is there locally: %+v", end.Err)
	}
}
