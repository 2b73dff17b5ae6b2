package admit

import (
	"context"
	"strings"
	"testing"

	"muster/api"
	"muster/job"
	"muster/state"
)

// WaitIndex implements service.Core: all that was proposed is applied.
func (c *fakeCore) WaitIndex(context.Context, uint64) (*state.Root, error) { return c.Root(), nil }

// manage makes a change as sacctmgr would: "add user alice account=phys".
func (c *fakeCore) manage(t *testing.T, uid uint32, line string) (*api.BookReply, error) {
	t.Helper()
	w := strings.Fields(line)
	req := &api.BookChange{Verb: w[0], Entity: w[1], Commit: true}
	into := &req.Where
	if w[0] == "add" {
		into = &req.Set
	}
	for _, w := range w[2:] {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case w == "set":
			into = &req.Set
		case !ok:
			req.Names = append(req.Names, w)
		default:
			name := strings.TrimRight(key, "+-")
			*into = append(*into, api.Pair{Name: name, Op: key[len(name):], Value: value})
		}
	}
	reply := &api.BookReply{}
	return reply, c.call(t, uid, api.MethodBookChange, req, reply)
}

// accountCore enforces accounts; alice is in phys, bob in bio.
func accountCore(t *testing.T) *fakeCore {
	t.Helper()
	c := newCore(t)
	cluster := *c.Root().Cluster()
	cluster.Policy.Enforce = []string{"associations", "limits", "qos"}
	c.must(t, &state.Configure{Cluster: cluster})
	for _, line := range []string{"add account phys bio", "add user alice account=phys", "add user bob account=bio", "add qos high priority=10", "add qos short maxwall=5 flags=denyonlimit"} {
		if _, err := c.manage(t, 0, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return c
}

func TestAccountsAtSubmit(t *testing.T) {
	c := accountCore(t)
	if _, err := c.manage(t, 0, "modify user alice set qos+=short"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		uid          uint32
		account, qos string
		limit        job.Minutes
		want, err    string // account/QOS of the job, or the refusal
	}{
		{uid: 1000, want: "phys/normal"},
		{uid: 1001, want: "bio/normal"},
		{uid: 0, want: "root/normal"},
		{uid: 1000, account: "bio", err: "Invalid account or account/partition combination specified"},
		{uid: 1000, account: "nosuch", err: "Invalid account or account/partition combination specified"},
		{uid: 1000, qos: "nosuch", err: "Invalid qos specification"},
		{uid: 1000, qos: "high", err: "Invalid qos specification"},
		{uid: 1000, qos: "short", limit: 5, want: "phys/short"},
		{uid: 1000, qos: "short", limit: 6, err: textPolicy},
	} {
		id, err := c.submit(t, x.uid, func(j *api.SubmitJob) {
			j.Request.Account, j.Request.QOS, j.Request.Timing.Limit = x.account, x.qos, x.limit
		})
		switch {
		case x.err != "":
			if err == nil || err.(*api.Error).Text != x.err {
				t.Errorf("%+v: got %v", x, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", x, err)
		default:
			if j := c.Root().Job(id); j.Account+"/"+j.QOS != x.want {
				t.Errorf("%+v: got %s/%s", x, j.Account, j.QOS)
			}
		}
	}
}

func TestBookChangesByText(t *testing.T) {
	c := accountCore(t)
	for _, x := range []struct {
		uid   uint32
		line  string
		text  string // part of what is printed
		none  bool
		fails string // part of the refusal
	}{
		{uid: 1000, line: "add account mine", fails: "Only admins/operators/coordinators can add accounts"},
		{uid: 1000, line: "modify user alice set maxjobs=9", fails: "Access/permission denied"},
		{line: "add account phys", text: " Already existing account phys on cluster test\n", none: true},
		{line: "add account", fails: "Need name of account to add."},
		{line: "add user alice account=phys", text: "Request didn't affect anything\nNothing added.\n", none: true},
		{line: "add user alice account=nosuch", fails: "No account nosuch on cluster test, skipping.\nNothing added."},
		{line: "add account sub parent=nosuch", fails: "nosuch"},
		{line: "add user alice account=bio", text: "  C = test       A = bio                  U = alice    \n"},
		{line: "modify user alice where account=bio set maxjobs=2", fails: ""},
		{line: "modify user nosuch set fairshare=1", text: " Modified user associations...\n  Nothing modified\n", none: true},
		{line: "modify user alice set bogus=1", fails: " Unknown option: bogus=1\n Use keyword 'where' to modify condition"},
		{line: "modify user alice set maxtrespernode=cpu=1", fails: "Unknown option"},
		{line: "modify user alice set grpwall=1 grptresmins=cpu=100 maxtresmins=cpu=5", text: "alice"},
		{line: "modify user alice set qos+=nosuch", fails: "You gave a bad qos 'nosuch'. Valid QOS's are high,normal,short"},
		{line: "modify user alice set maxjobs=x", fails: "Bad value"},
		{line: "modify qos high set flags=nosuch", fails: "Unknown QOS flag"},
		{line: "modify qos high set flags=overpartqos", fails: "Bad value"}, // nothing acts on it yet
		{line: "modify qos high set flags=nodecay,denyonlimit usagefactor=0.5", text: "high"},
		{line: "modify qos high set usagefactor=0.5555", fails: "Bad value"},
		{line: "add coordinator account=nosuch names=alice", fails: "non-existent account 'nosuch'"},
		{line: "add coordinator account=bio names=nosuch", fails: "non-existent user 'nosuch'"},
		{line: "add coordinator account=bio names=alice", text: " Adding Coordinator User(s)\n  alice\n To Account(s) and all sub-accounts\n  bio\n"},
		{uid: 1000, line: "add user dora account=bio", text: " Adding User(s)\n  dora\n"},
		{uid: 1000, line: "modify user dora account=bio set maxjobs=3", text: "U = dora"},
		{uid: 1000, line: "modify account bio set maxjobs=3", fails: "Access/permission denied"},
		{uid: 1000, line: "add user carol account=phys", fails: "Only admins/operators/coordinators"},
		{uid: 1000, line: "add user carol account=bio adminlevel=operator", fails: "Only admins/operators/coordinators"},
		{uid: 1000, line: "modify user dora set adminlevel=operator", fails: "Access/permission denied"},
		{uid: 1000, line: "add account lab parent=bio", text: "  Parent        = bio\n"},
		{uid: 1000, line: "add coordinator account=lab names=dora", text: "  lab\n"},
		{uid: 1000, line: "add qos mine", fails: "Only admins/operators/coordinators"},
		{uid: 1000, line: "delete user dora account=bio", text: " Deleting user associations...\n"},
		{uid: 1000, line: "add coordinator account=bio names=alice", fails: "Only admins/operators/coordinators"},
		{line: "delete coordinator account=lab", text: " Nothing removed\n", none: true}, // its only one is gone
		{line: "delete coordinator account=lab names=alice", text: " Nothing removed\n", none: true},
		{line: "modify account bio set maxjobs=7", text: "A = lab"},
		{line: "delete account lab", text: " Deleting accounts...\n  lab\n"},
		{line: "delete coordinator names=alice", text: "  U = alice     A = bio       \n"},
		{line: "modify account phys set parent=bio", text: "phys"},
		{line: "modify account bio set parent=phys", fails: "is not in the tree"},
		{line: "delete account bio", fails: "has accounts below it: phys"},
		{line: "delete account root", fails: "cannot be deleted"},
		{line: "delete user alice account=phys", fails: "his default"},
		{line: "delete user alice account=bio", text: " Deleting user associations...\n"},
		{line: "delete user alice", text: " Deleting users...\n  alice\n"},
		{line: "delete user alice", text: " Nothing deleted\n", none: true},
		{line: "delete qos high", text: " Deleting QOS(s)...\n  high\n"},
		{line: "delete account phys", text: " Deleting accounts...\n  phys\n"},
	} {
		line := strings.Replace(x.line, " where ", " ", 1)
		reply, err := c.manage(t, x.uid, line)
		switch {
		case err != nil:
			if x.fails == "" || !strings.Contains(err.(*api.Error).Text, x.fails) {
				t.Errorf("%s: %v", x.line, err)
			}
		case x.fails != "":
			t.Errorf("%s: done: %q", x.line, reply.Text)
		case !strings.Contains(reply.Text, x.text) || reply.Nothing != x.none:
			t.Errorf("%s: got %q, nothing %v", x.line, reply.Text, reply.Nothing)
		}
	}
}

// A deleted QOS leaves no trace in associations; what an account may use changes
// for those below it.
func TestQOSListsFollowTheTree(t *testing.T) {
	c := accountCore(t)
	allowed := func(want string) {
		t.Helper()
		b := c.Root().Book()
		if got := strings.Join(b.Allowed(b.Assoc("phys", "alice", "")), ","); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, x := range []struct{ line, want string }{
		{"modify user alice set qos+=high", "high,normal"},
		{"modify account phys set qos+=short", "high,normal,short"},
		{"modify user alice set qos-=normal", "high,short"},
		{"delete qos high", "short"},
		{"modify user alice set qos=normal", "normal"},
		{"modify user alice set qos=", "normal,short"},
	} {
		if _, err := c.manage(t, 0, x.line); err != nil {
			t.Fatalf("%s: %v", x.line, err)
		}
		allowed(x.want)
	}
}
