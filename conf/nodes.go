package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/gres"
	"muster/internal/hostlist"
	"muster/partition"
)

// maxDevices bounds the devices of one kind on one node.
const maxDevices = 1024

func tableAt(name string, i int) string { return fmt.Sprintf("%s#%d", name, i) }

// nodeTable adds the nodes of one [[node]].
func (b *builder) nodeTable(path string, n *nodeTable) {
	names := b.expand(path, "names", n.Names)
	if n.Names == "" {
		b.fail(path, `[[node]] without names; write, for instance, names = "n[1-4]"`)
	}
	shape := b.shape(path, n)
	inventory := b.inventory(path, n)
	addresses := b.addresses(path, n, names)
	if len(n.Port) > 1 && len(n.Port) != len(names) {
		b.fail(path+".port", "port: %d ports for %d nodes; write one port or one for each", len(n.Port), len(names))
	}
	for _, f := range n.Features {
		b.checkName(path+".features", "feature", f)
	}
	for i, name := range names {
		if !b.checkName(path+".names", "node", name) || !b.first(path+".names", "node", name) {
			continue
		}
		b.nodes = append(b.nodes, name)
		b.file.Cluster.Nodes = append(b.file.Cluster.Nodes, partition.Node{
			Name: name, Declared: shape, Gres: inventory, Features: n.Features, Active: n.Features,
			Weight: n.Weight, Address: addresses[i], Port: portOf(n.Port, i), HostName: name,
		})
		b.file.Nodes = append(b.file.Nodes, Daemon{
			Name: name, Addresses: addresses[i], Bind: n.Bind, Port: portOf(n.Port, i), DataDir: n.DataDir, Real: n.Real,
		})
	}
}

// addresses gives each node its list.
func (b *builder) addresses(path string, n *nodeTable, names []string) [][]string {
	all := make([][]string, len(names))
	for _, expr := range n.Addresses {
		list := b.expand(path, "addresses", expr)
		if len(list) != len(names) {
			b.fail(path+".addresses", "addresses: %s gives %d addresses for %d nodes", kindOf(expr), len(list), len(names))
			continue
		}
		for i := range names {
			all[i] = append(all[i], list[i])
		}
	}
	for i, name := range names {
		if all[i] == nil {
			all[i] = []string{name}
		}
	}
	return all
}

// shape works out the size of a node from what is given of it.
func (b *builder) shape(path string, n *nodeTable) partition.Shape {
	cpus, cores := uint64(n.CPUs), uint64(n.Cores)
	perCore := uint64(n.Sockets) * uint64(n.Threads)
	switch {
	case cpus == 0 && cores == 0:
		b.fail(path, "[[node]] %s needs cpus (nproc says how many) or sockets, cores and threads", n.Names)
		return partition.Shape{}
	case cores == 0 && cpus%perCore != 0:
		b.fail(path+".cpus", "cpus: %d do not divide among %d sockets of %d threads a core", cpus, n.Sockets, n.Threads)
	case cores == 0:
		cores = cpus / perCore
	case cpus == 0:
		cpus = cores * perCore
	case cpus != cores*perCore && cpus != cores*uint64(n.Sockets):
		b.fail(path+".cpus", "cpus: %d, but %d sockets of %d cores of %d threads make %d", cpus, n.Sockets, cores, n.Threads, cores*perCore)
	}
	const most = 65535
	if cpus > most || cores > most || n.Sockets > most || n.Threads > most || n.Boards > most {
		b.fail(path, "[[node]] %s: a node has at most %d CPUs", n.Names, most)
	}
	if n.Memory == 0 {
		b.fail(path, "[[node]] %s needs memory, in MB or as \"64G\" (free -m says how much there is)", n.Names)
	}
	if n.MemSpec >= n.Memory && n.Memory > 0 {
		b.fail(path+".mem_spec", "mem_spec: %d MB of %d MB leaves nothing for jobs", n.MemSpec, n.Memory)
	}
	if uint64(n.CoreSpec) >= cores*uint64(n.Sockets) {
		b.fail(path+".core_spec", "core_spec: %d of %d cores leaves none for jobs", n.CoreSpec, cores*uint64(n.Sockets))
	}
	return partition.Shape{
		Boards: uint16(n.Boards), Sockets: uint16(n.Sockets), CoresPerSocket: uint16(cores), ThreadsPerCore: uint16(n.Threads),
		CPUs: uint32(cpus), MemoryMB: uint64(n.Memory), TmpDiskMB: uint64(n.TmpDisk),
		CoreSpec: n.CoreSpec, MemSpecMB: uint64(n.MemSpec),
	}
}

// inventory makes devices with numbers of GPUs and of every kind whose files
// are named; the other kinds are only counted.
func (b *builder) inventory(path string, n *nodeTable) gres.Inventory {
	var inv gres.Inventory
	files := map[string][]string{}
	for kind, expr := range n.Devices {
		files[kind] = b.expand(path+".devices", kind, expr)
	}
	used := map[string]int{}
	for _, text := range n.Gres {
		item, err := gresItem(text)
		if err != nil {
			b.fail(path+".gres", "gres: %v", err)
			continue
		}
		if item.Name != "gpu" && files[item.Name] == nil {
			inv.Counts = append(inv.Counts, item)
			continue
		}
		for range item.Count {
			d := gres.Device{Name: item.Name, Type: item.Type, Index: used[item.Name], Visible: b.schema.Gres.Visible[item.Name]}
			if f := files[item.Name]; d.Index < len(f) {
				d.File = f[d.Index]
			}
			used[item.Name]++
			inv.Devices = append(inv.Devices, d)
		}
	}
	for kind, list := range files {
		if len(list) != used[kind] {
			b.fail(path+".devices", "devices: %d files of %s, but gres has %d of it", len(list), kind, used[kind])
		}
	}
	slices.SortFunc(inv.Devices, func(x, y gres.Device) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Index, y.Index))
	})
	return inv
}

// gresItem reads name, name:count, name:type or name:type:count.
func gresItem(text string) (gres.Item, error) {
	fields := strings.Split(text, ":")
	item := gres.Item{Name: fields[0], Count: 1}
	if n, err := strconv.ParseUint(fields[len(fields)-1], 10, 32); err == nil && len(fields) > 1 {
		item.Count = n
		fields = fields[:len(fields)-1]
	}
	if len(fields) == 2 {
		item.Type = fields[1]
	}
	if len(fields) > 2 || item.Name == "" || item.Count == 0 || strings.ContainsAny(text, " ,()=") {
		return item, fmt.Errorf("%s: want name:count or name:type:count, such as gpu:a100:8", kindOf(text))
	}
	if item.Name == "gpu" && item.Count > maxDevices {
		return item, fmt.Errorf("%s: a node has at most %d GPUs", kindOf(text), maxDevices)
	}
	return item, nil
}

// partitionNodes checks the nodes of a partition and returns the expression
// that stands for them.
func (b *builder) partitionNodes(path string, p *partitionTable) string {
	if strings.EqualFold(p.Nodes, "ALL") {
		return hostlist.Compress(b.nodes)
	}
	for _, name := range b.expand(path, "nodes", p.Nodes) {
		if _, ok := b.where["node "+name]; !ok {
			b.fail(path+".nodes", "partition %s: no [[node]] has %s%s", p.Name, name, suggest(name, b.nodes))
			return p.Nodes
		}
	}
	return p.Nodes
}
