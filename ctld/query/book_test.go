package query

import (
	"strings"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/state"
)

// sharedCore has alice (3 shares) and bob (1) in phys, and bio empty.
func sharedCore(t *testing.T) *core {
	c := newCore(t)
	own := func(name string, shares uint32) []accounting.Change {
		return []accounting.Change{{Account: &accounting.Account{Name: name}}, {Assoc: &accounting.Association{Account: name, Parent: "root", Shares: shares}}}
	}
	list := append(own("phys", 2), own("bio", 1)...)
	for name, shares := range map[string]uint32{"alice": 3, "bob": 1} {
		list = append(list, accounting.Change{User: &accounting.User{Name: name, Default: "phys"}},
			accounting.Change{Assoc: &accounting.Association{Account: "phys", User: name, Shares: shares, Limits: accounting.Limits{
				GrpTRES: accounting.Amounts{}.With("mem", 2048).With("gres/gpu", 2).With("cpu", 4), MaxWall: accounting.AtMost(1440)}}})
	}
	c.do(t, &state.Accounting{Seen: c.m.Root().Book().Serial, Changes: list})
	return c
}

// table lists chosen columns of a table as a user sees it, one word a row.
func (c *core) table(t *testing.T, user, entity string, fields ...string) string {
	t.Helper()
	var out api.Table
	r := &service.Request{Call: api.Call{Body: wire.Encode(nil, &api.TableQuery{Entity: entity})}, Caller: api.Caller{UID: 1001, User: user}}
	r.Send = func(b []byte) error { return wire.Decode(b, &out) }
	if err := bookList(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, row := range out.Rows {
		var one []string
		for i, f := range out.Fields {
			for _, want := range fields {
				if f == want {
					one = append(one, row.Values[i])
				}
			}
		}
		words = append(words, strings.Join(one, "/"))
	}
	return strings.Join(words, " ")
}

func TestShares(t *testing.T) {
	c := sharedCore(t)
	want := "root///0.000000 root/root/1/0.250000 bio//1/0.250000 phys//2/0.500000 phys/alice/3/0.750000 phys/bob/1/0.250000"
	if got := c.table(t, "alice", "share", "account", "user", "rawshares", "normshares"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLimitsAsText(t *testing.T) {
	c := sharedCore(t)
	want := "root/// root/root// bio/// phys/// phys/alice/cpu=4,mem=2G,gres/gpu=2/1-00:00:00 phys/bob/cpu=4,mem=2G,gres/gpu=2/1-00:00:00"
	if got := c.table(t, "alice", "assoc", "account", "user", "grptres", "maxwall"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPrivateAccounts(t *testing.T) {
	c := sharedCore(t)
	cluster := *c.m.Root().Cluster()
	cluster.Policy.PrivateData = []string{"accounts", "users", "usage"}
	c.do(t, &state.Configure{Cluster: cluster})
	for entity, want := range map[string]string{
		"account": "phys", "user": "alice", "assoc": "phys/ phys/alice", "share": "phys/ phys/alice", "qos": "",
	} {
		if got := c.table(t, "alice", entity, "account", "user"); got != want {
			t.Errorf("%s: alice sees %q, want %q", entity, got, want)
		}
	}
	if got := c.table(t, "root", "user", "user"); got != "alice bob root" {
		t.Errorf("an administrator sees %q", got)
	}
}
