package accounting

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"muster/partition"
)

// Share is the place of an association in the fair shares of a tree: the numbers of
// sshare(1). They are exact; whoever prints them divides.
type Share struct {
	Assoc *Association
	Depth int

	// Norm is NormShares: Fair Tree divides the shares by those of the level, the
	// classic formula goes on up to the root.
	Norm *big.Rat
	Used Usage // of an account: the sum of all below
	// Effective is EffectvUsage: with Fair Tree the part of what the account above
	// has used, with the classic formula the part that is held against it.
	Effective *big.Rat
	// Normal is NormUsage: the part of what all have used.
	Normal *big.Rat
	// Level is LevelFS of Fair Tree, Norm by Effective; nil is infinite.
	Level *big.Rat
	// Factor is FairShare, of users only.
	Factor Fraction
	// Rank is the place of a user with Fair Tree, the best has the number of users.
	Rank, Users uint32

	above    *Share   // the next one above that has shares of its own
	children []*Share // those whose above this one is
	level    int64    // sum of the shares of children
}

// Used is what has been used, by the names of an association or of a QOS.
type Used interface {
	Usage(account, user, partition, qos string) *Usage
}

// SharesOf works out the fair shares of all associations, in the order of the tree:
// an account, its users, the accounts in it. The rules are those of the documents
// on Fair Tree and on the classic fair-share algorithm (fair_tree, classic_fair_share
// of Slurm's documents).
func SharesOf(b *Book, used Used, p *partition.Priority) []*Share {
	t := &shareTree{}
	below := map[string][]*Association{}
	var root *Association
	for _, a := range b.Assocs {
		switch {
		case a.User != "":
			below[a.Account] = append(below[a.Account], a)
			t.users++
		case a.Account == RootAccount:
			root = a
		}
	}
	for _, a := range b.Assocs { // accounts come after the users of the one above
		if a.User == "" && a != root {
			below[a.Parent] = append(below[a.Parent], a)
		}
	}
	if root == nil {
		return nil
	}
	top := t.grow(root, nil, 0, below, used)
	t.measure(top)
	if p.Classic {
		t.classic(top, max(1, p.Damp))
	} else {
		t.fairTree(top)
	}
	return t.all
}

type shareTree struct {
	all   []*Share
	users uint32
}

// grow makes the shares of an association and all below it, and adds up their use.
func (t *shareTree) grow(a *Association, above *Share, depth int, below map[string][]*Association, used Used) *Share {
	s := &Share{Assoc: a, Depth: depth, Users: t.users, above: above}
	t.all = append(t.all, s)
	if a.User != "" {
		s.Used = *used.Usage(a.Account, a.User, a.Partition, "")
		return s
	}
	next := s
	if a.Shares == SharesOfParent && above != nil {
		next = above
	}
	for _, c := range below[a.Account] {
		child := t.grow(c, next, depth+1, below, used)
		next.children = append(next.children, child)
		if c.Shares != SharesOfParent {
			next.level += int64(c.Shares)
		}
		s.Used.Add(&child.Used)
	}
	return s
}

// measure sets the normal shares by level and the parts of use, as of Fair Tree.
func (t *shareTree) measure(top *Share) {
	top.Norm, top.Effective, top.Normal = new(big.Rat), big.NewRat(1, 1), new(big.Rat)
	all := top.Used.Raw.rat()
	for _, s := range t.all[1:] {
		s.Norm = new(big.Rat)
		switch {
		case s.Assoc.Shares == SharesOfParent:
			s.Norm.Set(s.above.Norm)
		case s.above.level > 0:
			s.Norm.SetFrac64(int64(s.Assoc.Shares), s.above.level)
		}
		s.Normal = part(s.Used.Raw.rat(), all)
		s.Effective = part(s.Used.Raw.rat(), s.above.Used.Raw.rat())
	}
}

// rat is the number of parts.
func (s Spent) rat() *big.Rat {
	n := new(big.Int).SetUint64(s.Hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(s.Lo))
	return new(big.Rat).SetInt(n)
}

// part is a/b; 0 if b is.
func part(a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(a, b)
}

// fairTree ranks the users: at each level by shares over use, and all below one
// account before all below the next.
func (t *shareTree) fairTree(top *Share) {
	for _, s := range t.all[1:] {
		if s.Assoc.Shares != SharesOfParent && s.Norm.Sign() == 0 {
			s.Level = new(big.Rat)
		} else if s.Assoc.Shares != SharesOfParent && s.Effective.Sign() > 0 {
			s.Level = new(big.Rat).Quo(s.Norm, s.Effective)
		}
	}
	top.Level = new(big.Rat)
	r := &ranking{rank: t.users, next: t.users}
	r.level(top.children, false)
}

// ranking gives out ranks: users who are equal have the same one, and the next gets
// what he would have without the tie.
type ranking struct{ rank, next uint32 }

// level ranks what is below one account. tied: the account is equal to what was
// ranked before it, and so its first user is. (The documents also say that what is
// below accounts that are equal is ranked as one; Slurm 26.05 ranks one account after
// the other, and so does this, to give the same numbers.)
func (r *ranking) level(list []*Share, tied bool) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Share) int {
		return cmp.Or(compareLevels(b, a), isAccount(a)-isAccount(b))
	})
	for i, s := range list {
		if i > 0 {
			tied = compareLevels(list[i-1], s) == 0
		}
		if s.Assoc.User == "" {
			r.level(s.children, tied)
			continue
		}
		if !tied {
			r.rank = r.next
		}
		s.Rank = r.rank
		s.Factor = fractionOf(uint64(s.Rank), uint64(s.Users))
		r.next--
	}
}

func isAccount(s *Share) int {
	if s.Assoc.User == "" {
		return 1
	}
	return 0
}

// fractionOf is a/b, at most One.
func fractionOf(a, b uint64) Fraction {
	if a >= b {
		return One
	}
	hi, lo := bits.Mul64(a, uint64(One))
	q, _ := bits.Div64(hi, lo, b)
	return Fraction(q)
}

// compareLevels orders by LevelFS, where users with their parent's shares are as if
// they had used nothing. (What is below an account with its parent's shares is ranked
// with its parent's, so where such an account itself stands does not matter.)
func compareLevels(a, b *Share) int {
	x, y := a.levelClass(), b.levelClass()
	if x != y || x != 0 {
		return x - y
	}
	return a.Level.Cmp(b.Level)
}

func (s *Share) levelClass() int {
	switch {
	case s.Level != nil:
		return 0
	case s.Assoc.Shares == SharesOfParent && s.Assoc.User == "":
		return 1
	}
	return 2
}

// classic works out the shares by the classic formula: 1/2 to the power of the
// effective use by the normal shares, with the power damped.
func (t *shareTree) classic(top *Share, damp uint32) {
	for _, s := range t.all[1:] {
		up, of := s.above, s
		switch {
		case s.Assoc.Shares == SharesOfParent:
			s.Norm, of = up.Norm, up
		case up != top:
			s.Norm = new(big.Rat).Mul(s.Norm, up.Norm)
		}
		switch {
		case up == top:
			s.Effective = s.Normal
		case of == up || up.level == 0:
			s.Effective = up.Effective
		default:
			rest := new(big.Rat).Sub(up.Effective, s.Normal)
			rest.Mul(rest, big.NewRat(int64(s.Assoc.Shares), up.level))
			s.Effective = rest.Add(rest, s.Normal)
		}
		if s.Assoc.User != "" && of.Norm.Sign() > 0 {
			x := new(big.Rat).Quo(of.Effective, of.Norm)
			s.Factor = halved(x.Quo(x, big.NewRat(int64(damp), 1)))
		}
	}
}

// halved is 1/2 to the power of a number from 0 up.
func halved(x *big.Rat) Fraction {
	const digits = 40 // binary, behind the point
	n := new(big.Int).Lsh(x.Num(), digits)
	n.Quo(n, x.Denom())
	whole := new(big.Int).Rsh(n, digits)
	if whole.Cmp(big.NewInt(63)) >= 0 {
		return 0
	}
	out := One
	root := new(big.Int).SetUint64(uint64(One) >> 1) // 1/2, then its square root, and so on
	for bit := digits - 1; bit >= 0; bit-- {
		root.Lsh(root, 63)
		root.Sqrt(root)
		if n.Bit(bit) != 0 {
			out = out.Times(Fraction(root.Uint64()))
		}
	}
	return out >> whole.Uint64()
}
