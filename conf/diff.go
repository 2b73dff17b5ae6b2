package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"muster/internal/hostlist"
	"muster/job"
)

// Change is one difference between two cluster files.
type Change struct {
	Table string // as in the file: "node", "partition", "timers"; "" for the top
	Names string // of what is in a list of tables: a partition's name, a host list of nodes; else ""
	Key   string // "" if the whole is new or gone
	Old   string // "" if it was not there
	New   string // "" if it is gone
}

// String is a line for people: + what is new, - what is gone, ~ what is other.
func (c Change) String() string {
	where := strings.TrimSpace(c.Table + " " + c.Names)
	switch {
	case c.Key != "" && where == "":
		return fmt.Sprintf("~ %s: %s -> %s", c.Key, c.Old, c.New)
	case c.Key != "":
		return fmt.Sprintf("~ %s: %s: %s -> %s", where, c.Key, c.Old, c.New)
	case c.Old == "":
		return fmt.Sprintf("+ %s: %s", where, c.New)
	}
	return "- " + where
}

// Diff lists what a cluster file says otherwise than the one before: top first, then
// controllers, nodes, partitions, licences and the single tables. Comments, the order
// of keys and what is only written in another way make no difference.
func Diff(before, after *File) []Change {
	var out []Change
	a, b := reflect.ValueOf(before.schema).Elem(), reflect.ValueOf(after.schema).Elem()
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("toml")
		switch x, y := a.Field(i), b.Field(i); {
		case key == "node":
			out = append(out, diffNodes(before, after)...)
		case x.Kind() == reflect.Slice:
			out = append(out, diffList(key, tablesOf(x), tablesOf(y))...)
		case x.Kind() == reflect.Struct:
			out = append(out, diffSettings(key, "", settingsOf(x), settingsOf(y))...)
		case show(x) != show(y):
			out = append(out, Change{Key: key, Old: show(x), New: show(y)})
		}
	}
	return out
}

// setting is one key with its value as text.
type setting struct{ key, value string }

// named is one table of a list.
type named struct {
	name     string
	settings []setting
}

// settingsOf lists the keys of a table.
func settingsOf(table reflect.Value) []setting {
	var out []setting
	for i := range table.NumField() {
		out = append(out, setting{table.Type().Field(i).Tag.Get("toml"), show(table.Field(i))})
	}
	return out
}

// tablesOf are the tables of a list, which all begin with a name. Switches and blocks
// have theirs from their topology alone.
func tablesOf(list reflect.Value) []named {
	var out []named
	for i := range list.Len() {
		table := list.Index(i)
		all := settingsOf(table)
		name := all[0].value
		switch t := table.Interface().(type) {
		case switchTable:
			name += " of topology " + t.Topology
		case blockTable:
			name += " of topology " + t.Topology
		}
		out = append(out, named{name, all[1:]})
	}
	return out
}

// nodesOf are the nodes of a file, each with the keys of its table.
func nodesOf(f *File) []named {
	var out []named
	for i := range f.schema.Nodes {
		table := &f.schema.Nodes[i]
		names, _ := hostlist.Expand(table.Names) // it was read before
		all := settingsOf(reflect.ValueOf(table).Elem())
		for _, name := range names {
			d, _ := f.Node(name)
			mine := slices.Clone(all[1:])
			for k := range mine {
				switch mine[k].key {
				case "addresses":
					mine[k].value = show(reflect.ValueOf(d.Addresses))
					if slices.Equal(d.Addresses, []string{name}) {
						mine[k].value = none
					}
				case "port":
					mine[k].value = show(reflect.ValueOf(d.Port))
				}
			}
			out = append(out, named{name, mine})
		}
	}
	return out
}

// diffNodes says the same difference of many nodes once.
func diffNodes(before, after *File) []Change {
	var out []Change
	group := map[Change][]string{}
	for _, c := range diffList("node", nodesOf(before), nodesOf(after)) {
		name := c.Names
		c.Names = ""
		if group[c] == nil {
			out = append(out, c)
		}
		group[c] = append(group[c], name)
	}
	for i, c := range out {
		out[i].Names = hostlist.Compress(group[c])
	}
	return out
}

func diffList(table string, before, after []named) []Change {
	var out []Change
	at := make(map[string]*named, len(before))
	for i := range before {
		at[before[i].name] = &before[i]
	}
	for _, n := range after {
		old := at[n.name]
		if old == nil {
			out = append(out, Change{Table: table, Names: n.name, New: given(n.settings)})
			continue
		}
		delete(at, n.name)
		out = append(out, diffSettings(table, n.name, old.settings, n.settings)...)
	}
	for _, n := range before {
		if at[n.name] != nil {
			out = append(out, Change{Table: table, Names: n.name, Old: given(n.settings)})
		}
	}
	return out
}

func diffSettings(table, name string, before, after []setting) []Change {
	var out []Change
	for i := range after {
		if before[i].value != after[i].value {
			out = append(out, Change{Table: table, Names: name, Key: after[i].key, Old: before[i].value, New: after[i].value})
		}
	}
	return out
}

// given writes the keys that say something.
func given(list []setting) string {
	var words []string
	for _, s := range list {
		if s.value != none && s.value != "0" && s.value != "false" {
			words = append(words, s.key+" = "+s.value)
		}
	}
	return strings.Join(words, ", ")
}

// none is shown where there is no value.
const none = "(none)"

// show writes a value as people read it.
func show(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return none
		}
		return show(v.Elem())
	case reflect.String:
		if v.Len() == 0 {
			return none
		}
		return v.String()
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return none
		}
	}
	if limit, ok := v.Interface().(timeLimit); ok && job.Minutes(limit) == job.Unlimited {
		return "UNLIMITED"
	}
	return fmt.Sprint(v.Interface())
}
