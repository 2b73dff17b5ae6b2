package query

import (
	"testing"

	"muster/api"
	"muster/job"
)

// What a node was for counts in the answer, as what became of the cluster's time; a
// period that ends before it begins, or is too long, is refused.
func TestUse(t *testing.T) {
	c := newCore(t)
	from := c.now - c.now%3_600_000
	var reply api.UseReply
	if err := c.call(t, 0, api.MethodUse, &api.UseQuery{From: from + 1, To: c.now + 1}, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.From != from || reply.To != from+3_600_000 || reply.Cluster == "" {
		t.Errorf("got %d to %d of cluster %q, want one whole hour from %d", reply.From, reply.To, reply.Cluster, from)
	}
	for _, q := range []api.UseQuery{{From: 5000, To: 5000}, {From: -1, To: 5}, {From: 1, To: job.Time(1) << 50}} {
		if err := c.call(t, 0, api.MethodUse, &q, &reply); err == nil {
			t.Errorf("%+v was taken", q)
		}
	}
}
