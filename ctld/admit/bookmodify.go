package admit

import (
	"fmt"
	"slices"
	"strings"

	"muster/accounting"
	"muster/api"
)

// conditions are which records a modify or delete is about.
type conditions struct{ names, accounts, partitions []string }

func (b *bookChange) conditions() (conditions, error) {
	where := b.req.Where
	also, _ := take(&where, "name", 1)
	c := conditions{names: b.names(also...)}
	c.accounts, _ = take(&where, "account", 1)
	if b.req.Entity == "account" {
		c.names, c.accounts = append(c.names, c.accounts...), nil
	} else if users, ok := take(&where, "user", 1); ok {
		c.names = append(c.names, users...)
	}
	c.partitions, _ = take(&where, "partition", 1)
	if len(where) > 0 {
		return c, invalid(fmt.Sprintf(" Unknown condition: %s=%s", where[0].Name, where[0].Value))
	}
	if len(c.names) == 0 && len(c.accounts) == 0 {
		return c, invalid(" Without a condition this would be for all: name what is meant")
	}
	return c, nil
}

// matches tells whether an association is meant.
func (c *conditions) matches(a *accounting.Association, entity string) bool {
	if entity == "account" {
		return a.User == "" && slices.Contains(c.names, a.Account)
	}
	return a.User != "" && (len(c.names) == 0 || slices.Contains(c.names, a.User)) &&
		(len(c.accounts) == 0 || slices.Contains(c.accounts, a.Account)) &&
		(len(c.partitions) == 0 || slices.Contains(c.partitions, a.Partition))
}

// modifyAssocs is sacctmgr modify account and modify user.
func (b *bookChange) modifyAssocs() error {
	c, err := b.conditions()
	if err != nil {
		return err
	}
	var own, assoc []api.Pair // of the account or user itself, and of its associations
	for _, p := range b.req.Set {
		switch {
		case b.req.Entity == "account" && setAccountText(&accounting.Account{}, p),
			b.req.Entity == "user" && (isField(p.Name, "adminlevel", 2) || isField(p.Name, "defaultaccount", 8)):
			own = append(own, p)
		default:
			assoc = append(assoc, p)
		}
	}
	if len(own)+len(assoc) == 0 {
		return invalid(" You didn't give me anything to set")
	}
	if len(own) > 0 {
		if err := b.modifyOwn(&c, own); err != nil {
			return err
		}
	}
	if len(assoc) == 0 {
		return nil
	}
	b.printf(" Modified %s associations...\n", b.req.Entity)
	before := len(b.changes)
	for _, a := range b.book.Assocs {
		if !c.matches(a, b.req.Entity) {
			continue
		}
		next := *a
		for _, p := range assoc {
			if err := b.setAssoc(&next, p); err != nil {
				return err
			}
		}
		b.put(accounting.Change{Assoc: &next})
		b.modified(a, &next)
	}
	if len(b.changes) == before {
		// Options are judged even if nothing has them.
		for _, p := range assoc {
			if err := b.setAssoc(&accounting.Association{}, p); err != nil {
				return err
			}
		}
		b.printf("  Nothing modified\n")
	}
	return nil
}

// modified names an association that changes, and those below it that inherit a
// limit which it gets or loses.
func (b *bookChange) modified(a, next *accounting.Association) {
	line := strings.TrimRight(b.line(next), " ")
	if a.User == "" && a.Parent != "" {
		b.printf("  %s of %s\n", line, a.Parent)
	} else {
		b.printf("  %s\n", b.line(next))
	}
	inherits := accounting.Inherited(&a.Limits, &next.Limits)
	if a.User != "" || !inherits(nil) {
		return
	}
	var visit func(account string)
	visit = func(account string) {
		for _, below := range b.book.Below(account) {
			if inherits(&below.Limits) {
				b.printf("  %s\n", b.line(below))
				if below.User == "" {
					visit(below.Account)
				}
			}
		}
	}
	visit(a.Account)
}

// modifyOwn changes accounts or users themselves.
func (b *bookChange) modifyOwn(c *conditions, set []api.Pair) error {
	b.printf(" Modified %ss...\n", b.req.Entity)
	before := len(b.changes)
	for _, name := range c.names {
		if a := b.book.Account(name); a != nil && b.req.Entity == "account" {
			next := *a
			for _, p := range set {
				setAccountText(&next, p)
			}
			b.put(accounting.Change{Account: &next})
			b.printf("  %s\n", name)
		}
		if u := b.book.User(name); u != nil && b.req.Entity == "user" {
			next := *u
			for _, p := range set {
				if isField(p.Name, "defaultaccount", 8) {
					next.Default = strings.ToLower(p.Value)
				} else if err := setAdmin(&next, p); err != nil {
					return err
				}
			}
			b.put(accounting.Change{User: &next})
			b.printf("  %s\n", name)
		}
	}
	if len(b.changes) == before {
		b.printf("  Nothing modified\n")
	}
	return nil
}

// modifyQOS is sacctmgr modify qos.
func (b *bookChange) modifyQOS() error {
	c, err := b.conditions()
	if err != nil {
		return err
	}
	b.printf(" Modified qos...\n")
	for _, name := range c.names {
		q := b.book.QOSNamed(name)
		if q == nil {
			continue
		}
		next := *q
		for _, p := range b.req.Set {
			if err := setQOSField(&next, p); err != nil {
				return err
			}
		}
		b.put(accounting.Change{QOS: &next})
		b.printf("  %s\n", name)
	}
	if len(b.changes) == 0 {
		b.printf("  Nothing modified\n")
	}
	return nil
}

// deleteUsers is sacctmgr delete user: whole users, or, with account or
// partition, some of their associations. A user goes with his last association.
func (b *bookChange) deleteUsers() error {
	c, err := b.conditions()
	if err != nil {
		return err
	}
	whole := len(c.accounts) == 0 && len(c.partitions) == 0
	var lines string
	for _, a := range b.book.Assocs {
		if c.matches(a, "user") {
			b.put(accounting.Change{Delete: true, Assoc: a})
			lines += "  " + b.line(a) + "\n"
		}
	}
	gone := b.dropUsers()
	switch {
	case len(b.changes) == 0:
		b.printf(" Nothing deleted\n")
	case whole:
		b.printf(" Deleting users...\n")
		for _, name := range gone {
			b.printf("  %s\n", name)
		}
	default:
		b.printf(" Deleting user associations...\n%s", lines)
	}
	return nil
}

// dropUsers deletes the users that the changes so far leave without any
// association; they coordinate nothing any more.
func (b *bookChange) dropUsers() []string {
	var gone []string
	for _, u := range b.book.Users {
		lost := 0
		for i := range b.changes {
			if a := b.changes[i].Assoc; a != nil && b.changes[i].Delete && a.User == u.Name {
				lost++
			}
		}
		if lost > 0 && lost == len(b.book.OfUser(u.Name)) {
			b.put(accounting.Change{Delete: true, User: u})
			gone = append(gone, u.Name)
		}
	}
	for _, a := range b.book.Accounts {
		left := slices.DeleteFunc(slices.Clone(a.Coordinators), func(name string) bool { return slices.Contains(gone, name) })
		goes := slices.ContainsFunc(b.changes, func(c accounting.Change) bool { return c.Delete && c.Account == a })
		if len(left) < len(a.Coordinators) && !goes {
			next := *a
			next.Coordinators = left
			b.put(accounting.Change{Account: &next})
		}
	}
	return gone
}

// deleteAccounts is sacctmgr delete account. An account with others below it
// stays until they are gone.
func (b *bookChange) deleteAccounts() error {
	c, err := b.conditions()
	if err != nil {
		return err
	}
	for _, name := range c.names {
		if name == accounting.RootAccount {
			return invalid(" Error with request: the account root cannot be deleted")
		}
		a := b.book.Account(name)
		if a == nil {
			continue
		}
		for _, below := range b.book.Below(name) {
			if below.User == "" && !slices.Contains(c.names, below.Account) {
				return invalid(fmt.Sprintf(" Error with request: account %s has accounts below it: %s", name, below.Account))
			}
		}
		if len(b.changes) == 0 {
			b.printf(" Deleting accounts...\n")
		}
		b.printf("  %s\n", name)
		b.put(accounting.Change{Delete: true, Account: a})
		for _, x := range b.book.Assocs {
			if x.Account == name {
				b.put(accounting.Change{Delete: true, Assoc: x})
			}
		}
	}
	b.dropUsers()
	if len(b.changes) == 0 {
		b.printf(" Nothing deleted\n")
	}
	return nil
}

// deleteQOS is sacctmgr delete qos: associations lose it, too.
func (b *bookChange) deleteQOS() error {
	c, err := b.conditions()
	if err != nil {
		return err
	}
	for _, name := range c.names {
		if q := b.book.QOSNamed(name); q != nil {
			if len(b.changes) == 0 {
				b.printf(" Deleting QOS(s)...\n")
			}
			b.printf("  %s\n", name)
			b.put(accounting.Change{Delete: true, QOS: q})
		}
	}
	if len(b.changes) == 0 {
		b.printf("  Nothing deleted\n")
		return nil
	}
	for _, a := range b.book.Assocs {
		next := *a
		next.QOS = slices.DeleteFunc(slices.Clone(a.QOS), func(q string) bool { return slices.Contains(c.names, strings.TrimLeft(q, "+-")) })
		if slices.Contains(c.names, a.Default) {
			next.Default = ""
		}
		if len(next.QOS) != len(a.QOS) || next.Default != a.Default {
			b.put(accounting.Change{Assoc: &next})
		}
	}
	return nil
}
