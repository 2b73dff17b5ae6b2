package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
)

// line is what somebody used.
type line struct {
	account, user, wckey string
	used                 map[string]uint64 // seconds by resource
}

// lines sums rows up by what key leaves of them; only rows that the words choose.
func (r *useReport) lines(key func(*api.UseRow) line) []*line {
	sums := map[[3]string]*line{}
	for i := range r.use.Rows {
		row := &r.use.Rows[i]
		if !r.chosen("accounts", row.Account) || !r.chosen("users", row.User) || !r.chosen("wckeys", row.WCKey) {
			continue
		}
		k := key(row)
		id := [3]string{k.account, k.user, k.wckey}
		if sums[id] == nil {
			k.used = map[string]uint64{}
			sums[id] = &k
		}
		for _, a := range row.Held {
			sums[id].used[a.Name] += a.Seconds
		}
	}
	list := slices.Collect(maps.Values(sums))
	list = slices.DeleteFunc(list, func(l *line) bool { return !slices.ContainsFunc(r.tres, func(n string) bool { return l.used[n] > 0 }) })
	slices.SortFunc(list, func(a, b *line) int {
		return cmp.Or(strings.Compare(a.account, b.account), strings.Compare(a.user, b.user), strings.Compare(a.wckey, b.wckey))
	})
	return list
}

// chosen tells whether a word such as users= lets a name in.
func (r *useReport) chosen(word, name string) bool {
	list, ok := r.words[word]
	return !ok || slices.ContainsFunc(words(list), func(w string) bool { return strings.EqualFold(w, name) })
}

// bySize orders by use of the first resource, highest first.
func (r *useReport) bySize(list []*line) {
	slices.SortStableFunc(list, func(a, b *line) int { return cmp.Compare(b.used[r.tres[0]], a.used[r.tres[0]]) })
}

// table writes lines, one for each resource.
func (r *useReport) table(list []*line) *api.Table {
	t := &api.Table{Fields: []string{"cluster", "account", "login", "proper", "wckey", "tresname", "used", "energy"}}
	for _, l := range list {
		for _, resource := range r.tres {
			whole := r.parts(resource).Reported
			t.Rows = append(t.Rows, api.TableRow{Values: []string{r.use.Cluster, l.account, l.user, "", l.wckey, resource,
				r.amount("used", l.used[resource], whole), r.unit.text(0, whole)}})
		}
	}
	return t
}

// byAccount is the tree of accounts with the sums of all that is below, each account
// before its users and then the accounts in it. Accounts that are gone come last.
func (r *useReport) byAccount() *api.Table {
	list := r.lines(func(row *api.UseRow) line { return line{account: row.Account, user: row.User} })
	_, tree := r.words["tree"]
	parent, depth := map[string]string{}, map[string]int{}
	order := []string{}
	for _, a := range r.use.Accounts {
		parent[a.Name] = a.Parent
		depth[a.Name] = depth[a.Parent] + 1
		order = append(order, a.Name)
	}
	sums := map[string]*line{}
	for _, l := range list {
		for name := l.account; ; name = parent[name] {
			if sums[name] == nil {
				sums[name] = &line{account: name, used: map[string]uint64{}}
			}
			for k, n := range l.used {
				sums[name].used[k] += n
			}
			if parent[name] == "" {
				break
			}
		}
		if !slices.Contains(order, l.account) {
			order = append(order, l.account)
		}
	}
	var out []*line
	for _, name := range order {
		if sums[name] == nil {
			continue
		}
		indent := ""
		if tree {
			indent = strings.Repeat(" ", max(0, depth[name]-1))
		}
		out = append(out, &line{account: indent + name, used: sums[name].used})
		for _, l := range list {
			if l.account == name && l.user != "" {
				if tree {
					indent = strings.Repeat(" ", depth[name])
				}
				out = append(out, &line{account: indent + name, user: l.user, used: l.used})
			}
		}
	}
	return r.table(out)
}

func (r *useReport) byUser() *api.Table {
	list := r.lines(func(row *api.UseRow) line { return line{account: row.Account, user: row.User} })
	r.bySize(list)
	return r.table(list)
}

func (r *useReport) byUserKey() *api.Table {
	list := r.lines(func(row *api.UseRow) line { return line{user: row.User, wckey: row.WCKey} })
	r.bySize(list)
	return r.table(list)
}

// byKey has a line for each wckey, then its users.
func (r *useReport) byKey() *api.Table {
	var out []*line
	for _, sum := range r.lines(func(row *api.UseRow) line { return line{wckey: row.WCKey} }) {
		out = append(out, sum)
		for _, l := range r.lines(func(row *api.UseRow) line { return line{user: row.User, wckey: row.WCKey} }) {
			if l.wckey == sum.wckey {
				out = append(out, l)
			}
		}
	}
	return r.table(out)
}

// top lists the users with the highest use.
func (r *useReport) top() *api.Table {
	_, group := r.words["group"]
	list := r.lines(func(row *api.UseRow) line {
		if group {
			return line{user: row.User}
		}
		return line{account: row.Account, user: row.User}
	})
	r.bySize(list)
	if group {
		r.nameAccounts(list)
	}
	most := 10
	if n := r.words["topcount"]; n != "" {
		most, _ = strconv.Atoi(n) // checked when the words were read
	}
	return r.table(list[:min(most, len(list))])
}

// nameAccounts lists the accounts of users whose lines were put together.
func (r *useReport) nameAccounts(list []*line) {
	for _, l := range list {
		var names []string
		for i := range r.use.Rows {
			if row := &r.use.Rows[i]; row.User == l.user && !slices.Contains(names, row.Account) {
				names = append(names, row.Account)
			}
		}
		l.account = strings.Join(names, ",")
	}
}

func (r *useReport) utilization() *api.Table {
	t := &api.Table{Fields: []string{"cluster", "tresname", "allocated", "down", "planneddown", "idle", "planned", "reported"}}
	for _, resource := range r.tres {
		p := r.parts(resource)
		if p.Reported == 0 {
			continue
		}
		values := []string{r.use.Cluster, resource}
		for i, n := range []uint64{p.Allocated, p.Down, p.PlannedDown, p.Idle, p.Planned, p.Reported} {
			values = append(values, r.amount(t.Fields[i+2], n, p.Reported))
		}
		t.Rows = append(t.Rows, api.TableRow{Values: values})
	}
	return t
}

// reservations has a line for each resource of each stretch in which a reservation
// held. A stretch is not cut to the period; what was used in it is that of the period.
func (r *useReport) reservations() *api.Table {
	zone, err := time.LoadLocation(r.use.Zone)
	if err != nil {
		zone = time.UTC
	}
	t := &api.Table{Fields: []string{"cluster", "name", "start", "end", "tresname", "allocated", "idle"}}
	for i := range r.use.Events {
		e := &r.use.Events[i]
		if e.Kind != "RESERVED" || !r.chosen("names", e.Name) {
			continue
		}
		for _, a := range e.Has {
			if r.byTRES && !slices.Contains(r.tres, a.Name) {
				continue
			}
			whole, held := a.Seconds*uint64((e.To-e.From)/1000), uint64(0)
			for k := range r.use.Rows {
				if r.use.Rows[k].Reservation == e.Name {
					held += r.use.Rows[k].Get(a.Name)
				}
			}
			held = min(held, whole)
			const layout = "2006-01-02T15:04:05"
			t.Rows = append(t.Rows, api.TableRow{Values: []string{r.use.Cluster, e.Name, e.From.Std().In(zone).Format(layout), e.To.Std().In(zone).Format(layout),
				a.Name, r.unit.text(held, whole), r.unit.text(whole-held, whole)}})
		}
	}
	return t
}

// sizeLimits are the first sizes of the columns of Job Sizes after the first one.
func sizeLimits(grouping string) ([]uint32, error) {
	if grouping == "" {
		return []uint32{50, 250, 500, 1000}, nil
	}
	var out []uint32
	for _, w := range words(grouping) {
		n, err := strconv.ParseUint(w, 10, 32)
		if err != nil || n == 0 || len(out) > 0 && uint32(n) <= out[len(out)-1] {
			return nil, fmt.Errorf("grouping=%s: want ascending numbers of CPUs, such as 50,250", grouping)
		}
		out = append(out, uint32(n))
	}
	return out, nil
}
