package accounting

import (
	"fmt"
	"slices"
	"strings"
)

// Change puts one record into the book, in place of that of the same name if
// there is one, or deletes it. Exactly one of the records is set.
type Change struct {
	Delete  bool
	Account *Account
	User    *User
	Assoc   *Association
	QOS     *QOS
}

// With is the book after some changes, which are all made or none. What the
// records name must be there after the last of them.
func (b *Book) With(changes []Change) (*Book, error) {
	next := &Book{
		Serial: b.Serial + 1, Accounts: slices.Clone(b.Accounts), Users: slices.Clone(b.Users),
		Assocs: slices.Clone(b.Assocs), QOS: slices.Clone(b.QOS),
	}
	for i := range changes {
		if err := next.change(&changes[i]); err != nil {
			return nil, err
		}
	}
	return next, next.check()
}

func (b *Book) change(c *Change) error {
	switch {
	case c.Account != nil:
		return replace(&b.Accounts, c.Account, c.Delete)
	case c.User != nil:
		return replace(&b.Users, c.User, c.Delete)
	case c.Assoc != nil:
		return replace(&b.Assocs, c.Assoc, c.Delete)
	case c.QOS != nil:
		return replace(&b.QOS, c.QOS, c.Delete)
	}
	return fmt.Errorf("a change of nothing")
}

func replace[E entity](list *[]E, e E, remove bool) error {
	at, found := slices.BinarySearchFunc(*list, e, order[E])
	switch {
	case e.key()[0] == "":
		return fmt.Errorf("a record without a name")
	case remove && !found:
		return fmt.Errorf("%s is not there to be deleted", strings.Trim(strings.Join(slices.Collect(slices.Values(keyOf(e))), "/"), "/"))
	case remove:
		*list = slices.Delete(*list, at, at+1)
	case found:
		(*list)[at] = e
	default:
		*list = slices.Insert(*list, at, e)
	}
	return nil
}

func keyOf[E entity](e E) []string {
	k := e.key()
	return k[:]
}

// check refuses a book in which a record names what is not there.
func (b *Book) check() error {
	for _, a := range b.Accounts {
		if b.Assoc(a.Name, "", "") == nil {
			return fmt.Errorf("account %s has no place in the tree", a.Name)
		}
		for _, name := range a.Coordinators {
			if b.User(name) == nil {
				return fmt.Errorf("account %s: its coordinator %s is no user", a.Name, name)
			}
		}
	}
	for _, u := range b.Users {
		if u.Default != "" && !b.belongs(u.Name, u.Default) {
			return fmt.Errorf("user %s is not in account %s, his default", u.Name, u.Default)
		}
	}
	for _, a := range b.Assocs {
		if err := b.checkAssoc(a); err != nil {
			return err
		}
	}
	for _, q := range b.QOS {
		for _, n := range q.Preempt {
			if b.QOSNamed(n) == nil {
				return fmt.Errorf("QOS %s would preempt jobs of QOS %s, which is not there", q.Name, n)
			}
		}
	}
	return nil
}

// belongs tells whether a user has an association in an account, for whatever
// partition.
func (b *Book) belongs(user, account string) bool {
	at, _ := slices.BinarySearchFunc(b.Assocs, [3]string{account, user}, byKey[*Association])
	return at < len(b.Assocs) && b.Assocs[at].Account == account && b.Assocs[at].User == user
}

func (b *Book) checkAssoc(a *Association) error {
	switch {
	case b.Account(a.Account) == nil:
		return fmt.Errorf("there is no account %s", a.Account)
	case a.User != "" && b.User(a.User) == nil:
		return fmt.Errorf("there is no user %s", a.User)
	case a.User == "" && a.Account == RootAccount && a.Parent != "":
		return fmt.Errorf("account root has no parent")
	case a.User == "" && a.Account != RootAccount && !b.Within(a.Parent, RootAccount):
		return fmt.Errorf("account %s: its parent %q is not in the tree", a.Account, a.Parent)
	case a.User == "" && a.Account != RootAccount && b.Within(a.Parent, a.Account):
		return fmt.Errorf("account %s would be below itself", a.Account)
	}
	for _, q := range append(slices.Clone(a.QOS), a.Default) {
		if name := strings.TrimLeft(q, "+-"); name != "" && b.QOSNamed(name) == nil {
			return fmt.Errorf("there is no QOS %s", name)
		}
	}
	return nil
}
