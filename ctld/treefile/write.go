// Package treefile reads and writes the text form of who may use what, as sacctmgr
// dump writes it and sacctmgr load reads it: a line for each QOS, then the tree of
// accounts with their users (sacctmgr(1), "FLAT FILE DUMP AND LOAD").
package treefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/api/slurm"
)

// Line is one record of a file: what it is, its name, and its options.
type Line struct {
	Number  int    // in the file, from 1; 0 if it was made, not read
	Kind    string // QOS, Cluster, Parent, Account or User
	Name    string
	Options []Option
}

// Option is a field of a record that is not at its default.
type Option struct {
	Name, Value string
	quoted      bool
}

// Lines are the records of a book in the order of the file.
func Lines(b *accounting.Book, cluster string) []Line {
	var out []Line
	for _, q := range b.QOS {
		out = append(out, Line{Kind: "QOS", Name: q.Name, Options: ofQOS(q)})
	}
	top := b.Assoc(accounting.RootAccount, "", "")
	if top == nil {
		return out
	}
	out = append(out, Line{Kind: "Cluster", Name: cluster, Options: OfAssociation(top)})
	below := map[string][]*accounting.Association{}
	for _, a := range b.Assocs {
		switch {
		case a.User != "":
			below[a.Account] = append(below[a.Account], a)
		case a.Account != accounting.RootAccount:
			below[a.Parent] = append(below[a.Parent], a)
		}
	}
	for level := []string{accounting.RootAccount}; len(level) > 0; level = level[1:] {
		list := below[level[0]]
		if len(list) == 0 {
			continue
		}
		out = append(out, Line{Kind: "Parent", Name: level[0]})
		slices.SortStableFunc(list, usersFirst)
		for _, a := range list {
			if a.User != "" {
				out = append(out, ofUser(b, a))
				continue
			}
			out = append(out, ofAccount(b, a))
			level = append(level, a.Account)
		}
	}
	return out
}

func usersFirst(a, b *accounting.Association) int {
	if (a.User != "") != (b.User != "") {
		return map[bool]int{true: -1, false: 1}[a.User != ""]
	}
	return strings.Compare(a.User+"\x00"+a.Account+"\x00"+a.Partition, b.User+"\x00"+b.Account+"\x00"+b.Partition)
}

// String is the line as it stands in a file, without its end.
func (l *Line) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s - '%s'", l.Kind, l.Name)
	for _, o := range l.Options {
		v := o.Value
		if o.quoted {
			// An apostrophe would end the text.
			v = "'" + strings.ReplaceAll(v, "'", "`") + "'"
		}
		fmt.Fprintf(&s, ":%s=%s", o.Name, v)
	}
	return s.String()
}

// options collects those that are set.
type options []Option

func (o *options) text(name, value string) {
	if value != "" {
		*o = append(*o, Option{name, value, true})
	}
}

func (o *options) plain(name, value string) {
	if value != "" {
		*o = append(*o, Option{name, value, false})
	}
}

func (o *options) bound(name string, b accounting.Bound) {
	if n, ok := b.Get(); ok {
		o.plain(name, strconv.FormatUint(n, 10))
	}
}

func ofQOS(q *accounting.QOS) []Option {
	var o options
	l := &q.Limits
	o.text("Description", q.Description)
	o.text("Flags", q.Flags.String())
	if q.GraceTime > 0 {
		o.plain("GraceTime", strconv.FormatUint(uint64(q.GraceTime), 10))
	}
	o.bound("GrpJobs", l.GrpJobs)
	o.bound("GrpSubmitJobs", l.GrpSubmit)
	o.plain("GrpTRES", Amounts(l.GrpTRES))
	o.plain("GrpTRESMins", Amounts(l.GrpTRESMins))
	o.bound("GrpWall", l.GrpWall)
	o.bound("MaxJobsPA", q.PerAccount.Jobs)
	o.bound("MaxJobsPU", q.PerUser.Jobs)
	o.bound("MaxSubmitJobsPA", q.PerAccount.Submit)
	o.bound("MaxSubmitJobsPU", q.PerUser.Submit)
	o.plain("MaxTRESMinsPerJob", Amounts(l.MaxTRESMins))
	o.plain("MaxTRESPerAccount", Amounts(q.PerAccount.TRES))
	o.plain("MaxTRESPerJob", Amounts(l.MaxTRES))
	o.plain("MaxTRESPerUser", Amounts(q.PerUser.TRES))
	o.bound("MaxWallDurationPerJob", l.MaxWall)
	o.plain("MinTRESPerJob", Amounts(q.MinTRES))
	o.text("Preempt", strings.Join(q.Preempt, ","))
	if q.PreemptMode != 0 {
		o.text("PreemptMode", strings.ToLower(q.PreemptMode.String()))
	}
	o.bound("PreemptExemptTime", q.Exempt)
	if q.Priority > 0 {
		o.plain("Priority", strconv.FormatUint(uint64(q.Priority), 10))
	}
	if n, ok := q.UsageFactor.Get(); ok && n != 1000 {
		o.plain("UsageFactor", fmt.Sprintf("%d.%03d000", n/1000, n%1000))
	}
	return o
}

// OfAssociation lists what an association has of its own.
func OfAssociation(a *accounting.Association) []Option {
	var o options
	l := &a.Limits
	o.text("DefaultQOS", a.Default)
	o.plain("Fairshare", strconv.FormatUint(uint64(a.Shares), 10))
	o.plain("GrpTRESMins", Amounts(l.GrpTRESMins))
	o.plain("GrpTRES", Amounts(l.GrpTRES))
	o.bound("GrpJobs", l.GrpJobs)
	o.bound("GrpSubmitJobs", l.GrpSubmit)
	o.bound("GrpWall", l.GrpWall)
	o.plain("MaxTRESMinsPerJob", Amounts(l.MaxTRESMins))
	o.plain("MaxTRESPerJob", Amounts(l.MaxTRES))
	o.bound("MaxJobs", l.MaxJobs)
	o.bound("MaxSubmitJobs", l.MaxSubmit)
	o.bound("MaxWallDurationPerJob", l.MaxWall)
	o.bound("Priority", a.Priority)
	o.text("QOS", strings.Join(a.QOS, ","))
	return o
}

func ofAccount(b *accounting.Book, a *accounting.Association) Line {
	var o options
	if account := b.Account(a.Account); account != nil {
		o.text("Description", account.Description)
		o.text("Organization", account.Organization)
	}
	return Line{Kind: "Account", Name: a.Account, Options: append(o, OfAssociation(a)...)}
}

func ofUser(b *accounting.Book, a *accounting.Association) Line {
	var o options
	o.text("Partition", a.Partition)
	if u := b.User(a.User); u != nil {
		o.text("DefaultAccount", u.Default)
		if u.Admin != accounting.AdminNone {
			o.text("AdminLevel", u.Admin.String())
		}
		var coordinated []string
		for _, account := range b.Coordinated(a.User) {
			coordinated = append(coordinated, account.Name)
		}
		o.text("Coordinator", strings.Join(coordinated, ","))
	}
	return Line{Kind: "User", Name: a.User, Options: append(o, OfAssociation(a)...)}
}

// Amounts prints a list of resources in Slurm's order: those that every cluster has
// first.
func Amounts(l accounting.Amounts) string {
	var out []string
	add := func(a accounting.Amount) {
		text := strconv.FormatUint(a.Count, 10)
		if a.Name == "mem" {
			text = slurm.Size(a.Count, slurm.Mega)
		}
		out = append(out, a.Name+"="+text)
	}
	first := []string{"cpu", "mem", "node", "billing"}
	for _, name := range first {
		if n, ok := l.Get(name); ok {
			add(accounting.Amount{Name: name, Count: n})
		}
	}
	for _, a := range l {
		if !slices.Contains(first, a.Name) {
			add(a)
		}
	}
	return strings.Join(out, ",")
}
