package accounting

import (
	"slices"
	"strings"

	"muster/partition"
)

// RootAccount is the account at the top of the tree.
const RootAccount = "root"

// DefaultQOS is the QOS that every new cluster has.
const DefaultQOS = "normal"

// Book is everything that admins have said about who may use what. A book is
// immutable: With makes the next one. Its lists are sorted by name, the
// associations by account, user and partition.
type Book struct {
	Serial   uint64 // counts the changes; 0: nothing was ever set up
	Accounts []*Account
	Users    []*User
	Assocs   []*Association
	QOS      []*QOS
}

// Account is a node of the account tree (sacctmgr(1), Account). Its place in the
// tree and its limits are those of its association without a user.
type Account struct {
	Name         string
	Description  string
	Organization string
	Coordinators []string // users who manage it and what is below it (sacctmgr(1), Coordinator)
}

// User is a user that may have associations (sacctmgr(1), User).
type User struct {
	Name    string
	Default string // account of jobs that name none
	Admin   AdminLevel
}

// AdminLevel says what a user may change (sacctmgr(1), AdminLevel).
type AdminLevel uint8

// The levels.
const (
	AdminNone AdminLevel = iota
	Operator
	Administrator
)

// String is the level's name.
func (l AdminLevel) String() string {
	return [...]string{"None", "Operator", "Administrator"}[min(l, Administrator)]
}

// Association binds a user to an account, or, without a user, is the account's
// own: what holds for all below it.
type Association struct {
	Account   string
	User      string // "": the account's own
	Partition string // "": all partitions
	Parent    string // of an account's own: the account above; "" for root
	Shares    uint32 // Fairshare; SharesOfParent: as if it were its parent
	Priority  Bound
	QOS       []string // names; with + or - before them they change what the parent has
	Default   string   // DefaultQOS
	Limits    Limits
}

// SharesOfParent is the number of shares of an association that uses those of
// its parent (Fairshare=parent).
const SharesOfParent uint32 = 0x7fffffff

// QOS is a quality of service (sacctmgr(1), QOS).
type QOS struct {
	Name        string
	Description string
	Priority    uint32
	Flags       QOSFlags
	UsageFactor Bound // in thousandths: how use in the QOS counts; none: 1
	Limits      Limits
	// PerUser and PerAccount bound what all jobs in the QOS of one user, or of
	// one account, hold.
	PerUser, PerAccount Part
	MinTRES             Amounts
	// Preempt lists the QOS whose jobs make room for jobs of this one.
	Preempt     []string
	PreemptMode partition.PreemptMode // what happens to a job of this QOS that makes room
	GraceTime   uint32                // seconds between the notice to such a job and its end
	Exempt      Bound                 // seconds that a job of this QOS runs before it may be preempted
}

// Part bounds what a part of the jobs of a QOS hold.
type Part struct {
	Jobs, Submit Bound
	TRES         Amounts
}

// Initial is the book of a new cluster.
func Initial() *Book {
	return &Book{
		Serial:   1,
		Accounts: []*Account{{Name: RootAccount, Description: "default root account", Organization: "root"}},
		Users:    []*User{{Name: "root", Default: RootAccount, Admin: Administrator}},
		Assocs: []*Association{
			{Account: RootAccount, Shares: 1, QOS: []string{DefaultQOS}},
			{Account: RootAccount, User: "root", Shares: 1},
		},
		QOS: []*QOS{{Name: DefaultQOS, Description: "Normal QOS default"}},
	}
}

// Account finds an account; nil if there is none.
func (b *Book) Account(name string) *Account { return find(b.Accounts, [3]string{name}) }

// User finds a user; nil if there is none.
func (b *Book) User(name string) *User { return find(b.Users, [3]string{name}) }

// QOSNamed finds a QOS; nil if there is none.
func (b *Book) QOSNamed(name string) *QOS { return find(b.QOS, [3]string{name}) }

// Assoc finds an association by all three names; nil if there is none.
func (b *Book) Assoc(account, user, partition string) *Association {
	return find(b.Assocs, [3]string{account, user, partition})
}

// Of finds the association that holds for a job: the one for its partition if
// there is one, else the one for all partitions.
func (b *Book) Of(account, user, partition string) *Association {
	if partition != "" {
		if a := b.Assoc(account, user, partition); a != nil {
			return a
		}
	}
	return b.Assoc(account, user, "")
}

// OfUser lists all associations of a user, by account.
func (b *Book) OfUser(user string) []*Association {
	var out []*Association
	for _, a := range b.Assocs {
		if a.User == user && user != "" {
			out = append(out, a)
		}
	}
	return out
}

// Above is the association that an association inherits from; nil for that of
// the account root.
func (b *Book) Above(a *Association) *Association {
	if a.User != "" {
		return b.Assoc(a.Account, "", "")
	}
	if a.Parent == "" {
		return nil
	}
	return b.Assoc(a.Parent, "", "")
}

// Below lists the associations right below an account's own: its users, then
// the accounts in it, each by name.
func (b *Book) Below(account string) []*Association {
	var users, accounts []*Association
	for _, a := range b.Assocs {
		switch {
		case a.User != "" && a.Account == account:
			users = append(users, a)
		case a.User == "" && a.Parent == account && a.Account != RootAccount:
			accounts = append(accounts, a)
		}
	}
	return append(users, accounts...)
}

// Within tells whether an account is another one or somewhere below it.
func (b *Book) Within(account, top string) bool {
	for n := 0; account != "" && n <= len(b.Assocs); n++ {
		if account == top {
			return true
		}
		a := b.Assoc(account, "", "")
		if a == nil {
			return false
		}
		account = a.Parent
	}
	return false
}

// Coordinates tells whether a user is a coordinator of an account or of one above it.
func (b *Book) Coordinates(user, account string) bool {
	for n := 0; user != "" && account != "" && n <= len(b.Assocs); n++ {
		if a := b.Account(account); a != nil && slices.Contains(a.Coordinators, user) {
			return true
		}
		own := b.Assoc(account, "", "")
		if own == nil {
			return false
		}
		account = own.Parent
	}
	return false
}

// Coordinated lists the accounts that a user coordinates by name, without those below.
func (b *Book) Coordinated(user string) []*Account {
	var out []*Account
	for _, a := range b.Accounts {
		if slices.Contains(a.Coordinators, user) {
			out = append(out, a)
		}
	}
	return out
}

// Allowed lists the QOS that an association may use, by name: its own list, or
// that of what is above it changed by its + and -.
func (b *Book) Allowed(a *Association) []string {
	if a == nil {
		return nil
	}
	var list []string
	if len(a.QOS) == 0 || strings.ContainsAny(a.QOS[0][:1], "+-") {
		list = b.Allowed(b.Above(a))
	}
	for _, q := range a.QOS {
		name := strings.TrimLeft(q, "+-")
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
		if q[0] != '-' {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// DefaultOf is the QOS of jobs of an association that name none: its DefaultQOS,
// or the next one above; else normal if it may use that, else its only one.
func (b *Book) DefaultOf(a *Association) string {
	for up := a; up != nil; up = b.Above(up) {
		if up.Default != "" {
			return up.Default
		}
	}
	list := b.Allowed(a)
	switch {
	case slices.Contains(list, DefaultQOS):
		return DefaultQOS
	case len(list) > 0:
		return list[0]
	}
	return ""
}

// entity is what the lists of a book hold.
type entity interface{ key() [3]string }

func (a *Account) key() [3]string     { return [3]string{a.Name} }
func (u *User) key() [3]string        { return [3]string{u.Name} }
func (q *QOS) key() [3]string         { return [3]string{q.Name} }
func (a *Association) key() [3]string { return [3]string{a.Account, a.User, a.Partition} }

func order[E entity](a, b E) int { return byKey(a, b.key()) }

func byKey[E entity](a E, key [3]string) int {
	own := a.key()
	for i := range own {
		if c := strings.Compare(own[i], key[i]); c != 0 {
			return c
		}
	}
	return 0
}

// find looks an entity up by its key; it allocates nothing, since the planner asks
// for each job.
func find[E entity](list []E, key [3]string) E {
	if i, ok := slices.BinarySearchFunc(list, key, byKey[E]); ok {
		return list[i]
	}
	var none E
	return none
}
