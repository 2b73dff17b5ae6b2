package admit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/conf"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/state"
)

const fileInForce = `name = "test"
[[controller]]
name = "c1"
[[node]]
names = "n[1-3]"
cpus = 8
memory = "4000M"
[[partition]]
name = "debug"
[[partition]]
name = "long"
nodes = "n[1-2]"
`

// newFileCore is a cluster whose configuration has a text.
func newFileCore(t *testing.T) *fakeCore {
	t.Helper()
	c := &fakeCore{machine: state.New(), now: 1_796_000_000_000}
	file, err := conf.Parse("first", []byte(fileInForce))
	if err != nil {
		t.Fatal(err)
	}
	c.must(t, &state.Configure{Cluster: file.Cluster})
	for _, n := range []string{"n1", "n2", "n3"} {
		c.must(t, &state.NodeRegister{Name: n, BootID: "b", Journal: "j"})
	}
	return c
}

// running starts a job on a node.
func (c *fakeCore) running(t *testing.T, node string) job.ID {
	t.Helper()
	id, err := c.submit(t, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := c.Root().NodeNamed(node)
	a := job.Allocation{Partition: "debug", BatchNode: n.ID, CPUs: 1, MemoryMB: 10}
	a.Nodes = []job.Share{{Node: n.ID, Name: node, CPUs: 1, Tasks: 1, MemoryMB: 10, Cores: bitset.Of(0)}}
	c.must(t, &state.Start{Job: id, Task: job.NoTask, Alloc: a, Limit: 10})
	return id
}

func edited(pairs ...string) *api.ConfigureRequest {
	return &api.ConfigureRequest{Name: "new.toml", Source: strings.NewReplacer(pairs...).Replace(fileInForce)}
}

func TestConfigurePreviews(t *testing.T) {
	c := newFileCore(t)
	c.running(t, "n3")
	c.must(t, &state.NodeSilent{Nodes: []job.NodeID{c.Root().NodeNamed("n2").ID}})
	weight := uint32(9)
	c.must(t, &state.NodeAdmin{Names: []string{"n1"}, Weight: &weight})
	if err := c.call(t, 0, api.MethodUpdatePart, &api.UpdateRequest{Pairs: []api.Pair{{Name: "PartitionName", Value: "debug"}, {Name: "MaxTime", Value: "5"}}}, &api.ChangeReply{}); err != nil {
		t.Fatal(err)
	}
	made := partition.Partition{Name: "made", NodeList: "n1"}
	c.must(t, &state.Partition{Value: made})
	lines := func(s ...string) []string { return s }
	always := lines("partition debug: what was changed with scontrol goes back", "partition made: was made with scontrol and goes", "node n1: weight and features that were changed", "node n2: does not answer")
	for name, x := range map[string]struct {
		req           *api.ConfigureRequest
		same          bool
		changes, ends []string
		effects       []string // before those that are always there
	}{
		"the same":     {req: edited(), same: true},
		"a comment":    {req: edited("[[node]]", "# hm\n[[node]]")},
		"a node added": {req: edited("n[1-3]", "n[1-4]"), changes: lines("+ node n4:"), effects: lines("node n4: gets jobs once")},
		"a node gone":  {req: edited("n[1-3]", "n[1-2]"), changes: lines("- node n3"), ends: lines("job 1 on n3: the node is removed")},
		"a port":       {req: edited(`"4000M"`, "\"4000M\"\nport = 7"), changes: lines("~ node n[1-3]: port: 6818 -> 7"), effects: lines("node n[1-3]: port counts from the next start")},
		"devices":      {req: edited(`"4000M"`, "\"4000M\"\ngres = \"gpu:2\""), changes: lines("~ node n[1-3]: gres: (none) -> [gpu:2]")},
		"less memory":  {req: edited(`"4000M"`, `"9M"`), changes: lines("~ node n[1-3]: memory: 4000 -> 9"), ends: lines("job 1 on n3: jobs hold 10 MB, the node would have 9")},
		"no partition": {req: edited("debug", "other"), changes: lines("+ partition other", "- partition debug"), effects: lines("partition debug is gone: 1 jobs that run in it run on")},
	} {
		t.Run(name, func(t *testing.T) {
			var got api.ConfigureReply
			if err := c.call(t, 0, api.MethodConfigure, x.req, &got); err != nil {
				t.Fatal(err)
			}
			effects := x.effects
			if !x.same {
				for _, l := range always {
					if name != "no partition" || !strings.HasPrefix(l, "partition debug") {
						effects = append(effects, l)
					}
				}
			}
			if got.Same != x.same || !begin(got.Changes, x.changes) || !begin(got.Ends, x.ends) || !begin(got.Effects, effects) || got.Serial != 1 {
				t.Errorf("got  %+v\nwant %q, %q, %q", got, x.changes, effects, x.ends)
			}
		})
	}
	if n := len(c.Root().Configurations()); n != 1 {
		t.Errorf("looking made %d configurations", n)
	}
}

// begin tells whether each line begins as wanted.
func begin(got, want []string) bool {
	return slices.EqualFunc(got, want, strings.HasPrefix)
}

func TestConfigureRefuses(t *testing.T) {
	commit := func(r *api.ConfigureRequest) *api.ConfigureRequest { r.Commit = true; return r }
	old := edited("n[1-3]", "n[1-4]")
	old.Base = 7
	for name, x := range map[string]struct {
		uid  uint32
		req  *api.ConfigureRequest
		kind api.ErrorKind
		says []string
	}{
		"a user":               {1000, edited("n[1-3]", "n[1-4]"), api.ErrDenied, []string{"Invalid user id"}},
		"an operator":          {1001, edited("n[1-3]", "n[1-4]"), api.ErrDenied, []string{"Invalid user id"}},
		"a fault":              {0, edited("cpus = 8", "cpus = 8\ncpsu = 9"), api.ErrInvalid, []string{"new.toml:7: unknown key cpsu in [[node]]"}},
		"no text":              {0, &api.ConfigureRequest{Name: "x"}, api.ErrInvalid, []string{"without any text"}},
		"another name":         {0, edited(`"test"`, `"other"`), api.ErrInvalid, []string{"the name of a cluster", "stays"}},
		"another controller":   {0, edited(`"c1"`, `"c2"`), api.ErrInvalid, []string{"controller c2", "controllers are not changed"}},
		"nothing to undo":      {0, &api.ConfigureRequest{Before: true}, api.ErrState, []string{"no configuration before"}},
		"an unknown one":       {0, &api.ConfigureRequest{Undo: 9}, api.ErrNotFound, []string{"configuration 9 is not remembered"}},
		"a running job":        {0, edited("n[1-3]", "n[1-2]"), api.ErrState, []string{"job 1 on n3: the node is removed"}},
		"another was in force": {0, old, api.ErrState, []string{"number 1 by now", "number 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFileCore(t)
			c.running(t, "n3")
			c.admin(t, "bob", accounting.Operator)
			err := c.call(t, x.uid, api.MethodConfigure, commit(x.req), &api.ConfigureReply{})
			var e *api.Error
			if !errors.As(err, &e) || e.Kind != x.kind {
				t.Fatalf("got %v, want kind %v", err, x.kind)
			}
			for _, s := range x.says {
				if !strings.Contains(e.Text, s) {
					t.Errorf("it says %q, want %q in it", e.Text, s)
				}
			}
			if n := len(c.Root().Configurations()); n != 1 {
				t.Errorf("a refused file made %d configurations", n)
			}
		})
	}
}

// admin gives a user an admin level.
func (c *fakeCore) admin(t *testing.T, name string, level accounting.AdminLevel) {
	t.Helper()
	c.must(t, &state.Accounting{Seen: c.Root().Book().Serial, Changes: []accounting.Change{{User: &accounting.User{Name: name, Admin: level}}}})
}

// An administrator who is not root applies, forces, and goes back and forth.
func TestConfigureAndUndo(t *testing.T) {
	c := newFileCore(t)
	id := c.running(t, "n3")
	c.admin(t, "bob", accounting.Administrator)
	do := func(r *api.ConfigureRequest) api.ConfigureReply {
		t.Helper()
		var reply api.ConfigureReply
		r.Commit = true
		if err := c.call(t, 1001, api.MethodConfigure, r, &reply); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	without := edited("n[1-3]", "n[1-2]")
	without.Force, without.Base = true, 1
	if got := do(without); got.Serial != 2 {
		t.Errorf("forced: %+v", got)
	}
	if got := c.Root().Job(id).State; got != job.NodeFail && got != job.Pending {
		t.Errorf("the job is %s", got)
	}
	if got := do(&api.ConfigureRequest{Before: true}); got.Serial != 3 || got.Undo != 1 || !begin(got.Changes, []string{"+ node n3"}) {
		t.Errorf("undo: %+v", got)
	}
	if got := do(&api.ConfigureRequest{Before: true}); got.Serial != 4 || got.Undo != 2 || c.Root().NodeNamed("n3") != nil {
		t.Errorf("undo of the undo: %+v", got)
	}
	if got := do(&api.ConfigureRequest{Undo: 1}); got.Serial != 5 || c.Root().Cluster().Source != fileInForce {
		t.Errorf("back to the first: %+v", got)
	}
	if got := do(edited()); !got.Same || got.Serial != 5 {
		t.Errorf("the same again: %+v", got)
	}
	now := c.Root().Configuration()
	if now.By.User != "bob" || now.Undo != 1 || now.Forced || c.Root().NodeNamed("n3").State != partition.NodeUnknown {
		t.Errorf("in force: %+v", now)
	}
}
