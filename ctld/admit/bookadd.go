package admit

import (
	"fmt"
	"slices"

	"muster/accounting"
	"muster/api"
)

// addAccounts is sacctmgr add account.
func (b *bookChange) addAccounts() error {
	set := b.req.Set
	also, _ := take(&set, "name", 1)
	parents, _ := take(&set, "parent", 1)
	a := accounting.Association{Parent: accounting.RootAccount, Shares: 1}
	if len(parents) > 0 {
		a.Parent = parents[0]
	}
	if b.book.Account(a.Parent) == nil {
		return invalid(fmt.Sprintf(" error: No parent account '%s' on cluster '%s'", a.Parent, b.cluster))
	}
	names := b.names(also...)
	if len(names) == 0 {
		return invalid(" Need name of account to add.")
	}
	var account accounting.Account
	known := ""
	for _, p := range set {
		if setAccountText(&account, p) {
			continue
		}
		if err := b.setAssoc(&a, p); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := checkName("an account", name); err != nil {
			return err
		}
		if b.book.Account(name) != nil {
			known += fmt.Sprintf(" Already existing account %s on cluster %s\n", name, b.cluster)
			continue
		}
		one, place := account, a
		one.Name, place.Account = name, name
		one.Description, one.Organization = orName(one.Description, name), orName(one.Organization, orName(a.Parent, name))
		if len(b.changes) == 0 {
			b.printf(" Adding Account(s)\n")
		}
		b.printf("  %s\n", name)
		b.put(accounting.Change{Account: &one})
		b.put(accounting.Change{Assoc: &place})
	}
	if b.printf("%s", known); len(b.changes) == 0 {
		return nil
	}
	b.printf(" Settings\n  Description     = %s\n  Organization    = %s\n Associations =\n", orName(account.Description, "Account Name"), orName(account.Organization, "Parent/Account Name"))
	for _, c := range b.changes {
		if c.Assoc != nil {
			b.printf("  %s\n", b.line(c.Assoc))
		}
	}
	if len(parents) > 0 {
		b.printf(" Settings\n  Parent        = %s\n", a.Parent)
	}
	return nil
}

func orName(text, name string) string {
	if text == "" || text == accounting.RootAccount {
		return name
	}
	return text
}

// setAccountText sets what an account itself has.
func setAccountText(a *accounting.Account, p api.Pair) bool {
	switch {
	case isField(p.Name, "description", 1):
		a.Description = p.Value
	case isField(p.Name, "organization", 1):
		a.Organization = p.Value
	default:
		return false
	}
	return true
}

// addUsers is sacctmgr add user.
func (b *bookChange) addUsers() error {
	set := b.req.Set
	also, _ := take(&set, "name", 1)
	accounts, _ := take(&set, "account", 2)
	partitions, _ := take(&set, "partition", 2)
	defaults, _ := take(&set, "defaultaccount", 8)
	a, u := accounting.Association{Shares: 1}, accounting.User{}
	for _, p := range set {
		if isField(p.Name, "adminlevel", 2) {
			if err := setAdmin(&u, p); err != nil {
				return err
			}
		} else if err := b.setAssoc(&a, p); err != nil {
			return err
		}
	}
	if len(defaults) > 0 {
		u.Default = defaults[0]
		if !slices.Contains(accounts, u.Default) {
			accounts = append(accounts, u.Default)
		}
	}
	names := b.names(also...)
	switch {
	case len(names) == 0:
		return invalid(" Need name of user to add.")
	case len(accounts) == 0:
		return invalid(" Need name of account or wckey to add.")
	}
	for _, name := range accounts {
		if b.book.Account(name) == nil {
			return invalid(fmt.Sprintf("No account %s on cluster %s, skipping.\n%s", name, b.cluster, textNothingAdded))
		}
	}
	if len(partitions) == 0 {
		partitions = []string{""}
	}
	return b.addAssocs(names, accounts, partitions, &a, &u)
}

func (b *bookChange) addAssocs(names, accounts, partitions []string, like *accounting.Association, who *accounting.User) error {
	var fresh []string
	var lines string
	for _, name := range names {
		if err := checkName("a user", name); err != nil {
			return err
		}
		u := *who
		if b.book.User(name) == nil {
			u.Name, u.Default = name, orName(u.Default, accounts[0])
			fresh = append(fresh, name)
			b.put(accounting.Change{User: &u})
		}
		for _, account := range accounts {
			for _, partition := range partitions {
				if b.book.Assoc(account, name, partition) != nil {
					continue
				}
				a := *like
				a.Account, a.User, a.Partition = account, name, partition
				b.put(accounting.Change{Assoc: &a})
				lines += "  " + b.line(&a) + "\n"
			}
		}
	}
	if len(b.changes) == 0 {
		b.printf("Request didn't affect anything\n%s\n", textNothingAdded)
		return nil
	}
	if len(fresh) > 0 {
		b.printf(" Adding User(s)\n")
		for _, name := range fresh {
			b.printf("  %s\n", name)
		}
		b.printf(" Settings\n")
	}
	if who.Default != "" {
		b.printf("  Default Account = %s\n", who.Default)
	}
	b.printf(" Associations =\n%s", lines)
	return nil
}

// textNothingAdded is Slurm's last word where no association came about.
const textNothingAdded = "Nothing added.\nMake sure the accounts requested here have been added to the system/cluster. (sacctmgr add account...)"

// line names an association as sacctmgr does.
func (b *bookChange) line(a *accounting.Association) string {
	s := fmt.Sprintf("C = %-10s A = %-20s", b.cluster, a.Account)
	if a.User != "" {
		s += fmt.Sprintf(" U = %-9s", a.User)
	}
	if a.Partition != "" {
		s += " P = " + a.Partition
	}
	return s
}

// addQOS is sacctmgr add qos.
func (b *bookChange) addQOS() error {
	set := b.req.Set
	also, _ := take(&set, "name", 1)
	var q accounting.QOS
	for _, p := range set {
		if err := setQOSField(&q, p); err != nil {
			return err
		}
	}
	names := b.names(also...)
	if len(names) == 0 {
		return invalid(" Need name of qos to add.")
	}
	for _, name := range names {
		if err := checkName("a QOS", name); err != nil {
			return err
		}
		if b.book.QOSNamed(name) != nil {
			continue
		}
		one := q
		one.Name, one.Description = name, orName(q.Description, name)
		if len(b.changes) == 0 {
			b.printf(" Adding QOS(s)\n")
		}
		b.printf("  %s\n", name)
		b.put(accounting.Change{QOS: &one})
	}
	if len(b.changes) == 0 {
		b.printf(" Nothing new added.\n")
		return nil
	}
	b.printf(" Settings\n  Description    = %s\n", orName(q.Description, b.changes[0].QOS.Name))
	for _, p := range set {
		if !isField(p.Name, "description", 1) {
			b.printf("  %-24s = %s\n", fullName(p.Name), p.Value)
		}
	}
	return nil
}
