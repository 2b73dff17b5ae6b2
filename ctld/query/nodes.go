package query

import (
	"context"
	"slices"

	"muster/api"
	"muster/ctld/service"
	"muster/gres"
	"muster/internal/hostlist"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// chunkNodes is how many node records go into one chunk.
const chunkNodes = 512

// nodes answers sinfo and scontrol show node.
func nodes(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.NodeQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	if keptFrom(root, r, "nodes") {
		return errPrivate()
	}
	n := newNodeView(core, root)
	var frag *fragments
	if q.WithFrag {
		frag = newFragments(root)
	}
	list := api.NodeList{Now: n.now, Cluster: root.Cluster().Name}
	for p := range root.Partitions() {
		if keptFrom(root, r, "partitions") {
			break
		}
		list.Partitions = append(list.Partitions, n.partition(p, true))
	}
	names := set(q.Names)
	for node := range root.Nodes() {
		if names != nil && !names[node.Name] || len(q.Partitions) > 0 && !n.inOne(node, q.Partitions) {
			continue
		}
		if len(list.Nodes) == chunkNodes {
			if err := send(r, &list); err != nil {
				return err
			}
			list = api.NodeList{}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		record := n.record(node)
		if frag != nil {
			a, b := frag.of(node)
			record.FragGPU, record.FreeGPU = uint64(a), uint64(b)
		}
		list.Nodes = append(list.Nodes, record)
	}
	return send(r, &list)
}

// nodeView turns nodes of one root into records.
type nodeView struct {
	core    service.Core
	root    *state.Root
	now     job.Time
	parts   map[job.NodeID][]string
	planned map[job.NodeID]bool
	resv    map[job.NodeID]*partition.Reservation
}

func newNodeView(core service.Core, root *state.Root) *nodeView {
	n := &nodeView{core: core, root: root, now: core.Now(), parts: map[job.NodeID][]string{}, planned: map[job.NodeID]bool{}, resv: map[job.NodeID]*partition.Reservation{}}
	for p := range root.Partitions() {
		for _, id := range p.Nodes {
			n.parts[id] = append(n.parts[id], p.Name)
		}
	}
	for _, promise := range root.Promises() {
		for _, s := range promise.Nodes {
			n.planned[s.Node] = true
		}
	}
	for res := range root.Reservations() {
		if res.Start <= n.now && n.now < res.End {
			for _, id := range res.Nodes {
				n.resv[id] = res
			}
		}
	}
	return n
}

func (n *nodeView) inOne(node *partition.Node, names []string) bool {
	for _, p := range n.parts[node.ID] {
		if slices.Contains(names, p) {
			return true
		}
	}
	return false
}

// record turns one node into a record.
func (n *nodeView) record(node *partition.Node) api.NodeRecord {
	r := api.NodeRecord{
		Name: node.Name, Shape: shape(node.Declared), Found: shape(node.Found),
		Features: node.Features, Active: node.Active, Partitions: n.parts[node.ID],
		Weight: node.Weight, Comment: node.Comment, Extra: node.Extra,
		Reason: node.Reason, ReasonBy: node.ReasonBy, ReasonAt: node.ReasonAt,
		Port: node.Port, HostName: node.HostName, OS: node.OS, Arch: node.Arch, Version: node.Version,
		BootTime: node.BootTime, Started: node.Started, LastBusy: node.LastBusy, LastSeen: node.LastSeen,
	}
	if len(node.Address) > 0 {
		r.Address = node.Address[0]
	}
	r.Gres = inventory(&node.Gres)
	if live, ok := n.core.Live(node.Name); ok {
		r.Load, r.FreeMemory, r.HasLive = live.LoadHundredths, live.FreeMemoryMB, true
	}
	if use := n.root.NodeUse(node.ID); use != nil {
		n.used(&r, node, use)
	}
	n.state(&r, node)
	return r
}

// used fills in what jobs hold of the node.
func (n *nodeView) used(r *api.NodeRecord, node *partition.Node, use *state.NodeUse) {
	r.Used = api.Resources{CPUs: use.CPUs, MemoryMB: use.MemoryMB}
	if use.Whole > 0 {
		r.Used.CPUs = node.Declared.CPUs
	}
	for _, d := range use.Devices {
		r.Used.Gres = addItem(r.Used.Gres, d.Name, d.Count)
		r.GresUsed = append(r.GresUsed, gres.Item{Name: d.Name, Type: d.Type, Count: d.Count})
	}
}

// state works out the state that Slurm shows: what the jobs on the node, the
// plans and the reservations make of it.
func (n *nodeView) state(r *api.NodeRecord, node *partition.Node) {
	r.Flags = api.NodeFlag(node.Admin)
	for j := range n.root.OnNode(node.ID) {
		if j.Flags&job.Completing != 0 {
			r.Flags |= api.NodeCompleting
		}
	}
	switch {
	case node.State == partition.NodeDown:
		r.Base = api.NodeDown
	case node.State == partition.NodeFuture:
		r.Base = api.NodeFuture
	case node.State == partition.NodeUnknown:
		r.Base = api.NodeUnknown
	case r.Used.CPUs == 0:
		r.Base = api.NodeIdle
	case r.Used.CPUs >= node.Declared.CPUs:
		r.Base = api.NodeAllocated
	default:
		r.Base = api.NodeMixed
	}
	if n.planned[node.ID] && (r.Base == api.NodeIdle || r.Base == api.NodeMixed) {
		r.Flags |= api.NodePlanned
	}
	if res := n.resv[node.ID]; res != nil {
		r.Reservation = res.Name
		r.Flags |= api.NodeReserved
		if slices.Contains(res.Flags, "MAINT") {
			r.Flags |= api.NodeMaint
		}
	}
}

// inventory counts a node's devices by name and type.
func inventory(inv *gres.Inventory) []gres.Item {
	var items []gres.Item
	for _, d := range inv.Devices {
		i := slices.IndexFunc(items, func(it gres.Item) bool { return it.Name == d.Name && it.Type == d.Type })
		if i < 0 {
			items = append(items, gres.Item{Name: d.Name, Type: d.Type})
			i = len(items) - 1
		}
		items[i].Count++
	}
	return append(items, inv.Counts...)
}

func shape(s partition.Shape) api.NodeShape {
	return api.NodeShape{
		Boards: s.Boards, Sockets: s.Sockets, CoresPerSocket: s.CoresPerSocket, ThreadsPerCore: s.ThreadsPerCore,
		CPUs: s.CPUs, MemoryMB: s.MemoryMB, TmpDiskMB: s.TmpDiskMB, CoreSpec: s.CoreSpec, MemSpecMB: s.MemSpecMB,
	}
}

// partition turns a partition into a record; names says whether to list its
// nodes one by one.
func (n *nodeView) partition(p *partition.Partition, names bool) api.PartitionRecord {
	r := api.PartitionRecord{
		Name: p.Name, NodeList: p.NodeList, Default: p.Default, State: partitionStates(p.State),
		MaxTime: p.MaxTime, DefaultTime: p.DefaultTime, MaxNodes: p.MaxNodes, MinNodes: p.MinNodes,
		PriorityTier: p.PriorityTier, JobFactor: p.JobFactor, MaxCPUsNode: p.MaxCPUsNode,
		DefMemory: api.JobMemory{Per: p.DefMemory.Per, MB: p.DefMemory.MB}, MaxMemory: api.JobMemory{Per: p.MaxMemory.Per, MB: p.MaxMemory.MB},
		OverSubscribe: p.OverSubscribe, AllowAccounts: p.AllowAccounts, DenyAccounts: p.DenyAccounts,
		AllowGroups: p.AllowGroups, AllowQOS: p.AllowQOS, DenyQOS: p.DenyQOS, QOS: p.QOS,
		Hidden: p.Hidden, RootOnly: p.RootOnly, ReqResv: p.ReqResv, DisableRoot: p.DisableRoot, LLN: p.LLN,
		PreemptMode: p.PreemptMode, GraceTime: p.GraceTime, Alternate: p.Alternate,
	}
	list := make([]string, 0, len(p.Nodes))
	for _, id := range p.Nodes {
		node := n.root.Node(id)
		if node == nil {
			continue
		}
		list = append(list, node.Name)
		r.Total.Nodes++
		r.Total.CPUs += node.Declared.CPUs
		r.Total.MemoryMB += node.Declared.MemoryMB
		for _, it := range inventory(&node.Gres) {
			r.Total.Gres = addItem(r.Total.Gres, it.Name, it.Count)
		}
	}
	r.Total.Billing = uint64(r.Total.CPUs)
	if names {
		r.NodeNames = slices.Clone(list)
	}
	hostlist.Sort(list)
	r.Nodes = hostlist.Compress(list)
	return r
}

// partitionStates is Slurm's word for a partition's state.
func partitionStates(s partition.PartitionState) string {
	switch s {
	case partition.PartitionDown:
		return "DOWN"
	case partition.PartitionDrain:
		return "DRAIN"
	case partition.PartitionInactive:
		return "INACTIVE"
	}
	return "UP"
}
