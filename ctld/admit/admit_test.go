package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/accounting/rollup"
	"muster/api"
	"muster/ctld/service"
	"muster/gres"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// fakeCore is a controller of one replica without raft: what is proposed is
// applied at once. The embedded interface stands for what handlers must not use.
type fakeCore struct {
	service.Core
	machine *state.Machine
	index   uint64
	now     job.Time
	signals []service.Signal
}

func (c *fakeCore) Root() *state.Root      { return c.machine.Root() }
func (c *fakeCore) Now() job.Time          { return c.now }
func (c *fakeCore) Ledger() service.Ledger { return emptyLedger{} }
func (c *fakeCore) Signal(_ context.Context, s service.Signal) error {
	c.signals = append(c.signals, s)
	return nil
}

func (c *fakeCore) Propose(_ context.Context, e state.Envelope, blobs ...state.Blob) (state.Result, uint64, error) {
	c.index++
	c.now++
	results, err := c.machine.Apply(c.index, &state.Entry{Now: c.now, Commands: []state.Envelope{e}, Blobs: blobs})
	if err != nil {
		return state.Result{}, 0, err
	}
	return results[0], c.index, nil
}

type emptyLedger struct{}

func (emptyLedger) Use(context.Context, job.Time, job.Time) (*rollup.Use, error) { return nil, nil }

func (emptyLedger) Jobs(context.Context, job.Time, job.Time, []job.ID, []string, func(*job.Job) bool) error {
	return nil
}

// newCore makes a cluster of two nodes with 8 cores, 4000 MB and 4 GPUs each.
func newCore(t *testing.T) *fakeCore {
	t.Helper()
	c := &fakeCore{machine: state.New(), now: 1_796_000_000_000}
	inventory := gres.Inventory{}
	for i := range 4 {
		inventory.Devices = append(inventory.Devices, gres.Device{Name: "gpu", Index: i})
	}
	cluster := partition.Cluster{Name: "test", Licenses: []partition.License{{Name: "foo", Total: 4}},
		Limits: partition.Limits{MaxArraySize: 1001, MaxScript: 1 << 20, MaxEnv: 1 << 20},
		Policy: partition.Policy{Requeue: true, AllocCores: true, TrackMemory: true, DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 100}}}
	for _, n := range []string{"n1", "n2"} {
		cluster.Nodes = append(cluster.Nodes, partition.Node{Name: n, Gres: inventory, Features: []string{"fast"},
			Declared: partition.Shape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 4000}})
	}
	cluster.Partitions = []partition.Partition{
		{Name: "debug", NodeList: "n[1-2]", Default: true}, {Name: "one", NodeList: "n1"}, {Name: "closed", NodeList: "n1", State: partition.PartitionDrain},
		{Name: "rootonly", NodeList: "n1", RootOnly: true}, {Name: "bio", NodeList: "n1", AllowAccounts: []string{"bio"}},
		{Name: "staff", NodeList: "n1", AllowGroups: []string{"staff", "wheel"}},
	}
	c.must(t, &state.Configure{Cluster: cluster})
	for _, n := range []string{"n1", "n2"} {
		c.must(t, &state.NodeRegister{Name: n, BootID: "b", Journal: "j"})
	}
	return c
}

func (c *fakeCore) must(t *testing.T, cmd state.Command) {
	t.Helper()
	res, _, err := c.Propose(context.Background(), state.Seal(cmd, state.Actor{}, state.RequestID{}))
	if err != nil || res.Code != state.OK {
		t.Fatalf("%T: %+v, %v", cmd, res, err)
	}
}

// groups are those of the users, by the name service.
var groups = map[uint32][]string{1001: {"bob", "wheel"}}

// call makes a call as a user; uid 0 is root.
func (c *fakeCore) call(t *testing.T, uid uint32, method string, request, reply wire.Message) error {
	t.Helper()
	user := map[uint32]string{0: "root", 1000: "alice", 1001: "bob"}[uid]
	r := &service.Request{Call: api.Call{Method: method, Body: wire.Encode(nil, request)}, Caller: api.Caller{UID: uid, GID: uid, User: user, Host: "login", GroupNames: groups[uid]}}
	r.Send = func(b []byte) error { return wire.Decode(b, reply) }
	for _, m := range Methods() {
		if m.Name == method {
			return m.Handle(context.Background(), c, r)
		}
	}
	t.Fatalf("no method %s", method)
	return nil
}

// plain is the request of a job that asks for nothing.
func plain() *api.SubmitRequest {
	return &api.SubmitRequest{Script: []byte("#!/bin/sh\n"), Environment: []byte("A=1"),
		Jobs: []api.SubmitJob{{Request: job.Request{Name: "j", Batch: job.Batch{WorkDir: "/tmp"}}}}}
}

func (c *fakeCore) submit(t *testing.T, uid uint32, edit func(*api.SubmitJob)) (job.ID, error) {
	t.Helper()
	req := plain()
	if edit != nil {
		edit(&req.Jobs[0])
	}
	var reply api.SubmitReply
	if err := c.call(t, uid, api.MethodSubmit, req, &reply); err != nil {
		return 0, err
	}
	return reply.Jobs[0], nil
}

// TestSubmitRefusals: each wrong request gets Slurm's text, and no job is made.
func TestSubmitRefusals(t *testing.T) {
	tests := []struct {
		name string
		edit func(*api.SubmitJob)
		want string
	}{
		{"partition", func(j *api.SubmitJob) { j.Request.Partitions = []string{"nosuch"} }, "invalid partition specified: nosuch\nInvalid partition name specified"},
		{"closed partition", func(j *api.SubmitJob) { j.Request.Partitions = []string{"closed"} }, "Required partition not available (inactive or drain)"},
		{"root's partition", func(j *api.SubmitJob) { j.Request.Partitions = []string{"rootonly"} }, "Access/permission denied"},
		{"memory", func(j *api.SubmitJob) { j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: 5000} }, "Memory specification can not be satisfied\nRequested node configuration is not available"},
		{"CPUs", func(j *api.SubmitJob) { j.Request.Size.CPUsPerTask = 9 }, "CPU count per node can not be satisfied\nRequested node configuration is not available"},
		{"GPUs", func(j *api.SubmitJob) { j.Request.Gres.PerNode = gres.Spec{{Name: "gpu", Count: 5}} }, "Requested node configuration is not available"},
		{"device", func(j *api.SubmitJob) { j.Request.Gres.PerNode = gres.Spec{{Name: "tpu", Count: 1}} }, "Invalid generic resource (gres) specification"},
		{"feature", func(j *api.SubmitJob) { j.Request.Place.Constraint = "nosuch" }, "Invalid feature specification"},
		{"node", func(j *api.SubmitJob) { j.Request.Place.Nodes = []string{"nosuch"} }, "Invalid node name specified"},
		{"node of another partition", func(j *api.SubmitJob) { j.Request.Partitions, j.Request.Place.Nodes = []string{"one"}, []string{"n2"} }, "Requested node configuration is not available"},
		{"licence", func(j *api.SubmitJob) { j.Request.Licenses = "foo:5" }, "Invalid license specification"},
		{"reservation", func(j *api.SubmitJob) { j.Request.Reservation = "nosuch" }, "Requested reservation is invalid"},
		{"array", func(j *api.SubmitJob) { j.Array = "1-1001" }, "Invalid job array specification"},
		{"dependency", func(j *api.SubmitJob) { j.Dependency = "afterok:99" }, "Job dependency problem"},
		{"nice", func(j *api.SubmitJob) { j.Request.Nice = -5 }, "Invalid --nice value"},
		{"deadline", func(j *api.SubmitJob) { j.Request.Timing.Deadline = 1 }, "Requested time limit is invalid (missing or exceeds some limit)"},
		{"tasks of a core beyond the node", func(j *api.SubmitJob) { j.Request.Size.TasksPerCore = 9 }, "Requested node configuration is not available"},
		{"tasks of a socket beyond the node", func(j *api.SubmitJob) { j.Request.Size.TasksPerSocket = 9 }, "Requested node configuration is not available"},
		{"CPUs of each node", func(j *api.SubmitJob) { j.Request.Size.MinCPUsPerNode = 9 }, "CPU count per node can not be satisfied\nRequested node configuration is not available"},
		{"signal for making room where nothing makes room", func(j *api.SubmitJob) { j.Request.Signal = job.Signal{Number: 10, Resv: true} }, "Preemption is required but is disabled on this system"},
		{"other cluster", func(j *api.SubmitJob) { j.Request.Cluster = "a,b" },
			"No cluster 'a' known by database.\nNo cluster 'b' known by database.\n'a,b' can't be reached now, or it is an invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available clusters."},
		{"relative directory", func(j *api.SubmitJob) { j.Request.Batch.WorkDir = "x" }, `The working directory "x" is no absolute path`},
	}
	c := newCore(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.submit(t, 1000, test.edit)
			var e *api.Error
			if !errors.As(err, &e) || e.Text != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if n := c.Root().JobCount(); n != 0 {
		t.Errorf("%d jobs were made", n)
	}
}

// TestSubmitAccepts: what waits for good is let in, and users can't say what is
// not theirs to say.
func TestSubmitAccepts(t *testing.T) {
	c := newCore(t)
	id, err := c.submit(t, 1000, func(j *api.SubmitJob) {
		j.Request.AdminComment, j.HasPriority, j.Priority, j.Request.Size.MinNodes, j.Request.Size.MaxNodes = "mine", true, 99999, 9, 9
	})
	if err != nil {
		t.Fatal(err)
	}
	j := c.Root().Job(id)
	if j.Owner.User != "alice" || j.Request.AdminComment != "" || j.Priority == 99999 || j.QOS != "normal" || !j.Request.Requeue {
		t.Errorf("got %+v", j)
	}
	if id, err = c.submit(t, 1000, func(j *api.SubmitJob) { j.Hold, j.Array = true, "1-5%2" }); err != nil {
		t.Fatal(err)
	}
	if j := c.Root().ArrayTask(id, 3); j == nil || j.Held != job.HeldByUser || j.Array.Limit != 2 {
		t.Errorf("got %+v", j)
	}
}

// TestClusterLists: one of the clusters named must be this one; of others there is a
// note.
func TestClusterLists(t *testing.T) {
	for list, notes := range map[string]string{
		"": "", "test": "", "TEST": "", "all": "", "test,b": "error: No cluster 'b' known by database.", "b,test": "error: No cluster 'b' known by database.",
	} {
		c := newCore(t)
		req := plain()
		req.Jobs[0].Request.Cluster = list
		var reply api.SubmitReply
		if err := c.call(t, 1000, api.MethodSubmit, req, &reply); err != nil {
			t.Errorf("%q: %v", list, err)
			continue
		}
		if got := strings.Join(reply.Messages, "|"); got != notes || len(reply.Jobs) != 1 {
			t.Errorf("%q: jobs %v, notes %q, want %q", list, reply.Jobs, got, notes)
		}
	}
}

// TestOrderOfPartitions: a job that may start shows the higher tier first, a held one
// its partitions as they were given.
func TestOrderOfPartitions(t *testing.T) {
	for held, want := range map[bool]string{false: "high debug", true: "debug high"} {
		c := newCore(t)
		cluster := *c.Root().Cluster()
		cluster.Partitions = []partition.Partition{{Name: "debug", NodeList: "n[1-2]", Default: true}, {Name: "high", NodeList: "n1", PriorityTier: 5}}
		c.must(t, &state.Configure{Cluster: cluster})
		id, err := c.submit(t, 1000, func(j *api.SubmitJob) { j.Hold, j.Request.Partitions = held, []string{"debug", "high", "debug"} })
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Root().Job(id).Request.Partitions, " "); got != want {
			t.Errorf("held %v: partitions %q, want %q", held, got, want)
		}
	}
}

// TestPermissions: only the owner and root touch a job, only root the cluster.
func TestPermissions(t *testing.T) {
	c := newCore(t)
	id, err := c.submit(t, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint(id)
	var cancelled api.CancelReply
	if err := c.call(t, 1001, api.MethodCancel, &api.CancelRequest{Jobs: []string{name}}, &cancelled); err != nil || cancelled.Jobs[0].Failure != "Access/permission denied" {
		t.Errorf("scancel by another user: %+v, %v", cancelled, err)
	}
	for _, verb := range []string{"hold", "release", "requeue", "suspend", "top"} {
		var reply api.ChangeReply
		if err := c.call(t, 1001, api.MethodControlJob, &api.ControlRequest{Verb: verb, Jobs: []string{name}}, &reply); err != nil || len(reply.Failures) != 1 {
			t.Errorf("%s by another user: %+v, %v", verb, reply, err)
		}
	}
	for method, pair := range map[string]api.Pair{
		api.MethodUpdateNode: {Name: "NodeName", Value: "n1"}, api.MethodUpdatePart: {Name: "PartitionName", Value: "debug"}, api.MethodUpdateResv: {Name: "ReservationName", Value: "r"},
	} {
		req := &api.UpdateRequest{Action: "update", Pairs: []api.Pair{pair, {Name: "State", Value: "DOWN"}}}
		if err := c.call(t, 1000, method, req, &api.ChangeReply{}); err == nil || !strings.Contains(err.Error(), "Invalid user id") {
			t.Errorf("%s by a user: %v", method, err)
		}
	}
}

// TestCancelSelectors: each selector narrows.
func TestCancelSelectors(t *testing.T) {
	c := newCore(t)
	a, _ := c.submit(t, 1000, func(j *api.SubmitJob) { j.Request.Partitions = []string{"one"} })
	b, _ := c.submit(t, 1000, nil)
	var reply api.CancelReply
	if err := c.call(t, 1000, api.MethodCancel, &api.CancelRequest{Names: []string{"j"}, Partitions: []string{"one"}}, &reply); err != nil {
		t.Fatal(err)
	}
	if c.Root().Job(a).State != job.Cancelled || c.Root().Job(b).State != job.Pending {
		t.Errorf("states: %v %v", c.Root().Job(a).State, c.Root().Job(b).State)
	}
}

// AllowGroups is checked at submit only where enforce_part_limits says so, as in
// Slurm; without it the job waits.
func TestAllowGroups(t *testing.T) {
	staff := func(s *api.SubmitJob) { s.Request.Partitions = []string{"staff"} }
	c := newCore(t)
	id, err := c.submit(t, 1000, staff)
	if err != nil {
		t.Fatalf("without enforcement: %v", err)
	}
	if _, err := c.submit(t, 1001, staff); err != nil {
		t.Fatalf("a member: %v", err)
	}
	if got := c.Root().Job(id + 1).Owner.GroupNames; !slices.Equal(got, groups[1001]) {
		t.Errorf("the job has groups %v, want %v", got, groups[1001])
	}
	cluster := *c.Root().Cluster()
	cluster.Policy.EnforcePartLimits = "ALL"
	c.must(t, &state.Configure{Cluster: cluster})
	var e *api.Error
	if _, err := c.submit(t, 1000, staff); !errors.As(err, &e) || e.Text != "User's group not permitted to use this partition" {
		t.Errorf("no member: %v", err)
	}
	for _, uid := range []uint32{0, 1001} {
		if _, err := c.submit(t, uid, staff); err != nil {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
}
