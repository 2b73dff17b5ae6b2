package published

import (
	"cmp"
	"math/bits"
	"math/rand"
	"slices"

	"muster/gres"
)

// boardKind is a kind of request to our own allocator, which counts memory, too.
type boardKind struct {
	kind int32
	mib  int64
}

// board makes our own allocator over the nodes, and numbers its kinds of request.
func (o *Openb) board(nodes []gpuNode) (*gres.Board, map[boardKind]int) {
	number := map[boardKind]int{}
	var asks []gres.Ask
	for _, p := range o.pods {
		key := boardKind{p.kind, p.mib}
		at, ok := number[key]
		if !ok {
			k := &o.kinds[p.kind]
			at = len(asks)
			number[key] = at
			a := gres.Ask{CPUs: k.cpu, Memory: p.mib, Count: k.num, Share: int(k.milli)}
			if k.models != ^uint64(0) {
				a.Types = k.models
			}
			asks = append(asks, a)
		}
		asks[at].Weight++
	}
	rooms := make([]gres.Room, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		free := make([]int32, len(n.free))
		for g := range free {
			free[g] = int32(n.free[g])
		}
		rooms[i] = gres.Room{CPUs: n.cpu, Memory: n.mib, Type: bitOf(n.model), Free: free}
	}
	return gres.NewBoard(asks, rooms), number
}

// bitOf is the number of the only bit that is set.
func bitOf(mask uint64) int {
	n := 0
	for ; mask > 1; mask >>= 1 {
		n++
	}
	return n
}

// musterOneByOne places the pods of one seed, on the nodes in the order of a seed
// of its own, with our own allocator as they arrive; what fits nowhere is
// dropped. It returns a curve as FGDRun does.
func (o *Openb) musterOneByOne(seed, order int64) []float64 {
	board, number := o.board(o.empty(rand.New(rand.NewSource(order))))
	return o.curve(o.arrivals(seed, fgdArrived), func(p *gpuPod) bool {
		ask := number[boardKind{p.kind, p.mib}]
		room, devices, ok := board.Best(ask)
		if ok {
			board.Take(room, ask, devices)
		}
		return ok
	})
}

// musterQueue is what our own allocator gives away of the GPUs, in per cent, when
// all that one seed brings waits in a queue.
// It plans the queue in several orders and keeps the best plan.
func (o *Openb) musterQueue(seed int64) float64 {
	nodes := o.empty(rand.New(rand.NewSource(seed)))
	queue := o.arrivals(seed, fgdArrived)
	best := int64(0)
	for _, order := range o.queueOrders() {
		list := slices.Clone(queue)
		slices.SortStableFunc(list, order)
		board, number := o.board(nodes)
		allocated := int64(0)
		for i := range list {
			ask := number[boardKind{list[i].kind, list[i].mib}]
			if room, devices, ok := board.Best(ask); ok {
				board.Take(room, ask, devices)
				allocated += o.demand(&list[i])
			}
		}
		best = max(best, allocated)
	}
	return 100 * float64(best) / float64(o.capacity)
}

// queueOrders are the orders in which a queue is planned.
func (o *Openb) queueOrders() []func(a, b gpuPod) int {
	arrival := func(a, b gpuPod) int { return 0 }
	largest := func(a, b gpuPod) int { return cmp.Compare(o.demand(&b), o.demand(&a)) }
	wholes := func(a, b gpuPod) int { // whole GPUs first, shares as they came
		return cmp.Compare(o.demand(&b)/gpuWhole, o.demand(&a)/gpuWhole)
	}
	choosy := func(a, b gpuPod) int { // those that few models suit first
		x, y := &o.kinds[a.kind], &o.kinds[b.kind]
		return cmp.Or(largest(a, b), cmp.Compare(bits.OnesCount64(x.models), bits.OnesCount64(y.models)))
	}
	return []func(a, b gpuPod) int{arrival, largest, wholes, choosy}
}

// MusterResult is what our own allocator comes to, in per cent of the GPUs.
type MusterResult struct {
	Seeds    int
	OneByOne []float64 // mean over the seeds, as in FGDResult: no queue, what does not fit is dropped
	Queue    float64   // mean over the seeds, at 130 per cent of arrivals, all of which wait in a queue
	Spread   float64   // highest less lowest of ten orders of the nodes, with the pods of the first seed, at 100 per cent one by one
}

// Muster runs our own allocator with the seeds of the paper.
func (o *Openb) Muster(seeds int) *MusterResult {
	m := &MusterResult{Seeds: seeds, OneByOne: make([]float64, fgdArrived+1)}
	curves, queues := make([][]float64, seeds), make([]float64, seeds)
	var orders [10]float64
	parallel(seeds+len(orders), func(i int) {
		if i >= seeds {
			orders[i-seeds] = o.musterOneByOne(firstSeed, firstSeed+int64(i-seeds))[100]
			return
		}
		seed := firstSeed + int64(i)
		curves[i] = o.musterOneByOne(seed, seed)
		queues[i] = o.musterQueue(seed)
	})
	for i := range curves {
		for x := range m.OneByOne {
			m.OneByOne[x] += curves[i][x] / float64(seeds)
		}
		m.Queue += queues[i] / float64(seeds)
	}
	m.Spread = slices.Max(orders[:]) - slices.Min(orders[:])
	return m
}
