package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
)

func sacctmgrFlags() []slurm.Flag {
	return []slurm.Flag{
		{Name: "associations", Short: 's'}, {Name: "immediate", Short: 'i'}, {Name: "quiet", Short: 'Q'}, {Name: "oneliner"}, {Name: "readonly", Short: 'r'},
		{Name: "verbose", Short: 'v', Note: wordy}, {Name: "json", Arg: slurm.OptionalArg, Refuse: structuredNot}, {Name: "yaml", Arg: slurm.OptionalArg, Refuse: structuredNot},
	}
}

// sacctmgr shows and changes accounts: sacctmgr(1).
func sacctmgr(in *invocation) int {
	o, rest, code := in.tableFlags(sacctmgrFlags(), "n")
	if code != 0 || o.stop {
		return code
	}
	if len(rest) == 0 {
		in.errorf("a command is needed, for example: sacctmgr show user; the dialogue of sacctmgr is not offered")
		return 1
	}
	verb := strings.ToLower(rest[0])
	is := func(name string, least int) bool { return len(verb) >= least && strings.HasPrefix(name, verb) }
	switch {
	case is("show", 2), is("list", 2):
		return in.managerShow(rest[1:], o)
	case is("add", 2), is("create", 2):
		return in.managerChange("add", rest[1:], o)
	case is("modify", 1), is("update", 1):
		return in.managerChange("modify", rest[1:], o)
	case is("delete", 2), is("remove", 3):
		return in.managerChange("delete", rest[1:], o)
	case is("dump", 2):
		return in.managerDump(rest[1:])
	case is("load", 2):
		return in.managerLoad(rest[1:], o)
	}
	fmt.Fprintf(in.stderr, "invalid keyword: %s\n", rest[0])
	return 1
}

// managerEntity is the one that a word means, by its beginning.
func managerEntity(word string) string {
	word = strings.ToLower(word)
	for _, e := range []struct {
		name  string
		least int
	}{
		{"accounts", 2}, {"associations", 2}, {"clusters", 2}, {"configuration", 2}, {"coordinators", 2}, {"events", 1}, {"federations", 1}, {"problems", 1}, {"qos", 1},
		{"resources", 4}, {"reservations", 4}, {"runawayjobs", 2}, {"stats", 2}, {"transactions", 2}, {"tres", 4}, {"users", 1}, {"wckeys", 1},
	} {
		if len(word) >= e.least && strings.HasPrefix(e.name, word) {
			return strings.TrimSuffix(e.name, "s")
		}
		if word == "qos" {
			return word
		}
	}
	return ""
}

// managerPairs reads the words after an entity: names, and pairs before and after
// where and set. Words without = are names, or switches such as withassoc.
func managerPairs(list []string) (names []string, where, set []api.Pair) {
	into := &where
	for _, w := range list {
		switch strings.ToLower(w) {
		case "where":
			into = &where
			continue
		case "set":
			into = &set
			continue
		}
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			names = append(names, w)
			continue
		}
		p := api.Pair{Name: strings.ToLower(key), Value: strings.Trim(value, `"'`)}
		if n := len(key); n > 0 && (key[n-1] == '+' || key[n-1] == '-') {
			p.Name, p.Op = p.Name[:n-1], key[n-1:]
		}
		*into = append(*into, p)
	}
	return names, where, set
}

// managerChange is sacctmgr add, modify and delete. Without -i it asks first.
func (in *invocation) managerChange(verb string, list []string, o *tableOptions) int {
	if o.has("readonly") {
		in.errorf("Can't run this command in readonly mode.")
		return 1
	}
	req := &api.BookChange{Verb: verb}
	if len(list) > 0 {
		req.Entity = managerEntity(list[0])
	}
	switch {
	case req.Entity == "", verb == "modify" && req.Entity == "coordinator":
		job := ""
		if verb == "modify" {
			job = "\"Job\", "
		} else {
			job = "\"Coordinator\", "
		}
		fmt.Fprintf(in.stderr, "No valid entity in %s command\nInput line must include \"Account\", \"Cluster\", %s\"Federation\", \"QOS\", \"Resource\", or \"User\"\n", verb, job)
		return 1
	case !slices.Contains([]string{"account", "user", "qos", "coordinator"}, req.Entity):
		in.errorf("%s %s: not done by this version: it keeps accounts, coordinators, users and QOS", verb, list[0])
		return 1
	}
	var where []api.Pair
	req.Names, where, req.Set = managerPairs(list[1:])
	if verb == "add" {
		req.Set = append(where, req.Set...)
	} else {
		req.Where = where
	}
	return in.commitChange(req, o)
}

// commitChange sends a change. Without -i the caller is asked when he has seen what
// would be done.
func (in *invocation) commitChange(req *api.BookChange, o *tableOptions) int {
	c, err := in.connect()
	if err != nil {
		return in.loadFailed(in.name, err)
	}
	defer c.Close()
	req.Commit = o.has("immediate")
	code, settled := in.sendChange(c, req, o, true)
	if code != 0 || req.Commit || settled {
		return code
	}
	fmt.Fprint(in.stdout, "Would you like to commit changes? (You have 30 seconds to decide)\n(N/y): ")
	in.stdout.Flush()
	answer, _ := bufio.NewReader(in.stdin).ReadString('\n')
	if answer = strings.TrimSpace(answer); answer != "y" && answer != "Y" {
		fmt.Fprintln(in.stdout, " Changes Discarded")
		return 0
	}
	req.Commit = true
	code, _ = in.sendChange(c, req, o, false)
	return code
}

// sendChange sends a change once; settled tells that there is nothing to be done.
func (in *invocation) sendChange(c *api.Client, req *api.BookChange, o *tableOptions, show bool) (code int, settled bool) {
	var reply api.BookReply
	_, err := c.Ask(api.MethodBookChange, req, &reply)
	var refused *api.Error
	if errors.As(err, &refused) && refused.Kind != api.ErrUnavailable {
		fmt.Fprintln(in.stderr, refused.Text)
		return 1, false
	}
	if err != nil {
		return in.loadFailed(in.name, err), false
	}
	if show && !o.has("quiet") {
		fmt.Fprint(in.stdout, reply.Text)
	}
	if reply.Nothing {
		return 1, false
	}
	return 0, reply.Settled
}

// managerShow is sacctmgr show and list.
func (in *invocation) managerShow(list []string, o *tableOptions) int {
	entity := ""
	if len(list) > 0 {
		entity = managerEntity(list[0])
	}
	heads := managerHeads(entity)
	switch {
	case entity == "runawayjob":
		// A record here is the job itself: none can be left running in the book
		// after its job has ended.
		fmt.Fprintln(in.stdout, "Runaway Jobs: No runaway jobs found")
		return 0
	case heads == nil && entity != "":
		in.errorf("show %s: not offered by this version", list[0])
		return 1
	case heads == nil:
		fmt.Fprintln(in.stderr, "No valid entity in list command\nInput line must include \"Account\", \"Association\", \"Cluster\", \"Configuration\",\n"+
			"\"Event\", \"Federation\", \"Problem\", \"QOS\", \"Resource\", \"Reservation\",\n\"RunAwayJobs\", \"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"")
		return 1
	}
	names, where, _ := managerPairs(list[1:])
	q := &managerQuery{entity: entity, heads: heads, withAssoc: o.has("associations")}
	if err := q.take(names, where, o); err != nil {
		fmt.Fprintln(in.stderr, err)
		return 1
	}
	if code := in.ownCluster(strings.Join(q.clusters, ",")); code != 0 {
		return code
	}
	t := &api.Table{}
	if table := q.table(); table != "" {
		var ok bool
		var code int
		if t, ok, code = in.fetchTable(table); !ok {
			return code
		}
	} else {
		fmt.Fprintf(in.stderr, "sacctmgr: %ss are not kept by this version: the list is empty\n", entity)
	}
	q.narrow(t)
	chosen := q.heads
	if o.format != "" {
		var err error
		if chosen, err = chooseHeads(slices.Concat(q.heads, associationHeads(), namedHeads()), o.format); err != nil {
			fmt.Fprintln(in.stderr, err)
			return 1
		}
	}
	if q.tree {
		for i := range chosen {
			if chosen[i].field == "account" {
				chosen[i].width = -20
			}
		}
	}
	in.printTable(chosen, t, o)
	return 0
}

// managerQuery is what a show asks for.
type managerQuery struct {
	entity          string
	heads           []head
	names           []string
	users, accounts []string
	clusters        []string
	withAssoc, tree bool
	withCoord       bool
}

// take reads names, switches and conditions.
func (q *managerQuery) take(names []string, where []api.Pair, o *tableOptions) error {
	for _, n := range names {
		switch w := strings.ToLower(n); {
		case len(w) >= 5 && strings.HasPrefix("withassociations", w):
			q.withAssoc = true
		case w == "tree":
			q.tree = true
		case len(w) >= 5 && strings.HasPrefix("withcoordinators", w):
			q.withCoord = true
		case strings.HasPrefix(w, "with"), w == "onlydefaults":
			return fmt.Errorf(" Unknown condition: %s", n)
		default:
			q.names = append(q.names, words(n)...)
		}
	}
	for _, p := range where {
		is := func(name string, least int) bool {
			w := strings.TrimSuffix(p.Name, "s")
			return len(w) >= least && strings.HasPrefix(name, w)
		}
		switch {
		case is("format", 1):
			o.format = p.Value
		case is("name", 1):
			q.names = append(q.names, words(p.Value)...)
		case is("user", 1):
			q.users = append(q.users, words(p.Value)...)
		case is("account", 1):
			q.accounts = append(q.accounts, words(p.Value)...)
		case is("cluster", 1):
			q.clusters = append(q.clusters, words(p.Value)...)
		default:
			return fmt.Errorf(" Unknown condition: %s=%s", p.Name, p.Value)
		}
	}
	if q.withAssoc && q.entity == "user" {
		q.heads = userAssociationHeads()
	}
	if q.withCoord && !q.withAssoc && (q.entity == "user" || q.entity == "account") {
		q.heads = append(slices.Clone(q.heads), head{"Coord Accounts", 20, "coord", "coordinators"})
	}
	return nil
}

// table is the one to ask the controller for; "" if the listing is always empty.
func (q *managerQuery) table() string {
	switch q.entity {
	case "account":
		if q.withAssoc {
			return "assoc"
		}
	case "user":
		if q.withAssoc {
			return "assoc"
		}
	case "association":
		return "assoc"
	case "qos", "cluster", "tre":
	default:
		return ""
	}
	if q.entity == "tre" {
		return "tres"
	}
	return q.entity
}

// narrow keeps what the conditions mean.
func (q *managerQuery) narrow(t *api.Table) {
	switch q.entity {
	case "account":
		keepRows(t, "account", append(q.names, q.accounts...))
	case "user":
		keepRows(t, "user", append(q.names, q.users...))
		keepRows(t, "account", q.accounts)
		if at := column(t, "user"); at >= 0 {
			t.Rows = slices.DeleteFunc(t.Rows, func(r api.TableRow) bool { return r.Values[at] == "" })
		}
	case "qos":
		keepRows(t, "name", q.names)
	case "cluster":
		keepRows(t, "cluster", q.names)
	case "association":
		keepRows(t, "user", q.users)
		keepRows(t, "account", q.accounts)
		if q.tree {
			indent(t)
		}
	}
}

// indent sets the account names of a tree in by their depth.
func indent(t *api.Table) {
	account, depth := column(t, "account"), column(t, "depth")
	depths := make([]int, len(t.Rows))
	for i := range t.Rows {
		depths[i], _ = strconv.Atoi(t.Rows[i].Values[depth])
	}
	if len(depths) == 0 {
		return
	}
	top := slices.Min(depths)
	for i := range t.Rows {
		v := t.Rows[i].Values
		v[account] = strings.Repeat(" ", depths[i]-top) + v[account]
	}
}
