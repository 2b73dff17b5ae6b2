package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/accounting/rollup"
	"muster/api"
	"muster/api/slurm/format"
	"muster/ctld/service"
	"muster/gres"
	"muster/internal/bitset"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
)

// core is a controller with a real state machine and nothing else around it.
// What a handler must not use is left nil.
type core struct {
	service.Core
	m        *state.Machine
	now      job.Time
	index    uint64
	verdicts map[job.ID]sched.Verdict
	blobs    map[job.Hash][]byte
}

func (c *core) Root() *state.Root              { return c.m.Root() }
func (c *core) Now() job.Time                  { return c.now }
func (c *core) Usage(job.ID) (job.Usage, bool) { return job.Usage{}, false }
func (c *core) Live(string) (service.NodeLive, bool) {
	return service.NodeLive{LoadHundredths: 62}, true
}
func (c *core) Ledger() service.Ledger                                 { return c }
func (c *core) Sign([]byte) (signature, certificate []byte, err error) { return nil, nil, nil }
func (c *core) Counters() service.Counters                             { return service.Counters{Submitted: 3} }
func (c *core) Controllers() []service.Controller {
	return []service.Controller{{Name: "c1", Leader: true, Up: true}}
}
func (c *core) Verdict(id job.ID) (v sched.Verdict, ok bool) { v, ok = c.verdicts[id]; return }
func (c *core) Blob(_ context.Context, h job.Hash) ([]byte, error) {
	if b, ok := c.blobs[h]; ok {
		return b, nil
	}
	return nil, errors.New("no such blob")
}

// Jobs is the ledger: the outbox of the root.
func (c *core) Jobs(_ context.Context, from, to job.Time, ids []job.ID, _ []string, f func(*job.Job) bool) error {
	for _, j := range c.m.Root().OutboxJobs(0) {
		if (from == 0 || j.Times.End >= from) && !f(j) {
			return nil
		}
	}
	return nil
}

func (c *core) do(t testing.TB, cmd state.Command) state.Result {
	t.Helper()
	c.now += 1000
	c.index++
	e := &state.Entry{Now: c.now, Commands: []state.Envelope{state.Seal(cmd, state.Actor{}, state.RequestID{})}}
	res, err := c.m.Apply(c.index, e)
	if err != nil {
		t.Fatal(err)
	}
	if res[0].Code != state.OK {
		t.Fatalf("%T: %d %s", cmd, res[0].Code, res[0].Text)
	}
	return res[0]
}

// newCore makes a cluster of four nodes with 8 CPUs and four GPUs each.
func newCore(t testing.TB) *core {
	t.Helper()
	c := &core{m: state.New(), now: 1_700_000_000_000, verdicts: map[job.ID]sched.Verdict{}, blobs: map[job.Hash][]byte{{1}: []byte("#!/bin/sh\ntrue\n")}}
	cluster := partition.Cluster{
		Name: "test", Licenses: []partition.License{{Name: "foo", Total: 4}, {Name: "bar", Total: 2}},
		Policy:     partition.Policy{TrackMemory: true, AllocCores: true, DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 100}},
		Limits:     partition.Limits{MaxArraySize: 1001},
		Timers:     partition.Timers{KillWait: 5},
		Partitions: []partition.Partition{{Name: "debug", NodeList: "n[1-4]", Default: true, MaxTime: 1440, DefaultTime: 10}, {Name: "short", NodeList: "n[1-2]", MaxTime: 5}},
	}
	for i := range 4 {
		cluster.Nodes = append(cluster.Nodes, partition.Node{
			Name: fmt.Sprintf("n%d", i+1), Features: []string{"fast"}, Weight: 1,
			Declared: partition.Shape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 4000},
			Gres:     gres.Inventory{Devices: []gres.Device{{Name: "gpu", Index: 0}, {Name: "gpu", Index: 1}, {Name: "gpu", Index: 2}, {Name: "gpu", Index: 3}}},
		})
	}
	c.do(t, &state.Configure{Cluster: cluster})
	for i := range 4 {
		c.do(t, &state.NodeRegister{Name: fmt.Sprintf("n%d", i+1), BootID: "b", Journal: "j", HostName: "host"})
	}
	return c
}

func (c *core) submit(t *testing.T, change func(*state.NewJob)) job.ID {
	t.Helper()
	n := state.NewJob{
		Owner: job.Owner{UID: 1001, GID: 100, User: "alice", Group: "users"}, Account: "phys", QOS: "normal", Priority: 100,
		Request: job.Request{Name: "job", Partitions: []string{"debug"}, Size: job.Size{Tasks: 2, MinCPUs: 2}, Batch: job.Batch{Script: job.Hash{1}, WorkDir: "/home/alice"}},
	}
	if change != nil {
		change(&n)
	}
	return c.do(t, &state.Submit{Jobs: []state.NewJob{n}}).Jobs[0]
}

func (c *core) start(t *testing.T, id job.ID, task uint32, node string) {
	t.Helper()
	n := c.m.Root().NodeNamed(node)
	use := c.m.Root().NodeUse(n.ID)
	first := 0
	if use != nil {
		first = use.Cores.Len()
	}
	c.do(t, &state.Start{Job: id, Task: task, Limit: 10, Alloc: job.Allocation{
		Partition: "debug", CPUs: 2, MemoryMB: 200, BatchNode: n.ID,
		Nodes: []job.Share{{Node: n.ID, Name: node, CPUs: 2, Tasks: 2, MemoryMB: 200, Cores: bitset.Of(first, first+1)}},
	}})
}

func (c *core) exit(t *testing.T, id job.ID, code uint32) {
	t.Helper()
	j := c.m.Root().Job(id)
	c.do(t, &state.Report{Job: id, Attempt: j.Attempt, Node: j.Alloc.Nodes[0].Name, BootID: "b", Ended: true, Released: true, Result: job.Result{ExitCode: code}, At: c.now})
}

// call runs a method as a user and decodes all chunks into reply.
func (c *core) call(t *testing.T, uid uint32, method string, query, reply wire.Message) error {
	t.Helper()
	for _, m := range Methods() {
		if m.Name != method {
			continue
		}
		sent := 0
		r := &service.Request{Call: api.Call{Method: method, Body: wire.Encode(nil, query)}, Caller: api.Caller{UID: uid}}
		r.Send = func(b []byte) error { sent++; return wire.Decode(b, reply) }
		err := m.Handle(t.Context(), c, r)
		if err == nil && (sent == 0 || r.Index != c.m.Root().Index()) {
			t.Errorf("%s: %d chunks, index %d", method, sent, r.Index)
		}
		return err
	}
	t.Fatalf("no method %s", method)
	return nil
}

func (c *core) jobs(t *testing.T, q api.JobQuery) *api.JobList {
	t.Helper()
	var list api.JobList
	if err := c.call(t, 0, api.MethodJobs, &q, &list); err != nil {
		t.Fatal(err)
	}
	return &list
}

func names(list *api.JobList) string {
	var s []string
	for i := range list.Jobs {
		r := &list.Jobs[i]
		s = append(s, string(format.AppendJobID(nil, r))+":"+job.Word(r.State, r.Flags, true))
	}
	return strings.Join(s, " ")
}

func TestJobFilters(t *testing.T) {
	c := newCore(t)
	a := c.submit(t, nil)
	b := c.submit(t, func(n *state.NewJob) {
		n.Owner, n.Account, n.Request.Name, n.Request.Partitions = job.Owner{UID: 1002, User: "bob"}, "bio", "other", []string{"short", "debug"}
	})
	array := c.submit(t, func(n *state.NewJob) { n.Tasks, n.Limit = bitset.Of(1, 2, 3, 5), 2 })
	c.start(t, a, job.NoTask, "n2")
	c.start(t, array, 1, "n1")
	done := c.submit(t, nil)
	c.start(t, done, job.NoTask, "n3")
	c.exit(t, done, 3)
	live := uint32(1<<job.Pending | 1<<job.Running)
	for _, q := range []struct {
		query api.JobQuery
		want  string
	}{
		{api.JobQuery{States: live}, "1:R 2:PD 3_[2-3,5%2]:PD 3_1:R"},
		{api.JobQuery{AnyState: true}, "1:R 2:PD 3_[2-3,5%2]:PD 3_1:R 5:F"},
		{api.JobQuery{AnyState: true, Users: []string{"bob"}}, "2:PD"},
		{api.JobQuery{AnyState: true, Users: []string{"1002"}, NotUser: true, States: live}, "1:R 3_[2-3,5%2]:PD 3_1:R 5:F"},
		{api.JobQuery{States: 1 << job.Running}, "1:R 3_1:R"},
		{api.JobQuery{AnyState: true, Names: []string{"other"}}, "2:PD"},
		{api.JobQuery{AnyState: true, Accounts: []string{"bio", "none"}}, "2:PD"},
		{api.JobQuery{AnyState: true, Partitions: []string{"short"}}, "2:PD"},
		{api.JobQuery{AnyState: true, Nodes: []string{"n2", "n4"}}, "1:R"},
		{api.JobQuery{AnyState: true, QOS: []string{"high"}}, ""},
		{api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: 3}}}, "3_[2-3,5%2]:PD 3_1:R"},
		{api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: 4}}}, "3_1:R"},
		{api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: 3, Task: 5, HasTask: true}, {ID: 3, Task: 1, HasTask: true}}}, "3_5:PD 3_1:R"},
		{api.JobQuery{States: live, Jobs: []api.JobRef{{ID: done}}}, ""},
		{api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: b}, {ID: 99}, {ID: b}}}, "2:PD"},
	} {
		if got := names(c.jobs(t, q.query)); got != q.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", q.query, got, q.want)
		}
	}
	var e *api.Error
	if err := c.call(t, 0, api.MethodJobs, &api.JobQuery{Jobs: []api.JobRef{{ID: 99}}}, &api.JobList{}); !errors.As(err, &e) || e.Kind != api.ErrNotFound {
		t.Errorf("one unknown job: %v", err)
	}
}

func TestJobRecord(t *testing.T) {
	c := newCore(t)
	id := c.submit(t, func(n *state.NewJob) {
		n.Request.Size.CPUsPerTask, n.Request.Size.MinCPUs = 3, 6
		n.Request.Gres.PerNode = gres.Spec{{Name: "gpu", Type: "a100", Count: 1}}
	})
	c.verdicts[id] = sched.Verdict{Job: id, Planned: c.now + 60_000, Nodes: []job.NodeID{c.m.Root().NodeNamed("n3").ID},
		Reasons: []sched.Why{{Reason: job.ReasonReqNodeNotAvail, Detail: "UnavailableNodes:n4"}}}
	list := c.jobs(t, api.JobQuery{AnyState: true, Fields: api.JobAll})
	r := &list.Jobs[0]
	if format.Reason(r) != "ReqNodeNotAvail, UnavailableNodes:n4" || r.SchedNodes != "n3" || r.Times.Planned != c.verdicts[id].Planned {
		t.Errorf("verdict: %s, %s, %d", format.Reason(r), r.SchedNodes, r.Times.Planned)
	}
	if r.Count != (api.JobCount{Nodes: 1, MaxNodes: 2, CPUs: 6, Tasks: 2}) || r.Times.Limit != 10 || r.Memory.MB != 100 || r.Memory.Per != job.MemoryPerCPU {
		t.Errorf("defaults: %+v, limit %d, memory %+v", r.Count, r.Times.Limit, r.Memory)
	}
	if a := r.Asked; a.CPUs != 6 || a.MemoryMB != 600 || a.Nodes != 1 || len(a.Gres) != 1 || a.Gres[0] != (gres.Item{Name: "gpu", Count: 1}) {
		t.Errorf("asked: %+v", a)
	}
	if base := c.jobs(t, api.JobQuery{AnyState: true}).Jobs[0]; base.Request != nil || base.Alloc != nil || base.Asked.CPUs != 0 || base.End != nil || base.SchedNodes != "" {
		t.Errorf("parts were sent that nobody asked for: %+v", base)
	}
	c.start(t, id, job.NoTask, "n2")
	r = &c.jobs(t, api.JobQuery{AnyState: true, Fields: api.JobAll}).Jobs[0]
	if r.Nodes != "n2" || r.BatchHost != "n2" || r.Count.CPUs != 2 || r.Used.MemoryMB != 200 || r.Partition != "debug" || r.Alloc == nil {
		t.Errorf("running: %+v", r)
	}
}

func TestChunks(t *testing.T) {
	c := newCore(t)
	for range api.ChunkRecords + 5 {
		c.submit(t, nil)
	}
	chunks := 0
	r := &service.Request{Call: api.Call{Body: wire.Encode(nil, &api.JobQuery{AnyState: true})}}
	var list api.JobList
	r.Send = func(b []byte) error { chunks++; return wire.Decode(b, &list) }
	if err := jobs(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	if chunks != 2 || len(list.Jobs) != api.ChunkRecords+5 {
		t.Errorf("%d jobs in %d chunks", len(list.Jobs), chunks)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := jobs(ctx, c, r); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
}

func TestAccounting(t *testing.T) {
	c := newCore(t)
	ask := func(q api.AcctQuery) string {
		t.Helper()
		var list api.JobList
		if err := c.call(t, 0, api.MethodAccounting, &q, &list); err != nil {
			t.Fatal(err)
		}
		return names(&list)
	}
	good, bad, run := c.submit(t, nil), c.submit(t, nil), c.submit(t, nil)
	c.submit(t, nil)
	for i, id := range []job.ID{good, bad, run} {
		c.start(t, id, job.NoTask, fmt.Sprintf("n%d", i+1))
	}
	c.exit(t, good, 0)
	c.exit(t, bad, 1)
	ended := c.now
	for _, q := range []struct {
		query api.AcctQuery
		want  string
	}{
		{api.AcctQuery{}, "1:CD 2:F 3:R 4:PD"},
		{api.AcctQuery{ByState: true, Filter: api.JobQuery{States: 1 << job.Failed}}, "2:F"},
		{api.AcctQuery{ByState: true, Filter: api.JobQuery{States: 1<<job.Running | 1<<job.Pending}, From: c.now}, "3:R 4:PD"},
		{api.AcctQuery{From: ended + 3_600_000}, "3:R 4:PD"},
		{api.AcctQuery{To: 1_700_000_000_000}, ""},
		{api.AcctQuery{Filter: api.JobQuery{Jobs: []api.JobRef{{ID: good}, {ID: run}}}}, "1:CD 3:R"},
		{api.AcctQuery{Filter: api.JobQuery{Jobs: []api.JobRef{{ID: 99}}}}, ""},
		{api.AcctQuery{MinCPUs: 1}, "1:CD 2:F 3:R"},
		{api.AcctQuery{Groups: []string{"none"}}, ""},
	} {
		if got := ask(q.query); got != q.want {
			t.Errorf("%+v: got %s, want %s", q.query, got, q.want)
		}
	}
	// What has left memory is still there.
	c.do(t, &state.Purge{Jobs: []job.ID{good, bad}})
	if got := ask(api.AcctQuery{}); got != "1:CD 2:F 3:R 4:PD" {
		t.Errorf("after the purge: %s", got)
	}
}

func TestNodes(t *testing.T) {
	c := newCore(t)
	id := c.submit(t, nil)
	c.start(t, id, job.NoTask, "n2")
	reason := "bad disk"
	c.do(t, &state.NodeAdmin{Names: []string{"n4"}, State: "DRAIN", Reason: &reason})
	var list api.NodeList
	if err := c.call(t, 1001, api.MethodNodes, &api.NodeQuery{}, &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range list.Nodes {
		n := &list.Nodes[i]
		got = append(got, fmt.Sprintf("%s %s %d %s", n.Name, format.NodeState(n.Base, n.Flags, true), n.Used.CPUs, strings.Join(n.Partitions, ",")))
	}
	if want := "n1 idle 0 debug,short; n2 mix 2 debug,short; n3 idle 0 debug; n4 drain 0 debug"; strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if p := list.Partitions; len(p) != 2 || p[0].Nodes != "n[1-4]" || p[0].Total.CPUs != 32 || p[0].Total.Gres[0].Count != 16 || strings.Join(p[1].NodeNames, ",") != "n1,n2" {
		t.Errorf("partitions: %+v", p)
	}
	list = api.NodeList{}
	if err := c.call(t, 1001, api.MethodNodes, &api.NodeQuery{Names: []string{"n3", "none"}}, &list); err != nil || len(list.Nodes) != 1 {
		t.Errorf("by name: %d nodes, %v", len(list.Nodes), err)
	}
}

func TestClusterCalls(t *testing.T) {
	c := newCore(t)
	id := c.submit(t, nil)
	var licenses api.LicenseList
	if err := c.call(t, 1, api.MethodLicenses, &api.NameQuery{}, &licenses); err != nil || len(licenses.Licenses) != 2 || licenses.Licenses[0].Name != "bar" {
		t.Errorf("licences: %+v, %v", licenses, err)
	}
	var conf api.ConfigReply
	if err := c.call(t, 1, api.MethodConfig, &api.NameQuery{}, &conf); err != nil || conf.Source != "" {
		t.Errorf("config: %v", err)
	}
	values := map[string]string{}
	for _, p := range conf.Pairs {
		values[p.Key] = p.Value
	}
	if values["MaxArraySize"] != "1001" || values["KillWait"] != "5 sec" || values["ClusterName"] != "test" {
		t.Errorf("config: %v", values)
	}
	var stats api.StatsReply
	if err := c.call(t, 1, api.MethodStats, &api.NameQuery{}, &stats); err != nil || stats.Jobs.Pending != 1 || stats.Jobs.Submitted != 3 {
		t.Errorf("stats: %+v, %v", stats, err)
	}
	var ping api.PingReply
	if err := c.call(t, 1, api.MethodPing, &api.NameQuery{}, &ping); err != nil || len(ping.Controllers) != 1 {
		t.Errorf("ping: %+v, %v", ping, err)
	}
	var script api.ScriptReply
	if err := c.call(t, 1001, api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: id}}, &script); err != nil || string(script.Data) != "#!/bin/sh\ntrue\n" {
		t.Errorf("script: %q, %v", script.Data, err)
	}
	var e *api.Error
	if err := c.call(t, 1002, api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: id}}, &script); !errors.As(err, &e) || e.Kind != api.ErrDenied {
		t.Errorf("another user's script: %v", err)
	}
	if err := c.call(t, 0, api.MethodJobs, &badMessage{}, &api.JobList{}); !errors.As(err, &e) || e.Kind != api.ErrInvalid {
		t.Errorf("a malformed query: %v", err)
	}
}

// badMessage has a number where a query has a list.
type badMessage struct{}

func (*badMessage) Code(w *wire.Coder) {
	n := uint64(7)
	w.Uint64(2, &n)
}

// Use is the ledger's sums: what the outbox of the root comes to.
func (c *core) Use(_ context.Context, from, to job.Time) (*rollup.Use, error) {
	u := rollup.NewUse(rollup.Calendar{Zone: time.UTC}, from.Unix(), to.Unix())
	for _, r := range c.m.Root().Outbox(0) {
		u.Add(&r, c.now.Unix())
	}
	return u, nil
}
