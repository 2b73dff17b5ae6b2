package accounting

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"muster/partition"

	"pgregory.net/rapid"
)

// spentBy is what was used in a test, by user and account.
type spentBy map[[2]string]Usage

// Usage implements Used.
func (s spentBy) Usage(account, user, _, _ string) *Usage {
	u := s[[2]string{account, user}]
	return &u
}

// randomTree draws accounts, users with shares of all kinds, and their use.
func randomTree(t *rapid.T) (*Book, spentBy) {
	shares := rapid.SampledFrom([]uint32{0, 1, 1, 2, 5, 100, SharesOfParent})
	accounts := []string{RootAccount}
	changes, used := []Change{}, spentBy{}
	for i := range rapid.IntRange(1, 6).Draw(t, "accounts") {
		name := fmt.Sprintf("a%d", i)
		parent := rapid.SampledFrom(accounts).Draw(t, "parent")
		accounts = append(accounts, name)
		changes = append(changes, Change{Account: &Account{Name: name}}, Change{Assoc: &Association{Account: name, Parent: parent, Shares: shares.Draw(t, "shares")}})
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "users") {
		name := fmt.Sprintf("u%d", i)
		changes = append(changes, Change{User: &User{Name: name}})
		for _, account := range rapid.SliceOfNDistinct(rapid.SampledFrom(accounts), 1, 2, rapid.ID[string]).Draw(t, "in") {
			changes = append(changes, Change{Assoc: &Association{Account: account, User: name, Shares: shares.Draw(t, "share")}})
			// A few round numbers, so that there are ties.
			n := rapid.SampledFrom([]uint64{0, 0, 100, 200, 400, 12345}).Draw(t, "used")
			used[[2]string{account, name}] = Usage{Raw: Over(n, 1)}
		}
	}
	b, err := Initial().With(changes)
	if err != nil {
		t.Fatal(err)
	}
	return b, used
}

// oracle works out fair shares in floating point, from the documents, by another
// way: with maps and recursion over names.
type oracle struct {
	b     *Book
	used  spentBy
	users int
	order []*Association // users, best first
	level map[*Association]float64
}

func (o *oracle) own(a *Association) bool { return a.Shares != SharesOfParent }

func (o *oracle) raw(a *Association) float64 {
	if a.User != "" {
		return float64(o.used.Usage(a.Account, a.User, "", "").Raw.Whole())
	}
	sum := 0.0
	for _, c := range o.b.Below(a.Account) {
		sum += o.raw(c)
	}
	return sum
}

// fair is the account whose shares an association divides.
func (o *oracle) fair(a *Association) *Association {
	up := o.b.Above(a)
	for up != nil && !o.own(up) {
		up = o.b.Above(up)
	}
	return up
}

// below lists those whose fair account a is, in the order of the tree.
func (o *oracle) below(a *Association) []*Association {
	if a.Account != RootAccount && !o.own(a) {
		return nil
	}
	return o.within(a)
}

func (o *oracle) within(a *Association) []*Association {
	var out []*Association
	for _, c := range o.b.Below(a.Account) {
		out = append(out, c)
		if c.User == "" && !o.own(c) {
			out = append(out, o.within(c)...)
		}
	}
	return out
}

func (o *oracle) norm(a *Association) float64 {
	if !o.own(a) {
		return o.norm(o.fair(a))
	}
	up := o.fair(a)
	if up == nil {
		return 0
	}
	sum := 0.0
	for _, c := range o.below(up) {
		if o.own(c) {
			sum += float64(c.Shares)
		}
	}
	if sum == 0 {
		return 0
	}
	return float64(a.Shares) / sum
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (o *oracle) levelFS(a *Association) float64 {
	switch {
	case !o.own(a) && a.User != "":
		return math.Inf(1)
	case !o.own(a):
		return 1e300
	case o.norm(a) == 0:
		return 0
	}
	return o.norm(a) / ratio(o.raw(a), o.raw(o.fair(a)))
}

// rank gives each user its number, by the rules for ties.
func (o *oracle) rank() map[*Association]int {
	ranks := map[*Association]int{}
	last, seen := 0, 0
	var visit func(a *Association, tied bool)
	visit = func(a *Association, tied bool) {
		list := o.below(a)
		sort.SliceStable(list, func(i, k int) bool {
			x, y := o.levelFS(list[i]), o.levelFS(list[k])
			if !same(x, y) {
				return x > y
			}
			return list[i].User != "" && list[k].User == ""
		})
		for i, c := range list {
			if i > 0 {
				tied = same(o.levelFS(list[i-1]), o.levelFS(c))
			}
			if c.User == "" {
				visit(c, tied)
				continue
			}
			if !tied {
				last = o.users - seen
			}
			ranks[c] = last
			seen++
		}
	}
	visit(o.b.Assoc(RootAccount, "", ""), false)
	return ranks
}

func same(a, b float64) bool {
	return a == b || !math.IsInf(a, 0) && !math.IsInf(b, 0) && math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b))
}

func TestFairTreeAgainstAnotherCalculation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, used := randomTree(t)
		o := &oracle{b: b, used: used}
		for _, a := range b.Assocs {
			if a.User != "" {
				o.users++
			}
		}
		ranks := o.rank()
		all := o.raw(b.Assoc(RootAccount, "", ""))
		list := SharesOf(b, used, &partition.Priority{})
		if len(list) != len(b.Assocs) {
			t.Fatalf("%d shares of %d associations", len(list), len(b.Assocs))
		}
		for _, s := range list[1:] {
			a := s.Assoc
			near(t, a, "norm", s.Norm, o.norm(a))
			near(t, a, "effective", s.Effective, ratio(o.raw(a), o.raw(o.fair(a))))
			near(t, a, "normal", s.Normal, ratio(o.raw(a), all))
			if want := o.levelFS(a); o.own(a) && (s.Level == nil) != math.IsInf(want, 1) {
				t.Fatalf("%s: LevelFS %v, want %g", a, s.Level, want)
			} else if s.Level != nil {
				near(t, a, "level", s.Level, want)
			}
			if a.User != "" && int(s.Rank) != ranks[a] {
				t.Fatalf("%s: rank %d, want %d of %d", a, s.Rank, ranks[a], o.users)
			}
		}
	})
}

type float64er interface{ Float64() (float64, bool) }

func near(t *rapid.T, a *Association, what string, got float64er, want float64) {
	if x, _ := got.Float64(); !same(x, want) {
		t.Fatalf("%s: %s is %g, want %g", a, what, x, want)
	}
}

func TestClassicAgainstAnotherCalculation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, used := randomTree(t)
		o := &oracle{b: b, used: used}
		root := b.Assoc(RootAccount, "", "")
		all := o.raw(root)
		var norm, effective func(a *Association) float64
		norm = func(a *Association) float64 {
			up := o.fair(a)
			switch {
			case a == root:
				return 0
			case !o.own(a):
				return norm(up)
			case up == root:
				return o.norm(a)
			}
			return o.norm(a) * norm(up)
		}
		effective = func(a *Association) float64 {
			up := o.fair(a)
			u := ratio(o.raw(a), all)
			switch {
			case a == root:
				return 1
			case up == root:
				return u
			case !o.own(a) || !slices.ContainsFunc(o.below(up), func(c *Association) bool { return o.own(c) && c.Shares > 0 }):
				return effective(up)
			}
			return u + (effective(up)-u)*o.norm(a)
		}
		for _, s := range SharesOf(b, used, &partition.Priority{Classic: true, Damp: 2})[1:] {
			a := s.Assoc
			near(t, a, "norm", s.Norm, norm(a))
			near(t, a, "effective", s.Effective, effective(a))
			of := a
			if !o.own(a) {
				of = o.fair(a)
			}
			want := 0.0
			if n := norm(of); n > 0 && a.User != "" {
				want = math.Pow(2, -effective(of)/n/2)
			}
			if got := float64(s.Factor) / float64(One); math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s: fair share %g, want %g", a, got, want)
			}
		}
	})
}

// The example of the documents on Fair Tree: siblings who are equal share a rank.
func TestTiesShareARank(t *testing.T) {
	b := book(t, Change{User: &User{Name: "bob"}}, Change{Assoc: &Association{Account: "lab", User: "bob", Shares: 1}},
		Change{User: &User{Name: "eve"}}, Change{Assoc: &Association{Account: "lab", User: "eve", Shares: 1}})
	used := spentBy{{"lab", "ann"}: {Raw: Over(10, 1)}, {"lab", "bob"}: {Raw: Over(10, 1)}, {"lab", "eve"}: {Raw: Over(30, 1)}}
	got := map[string]uint32{}
	for _, s := range SharesOf(b, used, &partition.Priority{}) {
		if s.Assoc.User != "" {
			got[s.Assoc.User] = s.Rank
		}
	}
	if got["root"] != 4 || got["ann"] != 3 || got["bob"] != 3 || got["eve"] != 1 {
		t.Errorf("got %v", got)
	}
}
