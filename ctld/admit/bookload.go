package admit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/api"
	"muster/ctld/treefile"
)

// loader makes the changes that sacctmgr load needs: those that turn the present book
// into one that has all that the file says. Unlike Slurm, which stops half-way at a
// line that is wrong, all of the file is taken or nothing.
type loader struct {
	b      *bookChange
	parent string // the account that the lines belong to
	seen   map[[3]string]bool
	// What the changes so far put, by name.
	accounts map[string]*accounting.Account
	users    map[string]*accounting.User
	assocs   map[[3]string]*accounting.Association
	order    []func() accounting.Change
	// Who is to coordinate what, by the lines so far.
	coordinators []coordination
}

// loadBook is sacctmgr load: the file's text is in the request; where may name the
// cluster that stands in the file, and "clean" among the names deletes what the file
// does not have.
func (b *bookChange) loadBook() error {
	lines, err := treefile.Parse(b.req.Text)
	if err != nil {
		return invalid(" " + err.Error())
	}
	l := &loader{b: b, seen: map[[3]string]bool{}, accounts: map[string]*accounting.Account{}, users: map[string]*accounting.User{}, assocs: map[[3]string]*accounting.Association{}}
	lines, err = l.takeQOS(lines)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(lines, func(x treefile.Line) bool { return x.Kind == "Cluster" })
	if at != 0 {
		return invalid(" You need to specify a cluster name first with 'Cluster - $NAME' in your file")
	}
	if name := strings.ToLower(lines[0].Name); name != b.cluster && !slices.Contains(b.req.Names, "cluster="+b.cluster) {
		return invalid(fmt.Sprintf(" The file is of cluster %s, this is %s: give cluster=%s to load it here", name, b.cluster, b.cluster))
	}
	b.printf("For cluster %s\n", b.cluster)
	for i := range lines {
		if err := l.take(&lines[i]); err != nil {
			return invalid(fmt.Sprintf("%s\n Problem with line(%d)", strings.TrimRight(err.Error(), "\n"), lines[i].Number))
		}
	}
	if err := l.coordinate(); err != nil {
		return err
	}
	for _, c := range l.order {
		b.put(c())
	}
	if slices.Contains(b.req.Names, "clean") {
		l.clean()
	}
	if b.settled = true; len(b.changes) == 0 {
		b.printf(" Nothing new added.\n")
	}
	return nil
}

// takeQOS takes the lines of QOS, which the others name, and works on from the book
// that has them. Those that are there stay as they are, as in Slurm.
func (l *loader) takeQOS(lines []treefile.Line) (rest []treefile.Line, err error) {
	b := l.b
	for i := range lines {
		x := &lines[i]
		if x.Kind != "QOS" {
			rest = append(rest, *x)
			continue
		}
		name := strings.ToLower(x.Name)
		if err := checkName("a QOS", name); err != nil {
			return nil, err
		}
		if b.book.QOSNamed(name) != nil {
			continue
		}
		q := &accounting.QOS{Name: name, Description: name}
		for _, p := range pairs(x) {
			if p.Name == "preemptexempttime" { // seconds here, minutes where it is typed
				n, err := strconv.ParseUint(p.Value, 10, 31)
				if err != nil {
					return nil, lineError(x, value(p, err))
				}
				q.Exempt = accounting.AtMost(n)
				continue
			}
			if err := setQOSField(q, p); err != nil {
				return nil, lineError(x, err)
			}
		}
		b.printf(" Adding QOS        %s\n", name)
		b.put(accounting.Change{QOS: q})
	}
	if b.book, err = b.book.With(b.changes); err != nil {
		return nil, invalid(" Error with request: " + err.Error())
	}
	return rest, nil
}

func lineError(x *treefile.Line, err error) error {
	return invalid(fmt.Sprintf("%s\n Problem with line(%d)", err.Error(), x.Number))
}

// pairs are a line's options as sacctmgr would send them.
func pairs(x *treefile.Line) []api.Pair {
	var out []api.Pair
	for _, o := range x.Options {
		out = append(out, api.Pair{Name: strings.ToLower(o.Name), Value: o.Value})
	}
	return out
}

// take takes one line after those of QOS.
func (l *loader) take(x *treefile.Line) error {
	name := strings.ToLower(x.Name)
	switch x.Kind {
	case "Cluster":
		if l.parent != "" {
			return fmt.Errorf(" A second cluster %s: a file is of one", name)
		}
		l.parent = accounting.RootAccount
		return l.assoc([3]string{accounting.RootAccount}, "", "Cluster", pairs(x))
	case "Parent":
		if l.assocOf([3]string{name}) == nil {
			return fmt.Errorf(" You need to add this parent (%s) as a child before you can add children to it.", name)
		}
		l.parent = name
		return nil
	case "Account":
		return l.account(name, pairs(x))
	}
	return l.user(name, pairs(x), x.Number)
}

// account takes the line of an account.
func (l *loader) account(name string, set []api.Pair) error {
	if err := checkName("an account", name); err != nil {
		return err
	}
	next := accounting.Account{Name: name, Description: name, Organization: orName(l.parent, name)}
	old := l.accountOf(name)
	if old != nil {
		next = *old
	}
	set = slices.DeleteFunc(set, func(p api.Pair) bool { return setAccountText(&next, p) })
	switch {
	case old == nil:
		l.b.printf(" Adding Account    %s\n", name)
	default:
		l.changed("description", old.Description, next.Description, "Account", name)
		l.changed("organization", old.Organization, next.Organization, "Account", name)
	}
	if old == nil || old.Description != next.Description || old.Organization != next.Organization {
		l.putAccount(&next)
	}
	return l.assoc([3]string{name}, l.parent, "Account", set)
}

// accountOf is an account as the changes so far leave it; nil if there is none.
func (l *loader) accountOf(name string) *accounting.Account {
	if a := l.accounts[name]; a != nil {
		return a
	}
	return l.b.book.Account(name)
}

func (l *loader) putAccount(a *accounting.Account) {
	name := a.Name
	if l.accounts[name] == nil {
		l.order = append(l.order, func() accounting.Change { return accounting.Change{Account: l.accounts[name]} })
	}
	l.accounts[name] = a
}

// coordinate makes a user a coordinator of accounts. Slurm's dump may name accounts
// that stand further down in the file: they are looked up at the end.
func (l *loader) coordinate() error {
	for _, c := range l.coordinators {
		old := l.accountOf(c.account)
		if old == nil {
			return invalid(fmt.Sprintf(" User %s would coordinate account %s, which is not there\n Problem with line(%d)", c.user, c.account, c.line))
		}
		if slices.Contains(old.Coordinators, c.user) {
			continue
		}
		next := *old
		next.Coordinators = append(slices.Clone(old.Coordinators), c.user)
		slices.Sort(next.Coordinators)
		l.b.printf(" Adding Coordinator %s of account %s\n", c.user, c.account)
		l.putAccount(&next)
	}
	return nil
}

// coordination is a user who is to coordinate an account, and where the file says so.
type coordination struct {
	user, account string
	line          int
}

// user takes the line of a user: himself, and his association with the parent.
func (l *loader) user(name string, set []api.Pair, line int) error {
	if err := checkName("a user", name); err != nil {
		return err
	}
	next := accounting.User{Name: name, Default: l.parent}
	old := l.users[name]
	if old == nil {
		old = l.b.book.User(name)
	}
	if old != nil {
		next = *old
	}
	partition := ""
	var rest []api.Pair
	for _, p := range set {
		var err error
		switch p.Name {
		case "partition":
			partition = p.Value
		case "defaultaccount":
			next.Default = strings.ToLower(p.Value)
		case "adminlevel":
			err = setAdmin(&next, p)
		case "coordinator":
			for _, account := range lower(p.Value) {
				l.coordinators = append(l.coordinators, coordination{name, account, line})
			}
		default:
			rest = append(rest, p)
		}
		if err != nil {
			return err
		}
	}
	if old == nil {
		l.b.printf(" Adding User       %s\n", name)
	} else {
		l.changed("default account", old.Default, next.Default, "User", name)
		l.changed("admin level", old.Admin.String(), next.Admin.String(), "User", name)
	}
	if old == nil || old.Default != next.Default || old.Admin != next.Admin {
		if l.users[name] == nil {
			l.order = append(l.order, func() accounting.Change { return accounting.Change{User: l.users[name]} })
		}
		l.users[name] = &next
	}
	return l.assoc([3]string{l.parent, name, partition}, "", "User", rest)
}

// changed tells of one field of a record that is there already.
func (l *loader) changed(field, from, to, kind, name string) {
	if from != to {
		l.b.printf(" Changed %-20s for %-7s %-10s %8s -> %s\n", field, kind, name, from, to)
	}
}

// assocOf is an association as the changes so far leave it; nil if there is none.
func (l *loader) assocOf(key [3]string) *accounting.Association {
	if a := l.assocs[key]; a != nil {
		return a
	}
	return l.b.book.Assoc(key[0], key[1], key[2])
}

// assoc sets fields of an association, which is made if it is not there.
func (l *loader) assoc(key [3]string, parent, kind string, set []api.Pair) error {
	if l.seen[key] {
		return fmt.Errorf(" %s stands twice in the file", strings.Trim(strings.Join(key[:], " "), " "))
	}
	l.seen[key] = true
	next := accounting.Association{Account: key[0], User: key[1], Partition: key[2], Parent: parent, Shares: 1}
	old := l.b.book.Assoc(key[0], key[1], key[2])
	if old != nil {
		next = *old
		next.Parent = parent
	}
	for _, p := range set {
		if err := l.b.setAssoc(&next, p); err != nil {
			return err
		}
	}
	if old != nil {
		before, after := treefile.OfAssociation(old), treefile.OfAssociation(&next)
		if old.Parent == next.Parent && slices.Equal(before, after) {
			return nil
		}
		name := key[0]
		if key[1] != "" {
			name = key[1]
		}
		l.changed("parent", old.Parent, next.Parent, kind, name)
		l.differ(before, after, kind, name)
	}
	l.assocs[key] = &next
	l.order = append(l.order, func() accounting.Change { return accounting.Change{Assoc: &next} })
	return nil
}

// differ tells of each option that two lists do not have alike.
func (l *loader) differ(before, after []treefile.Option, kind, name string) {
	value := func(list []treefile.Option, option string) string {
		for _, o := range list {
			if o.Name == option {
				return o.Value
			}
		}
		return ""
	}
	for _, o := range before {
		l.changed(strings.ToLower(o.Name), o.Value, value(after, o.Name), kind, name)
	}
	for _, o := range after {
		if value(before, o.Name) == "" {
			l.changed(strings.ToLower(o.Name), "", o.Value, kind, name)
		}
	}
}

// clean deletes the accounts, users and associations that the file does not have;
// root stays.
func (l *loader) clean() {
	b, root := l.b, accounting.RootAccount
	placed := map[string]bool{root: true}
	for key := range l.seen {
		placed[key[1]] = true
	}
	for _, a := range b.book.Assocs {
		if l.seen[[3]string{a.Account, a.User, a.Partition}] || a.Account == root && (a.User == "" || a.User == root) {
			continue
		}
		b.printf(" Deleting          %s\n", a)
		b.put(accounting.Change{Delete: true, Assoc: a})
		if a.User == "" {
			b.put(accounting.Change{Delete: true, Account: b.book.Account(a.Account)})
		}
	}
	for _, u := range b.book.Users {
		if !placed[u.Name] {
			b.put(accounting.Change{Delete: true, User: u})
		}
	}
	for _, a := range b.book.Accounts {
		if !l.seen[[3]string{a.Name}] && a.Name != root {
			continue
		}
		next := *l.accountOf(a.Name)
		next.Coordinators = slices.DeleteFunc(slices.Clone(next.Coordinators), func(u string) bool { return !placed[u] })
		if len(next.Coordinators) < len(l.accountOf(a.Name).Coordinators) {
			b.put(accounting.Change{Account: &next})
		}
	}
}
