package partition

import (
	"slices"
	"testing"

	"muster/job"
)

func TestFeatures(t *testing.T) {
	has := [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "c"}, {"a", "c"}, {}}
	cases := []struct {
		text string
		want []bool // for each list of has
	}{
		{"", []bool{true, true, true, true, true, true}},
		{"a", []bool{true, false, true, false, true, false}},
		{"a&b", []bool{false, false, true, false, false, false}},
		{"a,b", []bool{false, false, true, false, false, false}},
		{"a|b", []bool{true, true, true, true, true, false}},
		{"a|b&c", []bool{false, false, false, true, true, false}},
		{"a&c|b", []bool{false, true, true, true, true, false}},
		{"c&(a|b)", []bool{false, false, false, true, true, false}},
	}
	for _, c := range cases {
		f, err := ParseFeatures(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for i, h := range has {
			if got := f.Any[0].Matches(h); got != c.want[i] {
				t.Errorf("%q on %v is %v", c.text, h, got)
			}
		}
	}
}

func TestFeatureForms(t *testing.T) {
	f, err := ParseFeatures("[(r1|r2)*1&r3*2]")
	if err != nil || len(f.Groups) != 2 || f.Groups[0].Count != 1 || f.Groups[1].Count != 2 || f.Plain() {
		t.Errorf("counts: %+v, %v", f, err)
	}
	if f, err = ParseFeatures("[r1|r2|r3]"); err != nil || len(f.Any) != 3 {
		t.Errorf("alternatives: %+v, %v", f, err)
	}
	if f, err = ParseFeatures("a*2&b"); err != nil || len(f.Groups) != 1 || !slices.Equal(f.Names(), []string{"b", "a"}) {
		t.Errorf("count and a feature of all: %+v, %v", f, err)
	}
	for _, bad := range []string{"&a", "a&", "a||b", "(a", "a)", "[a", "a]", "[a&b]", "[a]b", "a*", "a*0", "a*x", "(a*2)", "a*2|b", "[[a]]", "a b"} {
		if f, err := ParseFeatures(bad); err == nil {
			t.Errorf("%q is taken as %+v", bad, f)
		}
	}
}

func FuzzParseFeatures(f *testing.F) {
	for _, s := range []string{"a&b|c", "[a|b]", "[(a|b)*1&c*2]", "((((((((((a", "a*9999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if x, err := ParseFeatures(s); err == nil && len(x.Any) == 0 {
			t.Errorf("%q gives no alternative", s)
		}
	})
}

func TestParseLicenses(t *testing.T) {
	cases := []struct {
		text string
		want []job.License
		any  bool
	}{
		{"", nil, false},
		{"foo", []job.License{{Name: "foo", Count: 1}}, false},
		{"foo:2,bar", []job.License{{Name: "foo", Count: 2}, {Name: "bar", Count: 1}}, false},
		{"foo:2,foo:3", []job.License{{Name: "foo", Count: 5}}, false},
		{"foo:2|bar:1", []job.License{{Name: "foo", Count: 2}, {Name: "bar", Count: 1}}, true},
	}
	for _, c := range cases {
		l, err := ParseLicenses(c.text)
		if err != nil || !slices.Equal(l.List, c.want) || l.Any != c.any {
			t.Errorf("%q: %+v, %v", c.text, l, err)
		}
	}
	for _, bad := range []string{"foo,bar|foo", ",", "foo:", "foo:x", "foo:0", "foo:-1", "foo:99999999999", "foo:4294967295,foo:1"} {
		if l, err := ParseLicenses(bad); err == nil {
			t.Errorf("%q is taken as %+v", bad, l)
		}
	}
	total := func(name string) uint32 { return map[string]uint32{"foo": 4, "bar": 2}[name] }
	for text, ok := range map[string]bool{"foo:4,bar:2": true, "foo:5": false, "nosuch": false, "foo,nosuch": false, "foo:5|bar": true, "foo:5|bar:3": false} {
		l, _ := ParseLicenses(text)
		if err := l.Check(text, total); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPermit(t *testing.T) {
	nodes := []job.NodeID{1, 2, 3, 4}
	user := Asker{UID: 1000, Account: "phys", QOS: "normal", Groups: []string{"users"}}
	cases := []struct {
		name string
		p    Partition
		r    job.Request
		who  Asker
		want job.Reason
	}{
		{"open", Partition{Nodes: nodes}, job.Request{}, user, job.ReasonNone},
		{"root only", Partition{Nodes: nodes, RootOnly: true}, job.Request{}, user, job.ReasonPartitionConfig},
		{"root only, root", Partition{Nodes: nodes, RootOnly: true}, job.Request{}, Asker{}, job.ReasonNone},
		{"no root", Partition{Nodes: nodes, DisableRoot: true}, job.Request{}, Asker{}, job.ReasonPartitionConfig},
		{"account in the list", Partition{Nodes: nodes, AllowAccounts: []string{"phys"}}, job.Request{}, user, job.ReasonNone},
		{"account not in the list", Partition{Nodes: nodes, AllowAccounts: []string{"bio"}}, job.Request{}, user, job.ReasonAccountNotAllowed},
		{"all accounts", Partition{Nodes: nodes, AllowAccounts: []string{"ALL"}}, job.Request{}, user, job.ReasonNone},
		{"account denied", Partition{Nodes: nodes, DenyAccounts: []string{"phys"}}, job.Request{}, user, job.ReasonAccountNotAllowed},
		{"QOS not in the list", Partition{Nodes: nodes, AllowQOS: []string{"high"}}, job.Request{}, user, job.ReasonQOSNotAllowed},
		{"no groups known", Partition{Nodes: nodes, AllowGroups: []string{"staff"}}, job.Request{}, Asker{UID: 1000}, job.ReasonPartitionConfig},
		{"group in the list", Partition{Nodes: nodes, AllowGroups: []string{"staff", "users"}}, job.Request{}, user, job.ReasonNone},
		{"groups, root", Partition{Nodes: nodes, AllowGroups: []string{"staff"}}, job.Request{}, Asker{}, job.ReasonNone},
		{"group not in the list", Partition{Nodes: nodes, AllowGroups: []string{"staff"}}, job.Request{}, user, job.ReasonPartitionConfig},
		{"reservation needed", Partition{Nodes: nodes, ReqResv: true}, job.Request{}, user, job.ReasonReservation},
		{"too many nodes", Partition{Nodes: nodes}, job.Request{Size: job.Size{MinNodes: 5}}, user, job.ReasonPartitionNodeLimit},
		{"too few nodes", Partition{Nodes: nodes, MinNodes: 3}, job.Request{Size: job.Size{MinNodes: 1, MaxNodes: 2}}, user, job.ReasonPartitionNodeLimit},
		{"too long", Partition{Nodes: nodes, MaxTime: 5}, job.Request{Timing: job.Timing{Limit: 10}}, user, job.ReasonPartitionTimeLimit},
		{"short enough with --time-min", Partition{Nodes: nodes, MaxTime: 5}, job.Request{Timing: job.Timing{Limit: 10, MinLimit: 5}}, user, job.ReasonNone},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, detail := c.p.Permit(&c.r, &c.who)
			if got != c.want || (got == job.ReasonNone) != (detail == "") {
				t.Errorf("got %v (%s), want %v", got, detail, c.want)
			}
		})
	}
}

func TestReservationUsers(t *testing.T) {
	cases := []struct {
		users, accounts []string
		want            bool // for user alice in phys
	}{
		{nil, nil, false},
		{[]string{"alice"}, nil, true},
		{[]string{"bob"}, nil, false},
		{[]string{"-bob"}, nil, true},
		{[]string{"-alice"}, nil, false},
		{nil, []string{"phys"}, true},
		{[]string{"alice"}, []string{"bio"}, false},
	}
	for _, c := range cases {
		r := Reservation{Users: c.users, Accounts: c.accounts}
		if got := r.MayUse("alice", "phys"); got != c.want {
			t.Errorf("users %v accounts %v: %v", c.users, c.accounts, got)
		}
	}
}
