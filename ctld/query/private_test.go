package query

import (
	"slices"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// TestPrivateData: what each word keeps from a user, and that root and operators see it.
func TestPrivateData(t *testing.T) {
	c := sharedCore(t)
	id := c.submit(t, nil) // uid 1001's
	c.do(t, &state.Accounting{Seen: c.m.Root().Book().Serial, Changes: []accounting.Change{{User: &accounting.User{Name: "carol", Admin: accounting.Operator}}}})
	for name, res := range map[string]partition.Reservation{
		"all": {}, "alices": {Users: []string{"alice"}}, "bobs": {Users: []string{"bob"}}, "phys": {Accounts: []string{"phys"}}, "notphys": {Accounts: []string{"-phys"}},
	} {
		res.Name, res.Start, res.End, res.Nodes = name, c.now+job.Time(3_600_000), c.now+job.Time(7_200_000), []job.NodeID{1}
		c.do(t, &state.Reservation{Create: true, Value: res})
	}
	as := func(user string, uid uint32, method string, q, reply wire.Message) string {
		for _, m := range Methods() {
			if m.Name == method {
				r := &service.Request{Call: api.Call{Method: method, Body: wire.Encode(nil, q)}, Caller: api.Caller{UID: uid, User: user}}
				r.Send = func(b []byte) error { return wire.Decode(b, reply) }
				if err := m.Handle(t.Context(), c, r); err != nil {
					return err.Error()
				}
			}
		}
		return ""
	}
	for _, private := range []bool{false, true} {
		cluster := *c.m.Root().Cluster()
		if private {
			cluster.Policy.PrivateData = []string{"jobs", "nodes", "partitions", "reservations"}
		}
		c.do(t, &state.Configure{Cluster: cluster})
		for _, who := range []struct {
			user string
			uid  uint32
		}{{"root", 0}, {"alice", 1000}, {"carol", 1003}} {
			hidden := private && who.user == "alice"
			refusal := map[bool]string{true: "Access/permission denied"}[hidden]
			var nodes api.NodeList
			if got := as(who.user, who.uid, api.MethodNodes, &api.NodeQuery{}, &nodes); got != refusal {
				t.Errorf("nodes, private %v, %s: %q", private, who.user, got)
			}
			var parts api.PartitionList
			if got := as(who.user, who.uid, api.MethodPartitions, &api.PartitionQuery{}, &parts); got != refusal {
				t.Errorf("partitions, private %v, %s: %q", private, who.user, got)
			}
			var jobs api.JobList
			as(who.user, who.uid, api.MethodJobs, &api.JobQuery{AnyState: true}, &jobs)
			if seen := slices.ContainsFunc(jobs.Jobs, func(j api.JobRecord) bool { return j.ID == id }); seen == hidden {
				t.Errorf("job of another, private %v, %s: seen %v", private, who.user, seen)
			}
			var list api.ReservationList
			as(who.user, who.uid, api.MethodReservations, &api.NameQuery{}, &list)
			var names []string
			for _, r := range list.Reservations {
				names = append(names, r.Name)
			}
			slices.Sort(names)
			want := []string{"alices", "all", "bobs", "notphys", "phys"}
			if hidden {
				want = []string{"alices", "phys"}
			}
			if !slices.Equal(names, want) {
				t.Errorf("reservations, private %v, %s: %q", private, who.user, names)
			}
		}
	}
}
