package published

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"
)

// fgdArrived is how much the pods ask for until the end, in per cent of the GPUs.
const fgdArrived = 130

// FGDPolicies are the schedulers of the table of FGD that are rebuilt.
func FGDPolicies() []string { return []string{"random", "bestfit", "fgd"} }

// FGDRun places the pods of one seed, one by one; what fits nowhere is dropped,
// and nothing ever ends. It returns the part of the GPUs that is given away, in
// per cent, at the moment when 0, 1, 2, … 130 per cent have been asked for. The
// error names a policy that there is not.
func (o *Openb) FGDRun(policy string, seed int64) ([]float64, error) {
	r := rand.New(rand.NewSource(seed))
	p := &placing{Openb: o, nodes: o.empty(r), random: r}
	switch policy {
	case "random":
		p.pick = p.anywhere
	case "bestfit":
		p.scores(p.bestFit)
	case "fgd":
		p.scores(p.gradient)
	default:
		return nil, fmt.Errorf("fgd has no policy %q; it has %v", policy, FGDPolicies())
	}
	return o.curve(o.arrivals(seed, fgdArrived), func(pod *gpuPod) bool {
		n := p.pick(pod)
		if n >= 0 {
			p.place(n, &o.kinds[pod.kind], pod.mib)
		}
		return n >= 0
	}), nil
}

// curve gives pods to place, one by one, and notes how much of the GPUs, in per
// cent, is given away when 0, 1, … per cent have been asked for.
func (o *Openb) curve(pods []gpuPod, place func(*gpuPod) bool) []float64 {
	var curve []float64
	arrived, allocated := int64(0), int64(0)
	for _, pod := range pods {
		arrived += o.demand(&pod)
		if place(&pod) {
			allocated += o.demand(&pod)
		}
		for int64(len(curve))*o.capacity <= arrived*100 {
			curve = append(curve, 100*float64(allocated)/float64(o.capacity))
		}
	}
	for len(curve) <= fgdArrived { // the last pod did not fit into the total
		curve = append(curve, 100*float64(allocated)/float64(o.capacity))
	}
	return curve
}

// FGDResult sums up the runs of several seeds.
type FGDResult struct {
	Seeds  int
	Mean   []float64 // allocated, in per cent, when 0, 1, … 130 per cent have been asked for
	Spread float64   // highest less lowest of the seeds at 100 per cent
}

// firstSeed is the first seed of the paper.
const firstSeed = 42

// parallel calls f with 0 to n-1, on two threads.
func parallel(n int, f func(int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range n {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			f(i)
		})
	}
	wait.Wait()
}

// FGDMean runs a policy with the seeds of the paper, 42 and on, on two threads.
func (o *Openb) FGDMean(policy string, seeds int) (*FGDResult, error) {
	curves, errs := make([][]float64, seeds), make([]error, seeds)
	parallel(seeds, func(i int) { curves[i], errs[i] = o.FGDRun(policy, firstSeed+int64(i)) })
	m := &FGDResult{Seeds: seeds, Mean: make([]float64, fgdArrived+1)}
	low, high := math.Inf(1), math.Inf(-1)
	for i, curve := range curves {
		if errs[i] != nil {
			return nil, errs[i]
		}
		for x := range m.Mean {
			m.Mean[x] += curve[x] / float64(seeds)
		}
		low, high = min(low, curve[100]), max(high, curve[100])
	}
	m.Spread = high - low
	return m, nil
}

// placing is one run under way.
type placing struct {
	*Openb
	nodes  []gpuNode
	random *rand.Rand
	pick   func(*gpuPod) int // a node that the pod fits on, -1: none
	gpu    int               // GPU that the last score chose for a part of one
	cache  []kindScores      // by kind
	recent []int32           // nodes in the order in which they changed
	score  func(*gpuNode, *gpuKind) (int64, int)
}

// kindScores is what each node is worth to a kind, as of a number of changes.
type kindScores struct {
	score []int64 // -1: does not fit
	gpu   []int8
	seen  int // so many of placing.recent are in
}

// fits tells whether a kind fits on a node, memory aside.
func (k *gpuKind) fits(n *gpuNode) bool {
	if k.cpu > n.cpu || k.num > 0 && k.models&n.model == 0 {
		return false
	}
	return k.room(n)
}

// room tells whether a node has enough GPUs with enough free.
func (k *gpuKind) room(n *gpuNode) bool {
	count := 0
	for _, free := range n.free {
		if free >= k.milli {
			count++
		}
	}
	return count >= k.num
}

// anywhere picks a node at random.
func (p *placing) anywhere(pod *gpuPod) int {
	k := &p.kinds[pod.kind]
	found, chosen := 0, -1
	for i := range p.nodes {
		if n := &p.nodes[i]; pod.mib <= n.mib && k.fits(n) {
			found++
			if p.random.Intn(found) == 0 {
				chosen = i
			}
		}
	}
	p.gpu = -1
	if chosen >= 0 && k.num == 1 {
		p.gpu = p.anyGPU(p.nodes[chosen].free, k.milli)
	}
	return chosen
}

// anyGPU picks at random a GPU that has enough.
func (p *placing) anyGPU(free []int64, milli int64) int {
	found, chosen := 0, -1
	for i, f := range free {
		if f >= milli {
			found++
			if p.random.Intn(found) == 0 {
				chosen = i
			}
		}
	}
	return chosen
}

// scores makes pick choose the node with the highest score; of equal ones the
// first. Scores are worked out anew only for nodes that changed.
func (p *placing) scores(score func(*gpuNode, *gpuKind) (int64, int)) {
	p.score = score
	p.cache = make([]kindScores, len(p.kinds))
	p.pick = func(pod *gpuPod) int {
		k := p.fresh(pod.kind)
		best, at := int64(-1), -1
		for i, s := range k.score {
			if s > best && pod.mib <= p.nodes[i].mib {
				best, at = s, i
			}
		}
		if at >= 0 {
			p.gpu = int(k.gpu[at])
		}
		return at
	}
}

func (p *placing) fresh(kind int32) *kindScores {
	c, k := &p.cache[kind], &p.kinds[kind]
	look := func(i int32) {
		c.score[i], c.gpu[i] = -1, -1
		if n := &p.nodes[i]; k.fits(n) {
			s, gpu := p.score(n, k)
			c.score[i], c.gpu[i] = s, int8(gpu)
		}
	}
	switch changed := p.recent[c.seen:]; {
	case c.score == nil:
		c.score, c.gpu = make([]int64, len(p.nodes)), make([]int8, len(p.nodes))
		fallthrough
	case len(changed) > len(p.nodes):
		for i := range p.nodes {
			look(int32(i))
		}
	default:
		for at, i := range changed {
			if !slices.Contains(changed[at+1:], i) {
				look(i)
			}
		}
	}
	c.seen = len(p.recent)
	return c
}

// place takes what a kind asks for from a node: whole GPUs, or a part of the GPU
// that the score chose, else of the fullest that has room.
func (p *placing) place(node int, k *gpuKind, mib int64) {
	n := &p.nodes[node]
	n.cpu -= k.cpu
	n.mib -= mib
	gpu := p.gpu
	for range k.num {
		if gpu < 0 {
			gpu = fullest(n.free, k.milli)
		}
		n.free[gpu] -= k.milli
		gpu = -1
	}
	p.recent = append(p.recent, int32(node))
}

// fullest is the GPU with the least that is enough, -1 if none has.
func fullest(free []int64, milli int64) int {
	at := -1
	for i, f := range free {
		if f >= milli && (at < 0 || f < free[at]) {
			at = i
		}
	}
	return at
}

// bestFit prefers the node that has least left (the paper's BestFit).
func (p *placing) bestFit(n *gpuNode, k *gpuKind) (int64, int) {
	const maxCPU, maxGPU = 128_000, 8 * gpuWhole
	gpus := -int64(k.num) * k.milli
	for _, f := range n.free {
		gpus += f
	}
	left := 0.5*float64(n.cpu-k.cpu)/maxCPU + 0.5*float64(gpus)/maxGPU
	return int64(math.Floor(100 * (1 - left))), -1
}

// gradient prefers the node, and the GPU, where least more of the GPUs is lost to
// fragments for the typical pods.
func (p *placing) gradient(n *gpuNode, k *gpuKind) (int64, int) {
	before := p.fragments(n.cpu, n)
	after := *n
	var room [16]int64
	after.free = append(room[:0], n.free...)
	if k.num != 1 || k.milli == gpuWhole {
		for range k.num {
			after.free[fullest(after.free, k.milli)] -= k.milli
		}
		return gradientScore(before - p.fragments(n.cpu-k.cpu, &after)), -1
	}
	best, at := int64(-1), -1
	for i, f := range n.free {
		if f < k.milli || slices.Contains(n.free[:i], f) {
			continue
		}
		after.free[i] -= k.milli
		if s := gradientScore(before - p.fragments(n.cpu-k.cpu, &after)); s > best {
			best, at = s, i
		}
		after.free[i] = f
	}
	return best, at
}

func gradientScore(gained float64) int64 {
	return int64(math.Floor(100 / (1 + math.Exp(-gained/gpuWhole))))
}

// fragments is what of the free GPUs of a node a typical pod cannot use, in
// thousandths, in the mean over the typical kinds.
func (p *placing) fragments(cpu int64, n *gpuNode) float64 {
	all := int64(0)
	for _, f := range n.free {
		all += f
	}
	if all == 0 {
		return 0
	}
	sum, pods := int64(0), int64(0)
	for i := range p.kinds[:p.typical] {
		k := &p.kinds[i]
		pods += k.count
		lost := all
		if k.num > 0 && k.cpu <= cpu && k.models&n.model != 0 {
			small, fit := int64(0), 0
			for _, f := range n.free {
				if f < k.milli {
					small += f
				} else {
					fit++
				}
			}
			if fit >= k.num {
				lost = small
			}
		}
		sum += lost * k.count
	}
	return float64(sum) / float64(pods)
}
