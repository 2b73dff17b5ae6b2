package admit

import (
	"fmt"
	"slices"

	"muster/accounting"
)

// coordination reads the accounts and users that sacctmgr add or delete coordinator
// is about. Either list may be empty.
func (b *bookChange) coordination() (accounts, users []string, err error) {
	list := append(slices.Clone(b.req.Where), b.req.Set...)
	also, _ := take(&list, "name", 1)
	more, _ := take(&list, "user", 1)
	accounts, _ = take(&list, "account", 1)
	if len(list) > 0 {
		return nil, nil, invalid(fmt.Sprintf(" Unknown condition: %s=%s", list[0].Name, list[0].Value))
	}
	users = append(b.names(also...), more...)
	for _, name := range accounts {
		if b.book.Account(name) == nil {
			return nil, nil, invalid(fmt.Sprintf(" You specified a non-existent account '%s'.", name))
		}
	}
	for _, name := range users {
		if b.book.User(name) == nil {
			return nil, nil, invalid(fmt.Sprintf(" You specified a non-existent user '%s'.", name))
		}
	}
	return accounts, users, nil
}

// addCoordinators is sacctmgr add coordinator.
func (b *bookChange) addCoordinators() error {
	accounts, users, err := b.coordination()
	switch {
	case err != nil:
		return err
	case len(users) == 0:
		return invalid(" You need to specify a user list here.")
	case len(accounts) == 0:
		return invalid(" You need to specify an account list here.")
	}
	b.printf(" Adding Coordinator User(s)\n")
	for _, name := range users {
		b.printf("  %s\n", name)
	}
	b.printf(" To Account(s) and all sub-accounts\n")
	for _, name := range accounts {
		b.printf("  %s\n", name)
		next := *b.book.Account(name)
		next.Coordinators = append(slices.Clone(next.Coordinators), users...)
		slices.Sort(next.Coordinators)
		next.Coordinators = slices.Compact(next.Coordinators)
		b.put(accounting.Change{Account: &next})
	}
	return nil
}

// deleteCoordinators is sacctmgr delete coordinator: users from accounts, all users
// from accounts, or users from all accounts.
func (b *bookChange) deleteCoordinators() error {
	accounts, users, err := b.coordination()
	switch {
	case err != nil:
		return err
	case len(users) == 0 && len(accounts) == 0:
		return invalid(" You need to specify a user list or account list here.")
	}
	say := func(head string, names []string) {
		b.printf(" %s\n", head)
		for _, name := range names {
			b.printf("  %s\n", name)
		}
	}
	switch {
	case len(users) == 0:
		say("Removing all users from Accounts", accounts)
	case len(accounts) == 0:
		say("Removing Coordinators with user name", users)
		b.printf(" From all accounts\n")
	default:
		say("Removing Coordinators with user name", users)
		say("From Account(s)", accounts)
	}
	var lines string
	for _, a := range b.book.Accounts {
		if len(accounts) > 0 && !slices.Contains(accounts, a.Name) {
			continue
		}
		next := *a
		next.Coordinators = nil
		for _, name := range a.Coordinators {
			if len(users) > 0 && !slices.Contains(users, name) {
				next.Coordinators = append(next.Coordinators, name)
				continue
			}
			lines += fmt.Sprintf("  U = %-9s A = %-10s\n", name, a.Name)
		}
		if len(next.Coordinators) != len(a.Coordinators) {
			b.put(accounting.Change{Account: &next})
		}
	}
	if len(b.changes) == 0 {
		b.printf(" Nothing removed\n")
		return nil
	}
	b.printf(" Removed Coordinators (sub accounts not listed)...\n%s", lines)
	return nil
}

// withinCoordination tells whether a coordinator may make the changes: of accounts
// below those that the user coordinates, their coordinators, and associations in them
// (sacctmgr(1), Coordinator). Not of the account itself, of QOS, or of rights.
func (b *bookChange) withinCoordination(user string) bool {
	below := func(a *accounting.Association) bool {
		if a.User != "" {
			return b.book.Coordinates(user, a.Account)
		}
		return b.book.Coordinates(user, a.Parent)
	}
	// Accounts that are being made have their place among the changes.
	places := map[string]*accounting.Association{}
	for i := range b.changes {
		if a := b.changes[i].Assoc; a != nil && a.User == "" {
			places[a.Account] = a
		}
	}
	for i := range b.changes {
		c := &b.changes[i]
		ok := false
		switch {
		case c.Assoc != nil:
			old := b.book.Assoc(c.Assoc.Account, c.Assoc.User, c.Assoc.Partition)
			ok = below(c.Assoc) && (old == nil || below(old))
		case c.Account != nil:
			place := b.book.Assoc(c.Account.Name, "", "")
			if place == nil {
				place = places[c.Account.Name]
			}
			ok = place != nil && below(place)
		case c.User != nil:
			old := b.book.User(c.User.Name)
			ok = c.User.Admin == accounting.AdminNone && (c.Delete || old == nil || old.Admin == accounting.AdminNone)
		}
		if !ok {
			return false
		}
	}
	return true
}
