package query

import (
	"strings"
	"testing"

	"muster/accounting"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// ran lets a job of an account's user run for some seconds, by 2 CPUs.
func (c *core) ran(t *testing.T, user string, seconds int64) {
	t.Helper()
	id := c.do(t, &state.Submit{Jobs: []state.NewJob{{Owner: job.Owner{UID: 1001, User: user}, Account: "phys", QOS: "normal", Request: job.Request{Partitions: []string{"debug"}}}}}).Jobs[0]
	n := c.m.Root().NodeNamed("n1")
	c.do(t, &state.Start{Job: id, Task: job.NoTask, Limit: 60, Alloc: job.Allocation{Partition: "debug", CPUs: 2, MemoryMB: 120, Billing: 2, BatchNode: n.ID,
		Nodes: []job.Share{{Node: n.ID, Name: n.Name, CPUs: 2, MemoryMB: 120, Cores: bitset.Range(0, 2)}}}})
	c.now += job.Time(seconds * 1000)
	c.do(t, &state.Report{Job: id, Node: "n1", Ended: true, Released: true, At: c.now})
}

// What alice used, by the columns of sshare.
func TestSharesOfUse(t *testing.T) {
	c := sharedCore(t)
	c.ran(t, "alice", 300)
	c.ran(t, "bob", 100)
	j := c.m.Root()
	raw := func(user string) uint64 { return j.Usage("phys", user, "", "").Raw.Whole() }
	if raw("alice") != 600 || raw("bob") != 200 {
		t.Fatalf("alice used %d, bob %d", raw("alice"), raw("bob"))
	}
	want := "root/800/0.000000/1.000000/ root/0/0.000000/0.000000/1.000000/inf bio/0/0.000000/0.000000/inf phys/800/1.000000/1.000000/0.500000 " +
		"phys/600/0.750000/0.750000/0.666667/1.000000 phys/200/0.250000/0.250000/0.666667/1.000000"
	got := c.table(t, "alice", "share", "account", "rawusage", "normusage", "effectvusage", "fairshare", "levelfs")
	if strings.ReplaceAll(got, "//", "/") != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	minutes := c.table(t, "alice", "share", "grptresraw")
	if first, _, _ := strings.Cut(minutes, " "); !strings.HasPrefix(first, "cpu=13,mem=800,energy=0,node=6,billing=13,") {
		t.Errorf("resource-minutes of root: %s", first)
	}
	cluster := *j.Cluster()
	cluster.Policy.Priority.Classic = true
	c.do(t, &state.Configure{Cluster: cluster})
	if got := c.table(t, "alice", "share", "user", "fairshare", "levelfs"); got != "// root/1.000000/ // // alice/0.176777/ bob/0.088388/" {
		t.Errorf("classic: %s", got)
	}
	var none accounting.Share
	if fraction(&none) != "0.000000" {
		t.Error("a share of nothing")
	}
}
