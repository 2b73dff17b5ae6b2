package published

import (
	"cmp"
	"math/rand"
	"slices"
	"strings"

	"muster/sched/sim/trace"
)

// gpuWhole is a whole GPU, in thousandths.
const gpuWhole = 1000

// Openb is the cluster and a list of pods of the openb traces, made ready for
// runs: names are replaced by numbers.
type Openb struct {
	nodes    []gpuNode // empty
	pods     []gpuPod  // by name
	kinds    []gpuKind // of pods, the most frequent first
	typical  int       // so many of kinds are the typical ones
	capacity int64     // of all GPUs, in thousandths
}

// gpuNode is a node with what is free.
type gpuNode struct {
	cpu, mib int64
	free     []int64 // of each GPU, in thousandths
	model    uint64  // one bit
}

// gpuKind is what pods of one kind ask for. Memory makes no kind of its own, as
// in the paper.
type gpuKind struct {
	cpu    int64
	num    int
	milli  int64
	models uint64 // that suit
	count  int64  // pods of the list
}

type gpuPod struct {
	kind int32
	mib  int64
}

// typicalShare is the part of all pods, in per cent, that the typical kinds make.
const typicalShare = 95

// NewOpenb makes a list of nodes and pods ready.
func NewOpenb(nodes []trace.GPUNode, pods []trace.GPUPod) *Openb {
	o := &Openb{}
	models := map[string]uint64{}
	for _, n := range nodes {
		bit, ok := models[n.Model]
		if !ok {
			bit = 1 << len(models)
			models[n.Model] = bit
		}
		free := make([]int64, n.GPUs)
		for i := range free {
			free[i] = gpuWhole
		}
		o.nodes = append(o.nodes, gpuNode{n.CPU, n.MiB, free, bit})
		o.capacity += int64(n.GPUs) * gpuWhole
	}
	o.sortKinds(pods, models)
	return o
}

// sortKinds finds the kinds of pods. Of kinds that are as frequent, the one that
// comes first in the list stays first.
func (o *Openb) sortKinds(pods []trace.GPUPod, models map[string]uint64) {
	at := map[gpuKind]int32{}
	of := make([]int32, len(pods))
	for i, p := range pods {
		k := gpuKind{cpu: p.CPU, num: p.GPUs, milli: p.Milli, models: ^uint64(0)}
		if p.Models != "" {
			k.models = 0
			for name := range strings.SplitSeq(p.Models, "|") {
				k.models |= models[name]
			}
		}
		n, ok := at[k]
		if !ok {
			n = int32(len(o.kinds))
			at[k] = n
			o.kinds = append(o.kinds, k)
		}
		o.kinds[n].count++
		of[i] = n
	}
	order := make([]int32, len(o.kinds))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(o.kinds[b].count, o.kinds[a].count) })
	place := make([]int32, len(order))
	sorted := make([]gpuKind, len(order))
	for i, k := range order {
		place[k], sorted[i] = int32(i), o.kinds[k]
	}
	o.kinds = sorted
	covered := int64(0)
	for covered*100 < int64(len(pods))*typicalShare && o.typical < len(o.kinds) {
		covered += o.kinds[o.typical].count
		o.typical++
	}
	for i, p := range pods {
		o.pods = append(o.pods, gpuPod{place[of[i]], p.MiB})
	}
}

// demand is what a pod asks of GPUs, in thousandths.
func (o *Openb) demand(p *gpuPod) int64 {
	k := &o.kinds[p.kind]
	return int64(k.num) * k.milli
}

// arrivals is the sequence of pods of one seed: all of the list in a random
// order, then pods drawn from it, until they would ask for more than so many per
// cent of the GPUs. The random numbers are those of the paper's program.
func (o *Openb) arrivals(seed int64, percent int64) []gpuPod {
	r := rand.New(rand.NewSource(seed))
	r.Int()
	list := slices.Clone(o.pods)
	r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	total := int64(0)
	for i := range list {
		total += o.demand(&list[i])
	}
	for {
		p := o.pods[r.Intn(len(o.pods))]
		if total+o.demand(&p) > o.capacity*percent/100 {
			return list
		}
		total += o.demand(&p)
		list = append(list, p)
	}
}

// empty copies the nodes, in a random order.
func (o *Openb) empty(r *rand.Rand) []gpuNode {
	out := make([]gpuNode, len(o.nodes))
	for i, at := range r.Perm(len(o.nodes)) {
		out[i] = o.nodes[at]
		out[i].free = slices.Clone(o.nodes[at].free)
	}
	return out
}
