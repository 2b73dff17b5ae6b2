package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/internal/hostlist"
)

// The formats of sinfo (sinfo(1)); width 0 becomes the widest text.
const (
	sinfoDefault   = "partition:9 ,available:.5 ,time:.10 ,nodes:.6 ,statecompact:.6 ,nodelist:0"
	sinfoLong      = "partition:9 ,available:.5 ,time:.10 ,size:.10 ,root:.4 ,oversubscribe:.8 ,groups:.10 ,nodes:.6 ,statelong:.11 ,reservation:.11 ,nodelist:0"
	sinfoSummary   = "partition:9 ,available:.5 ,time:.10 ,nodeaiot:.16 ,nodelist:0"
	sinfoNodes     = "nodelist:9 ,nodes:.6 ,partition:.9 ,statecompact:6"
	sinfoNodesLong = "nodelist:9 ,nodes:.6 ,partition:.9 ,statelong:.11 ,cpus:4 ,socketcorethread:.8 ,memory:.6 ,disk:.8 ,weight:.6 ,features:.8 ,reason:20"
	sinfoReasons   = "reason:20 ,user:9 ,timestamp:19 ,nodelist:0"
	sinfoReasonsL  = "reason:20 ,userlong:12 ,timestamp:19 ,statecompact:6 ,nodelist:0"
)

// nodeOptions is a command line of sinfo.
type nodeOptions struct {
	clusterChoice
	format, long     string
	sort             string
	nodes            []string
	partitions       []string
	all              bool // hidden partitions too
	states           format.NodeStateSet
	byNode           bool
	longTable        bool
	summary          bool
	reasons          bool
	reservations     bool
	dead, responding bool
	exact            bool
	noHeader         bool
	keepUnits        bool
	json, yaml       bool
	interval         time.Duration
	help             string
}

func sinfoFlags() []slurm.Flag {
	const r, n, o = slurm.RequiredArg, slurm.NoArg, slurm.OptionalArg
	return []slurm.Flag{
		{Name: "all", Short: 'a', Arg: n}, {Name: "cluster", Short: 'M', Arg: r}, {Name: "clusters", Short: 'M', Arg: r}, {Name: "dead", Short: 'd', Arg: n},
		{Name: "exact", Short: 'e', Arg: n}, {Name: "federation", Short: 'F', Arg: n, Note: oneCluster}, {Name: "Format", Short: 'O', Arg: r}, {Name: "format", Short: 'o', Arg: r},
		{Name: "future", Arg: n, Note: "without effect: there are no nodes in state FUTURE"}, {Name: "help", Arg: n}, {Name: "helpformat", Arg: n}, {Name: "helpFormat", Arg: n}, {Name: "helpstate", Arg: n}, {Name: "hide", Arg: n},
		{Name: "iterate", Short: 'i', Arg: r}, {Name: "json", Arg: o}, {Name: "list-reasons", Short: 'R', Arg: n}, {Name: "local", Arg: n, Note: oneCluster}, {Name: "long", Short: 'l', Arg: n},
		{Name: "Node", Short: 'N', Arg: n}, {Name: "noconvert", Arg: n}, {Name: "nodes", Short: 'n', Arg: r}, {Name: "noheader", Short: 'h', Arg: n},
		{Name: "partition", Short: 'p', Arg: r}, {Name: "reservation", Short: 'T', Arg: n}, {Name: "responding", Short: 'r', Arg: n}, {Name: "sort", Short: 'S', Arg: r},
		{Name: "states", Short: 't', Arg: r}, {Name: "summarize", Short: 's', Arg: n}, {Name: "usage", Arg: n}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy},
		{Name: "version", Short: 'V', Arg: n}, {Name: "yaml", Arg: o},
	}
}

// sinfo lists partitions and nodes: sinfo(1).
func sinfo(in *invocation) int {
	given, rest, ok, code := in.options(sinfoFlags(), 1)
	if !ok {
		return code
	}
	o := &nodeOptions{sort: in.env("SINFO_SORT"), partitions: words(in.env("SINFO_PARTITION"))}
	_, o.all = in.getenv("SINFO_ALL")
	o.fromEnv(in)
	for i := range given {
		if code, stop := o.take(in, &given[i]); stop {
			return code
		}
	}
	if len(rest) > 0 {
		in.errorf("Unrecognized option: %s", rest[0])
		return 1
	}
	if o.help != "" {
		return o.printHelp(in)
	}
	for {
		code := o.list(in)
		if o.interval == 0 || code != 0 {
			return code
		}
		fmt.Fprintln(in.stdout)
		if in.stdout.Flush() != nil {
			return 1
		}
		time.Sleep(o.interval)
	}
}

// take acts on one option.
func (o *nodeOptions) take(in *invocation, g *slurm.Given) (code int, stop bool) {
	v := g.Value
	switch g.Flag.Name {
	case "all":
		o.all = true
	case "hide":
		o.all = false
	case "dead":
		o.dead = true
	case "responding":
		o.responding = true
	case "exact":
		o.exact = true
	case "Format":
		o.long, o.format = v, ""
	case "format":
		o.format, o.long = v, ""
	case "help", "usage", "version", "helpformat", "helpFormat", "helpstate":
		o.help = g.Flag.Name
	case "iterate":
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			return in.fail("Error: invalid entry for --iterate=%s", v)
		}
		o.interval = time.Duration(n) * time.Second
	case "json", "yaml":
		o.json, o.yaml = g.Flag.Name == "json", g.Flag.Name == "yaml"
	case "list-reasons":
		o.reasons = true
	case "long":
		o.longTable = true
	case "Node":
		o.byNode = true
	case "noconvert":
		o.keepUnits = true
	case "nodes":
		names, err := hostlist.Expand(v)
		if err != nil {
			return in.fail("'%s' invalid entry for --nodes", v)
		}
		o.nodes = names
	case "noheader":
		o.noHeader = true
	case "partition":
		o.partitions, o.all = words(v), true
	case "reservation":
		o.reservations = true
	case "sort":
		o.sort = v
	case "states":
		return o.setStates(in, v)
	case "summarize":
		o.summary = true
	case "cluster", "clusters":
		o.setClusters(v)
	}
	return 0, false // local, federation, future and verbose change nothing here
}

func (o *nodeOptions) setStates(in *invocation, list string) (int, bool) {
	o.states = format.NodeStateSet{All: strings.Contains(list, "&")}
	if strings.EqualFold(list, "all") {
		return 0, false
	}
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '&' }) {
		if !o.states.Add(w) {
			in.errorf("Bad state string: \"%s\"", w)
			return in.fail("valid states: %s", format.NodeStateNames)
		}
	}
	return 0, false
}

func (o *nodeOptions) printHelp(in *invocation) int {
	switch o.help {
	case "version":
		return printVersion(in)
	case "helpformat":
		in.stdout.Write(format.HelpLetters(format.NodeFields()))
	case "helpFormat":
		in.stdout.Write(format.HelpNames(format.NodeFields()))
	case "helpstate":
		fmt.Fprintln(in.stdout, strings.ReplaceAll(format.NodeStateNames, ",", "\n"))
	case "usage":
		fmt.Fprint(in.stdout, "Usage: sinfo [OPTIONS...]\n")
	default:
		printFlags(in, "sinfo [OPTIONS...]", sinfoFlags())
	}
	return 0
}

// formatText is the format that is meant, and whether it is one of -O.
func (o *nodeOptions) formatText(in *invocation) (text string, names bool) {
	switch {
	case o.long != "":
		return o.long, true
	case o.format != "":
		return o.format, false
	case o.summary:
		return sinfoSummary, true
	case o.byNode && o.longTable:
		return sinfoNodesLong, true
	case o.byNode:
		return sinfoNodes, true
	case o.reasons && o.longTable:
		return sinfoReasonsL, true
	case o.reasons:
		return sinfoReasons, true
	}
	if f := in.env("SINFO_FORMAT"); f != "" {
		return f, false
	}
	if o.longTable {
		return sinfoLong, true
	}
	return sinfoDefault, true
}

// list prints the nodes once.
func (o *nodeOptions) list(in *invocation) int {
	if !o.noHeader && !o.json && !o.yaml && (o.interval > 0 || o.longTable) {
		in.stdout.Write(append(in.now().AppendFormat(nil, "Mon Jan 02 15:04:05 2006"), '\n'))
	}
	if o.reservations {
		return o.listReservations(in)
	}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed("slurm_load_partitions", err)
	}
	defer c.Close()
	var list api.NodeList
	if err := read(c, api.MethodNodes, &api.NodeQuery{WithUse: true, WithFrag: o.asksFragments(in)}, &list); err != nil {
		return in.loadFailed("slurm_load_partitions", err)
	}
	if !o.check(in, list.Cluster) {
		return 1
	}
	if o.json || o.yaml {
		return o.structured(in, &list)
	}
	t := o.table(in)
	lines := o.groups(&list, t)
	if bad, ok := format.SortGroups(lines, o.sort, o.byNode); !ok {
		in.errorf("Invalid sort specification: %c", bad)
		return 1
	}
	x := in.context(list.Now, list.Cluster, o.keepUnits)
	o.widen(t, x, lines)
	var buf []byte
	if !o.noHeader {
		o.head(in, list.Cluster)
		buf = t.AppendHead(buf)
	}
	for _, g := range lines {
		buf = t.AppendRow(buf, x, g)
	}
	in.stdout.Write(buf)
	return 0
}

// asksFragments tells whether the field GresFrag is shown, which costs a look at
// the queue.
func (o *nodeOptions) asksFragments(in *invocation) bool {
	text, names := o.formatText(in)
	return names && strings.Contains(strings.ToLower(text), "gresfrag")
}

func (o *nodeOptions) table(in *invocation) *format.Table[format.NodeGroup] {
	text, names := o.formatText(in)
	var t format.Table[format.NodeGroup]
	if names {
		t = format.Names(text, format.NodeFields())
	} else {
		t = format.Letters(text, format.NodeFields())
	}
	for _, n := range t.Unknown {
		if names {
			in.errorf("Invalid job format specification: %s", n)
		} else {
			fmt.Fprintf(in.stderr, "Invalid node format specification: %s\n", n)
		}
	}
	return &t
}

// groups chooses the nodes and puts them on lines.
func (o *nodeOptions) groups(list *api.NodeList, t *format.Table[format.NodeGroup]) []*format.NodeGroup {
	g := format.Grouping{ByNode: o.byNode, NoPartition: o.reasons, Exact: o.exact}
	for i := range t.Columns {
		if f := t.Columns[i].Field; f != nil {
			g.Fields = append(g.Fields, f)
		}
	}
	var parts []*api.PartitionRecord
	for i := range list.Partitions {
		p := &list.Partitions[i]
		if len(o.partitions) > 0 && !slices.Contains(o.partitions, p.Name) || p.Hidden && !o.all {
			continue
		}
		parts = append(parts, p)
	}
	chosen := map[string]bool{}
	for _, n := range o.nodes {
		chosen[n] = true
	}
	return g.Groups(parts, list.Nodes, func(n *api.NodeRecord) bool {
		silent := n.Flags&api.NodeNoResponse != 0
		return (len(chosen) == 0 || chosen[n.Name]) &&
			(!o.dead || silent) && (!o.responding || !silent) &&
			(o.states.Empty() || o.states.Has(n.Base, n.Flags)) &&
			(!o.reasons || n.Reason != "")
	})
}

// widen gives the columns of the built-in formats that depend on what is in them
// their width, as sinfo does: partition and node list.
func (o *nodeOptions) widen(t *format.Table[format.NodeGroup], x *format.Context, lines []*format.NodeGroup) {
	if o.format != "" || o.long != "" {
		return
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Field == nil || c.Field.Name != "Partition" && (c.Field.Name != "NodeList" || !o.byNode) {
			continue
		}
		width := max(c.Width, len(c.Field.Head))
		for _, g := range lines {
			width = max(width, len(c.Field.Text(nil, x, g)))
		}
		c.Width = width
	}
}

// listReservations is sinfo --reservation.
func (o *nodeOptions) listReservations(in *invocation) int {
	c, err := in.connect()
	if err != nil {
		return in.loadFailed("slurm_load_reservations", err)
	}
	defer c.Close()
	var list api.ReservationList
	if err := read(c, api.MethodReservations, &api.NameQuery{}, &list); err != nil {
		return in.loadFailed("slurm_load_reservations", err)
	}
	if len(list.Reservations) == 0 {
		fmt.Fprintln(in.stdout, "No reservations in the system")
		return 0
	}
	x := in.context(list.Now, list.Cluster, false)
	in.stdout.Write(format.AppendReservationTable(nil, x, list.Reservations, !o.noHeader))
	return 0
}
