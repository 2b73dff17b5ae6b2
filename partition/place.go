package partition

import (
	"cmp"
	"slices"
)

// Candidate is a host that a job may use, with what is free there.
type Candidate struct {
	Host     *Host
	Free     Room
	Index    int  // place in the cluster file; neighbours are contiguous
	Required bool // the job must have it (--nodelist, counted features)
}

// Placed is one node of a placement: the candidate's place in the list, and what
// the job takes there.
type Placed struct {
	At int
	Take
}

// Placer chooses nodes for jobs. It keeps its working memory between calls and
// must not be used by two goroutines at once.
type Placer struct {
	caps  []int // tasks that each candidate can take
	order []int
	picks []int
	cost  Take
}

// Place chooses nodes for a need from candidates that are in order of preference.
// It is false when the candidates do not suffice; then fit is how many of them
// could take a part of the job.
func (pl *Placer) Place(n *Need, cands []Candidate) (placed []Placed, fit int, ok bool) {
	types := gpuTypes(n, cands)
	if len(types) < 2 {
		return pl.place(n, cands)
	}
	for _, typ := range types {
		placed, some, ok := pl.place(ofType(n, typ), cands)
		if ok {
			return placed, some, true
		}
		fit = max(fit, some)
	}
	return nil, fit, false
}

// place is Place of a need that takes devices as they come.
func (pl *Placer) place(n *Need, cands []Candidate) (placed []Placed, fit int, ok bool) {
	if at, fast := pl.single(n, cands); fast {
		if at < 0 {
			return nil, 0, false
		}
		return []Placed{{At: at, Take: pl.cost.clone()}}, 1, true
	}
	fit = pl.measure(n, cands)
	if len(n.Counts) == 0 {
		placed, ok = pl.placeOn(n, cands, n.MinNodes, n.MaxNodes)
		return placed, fit, ok
	}
	for _, c := range slices.Backward(n.Counts) {
		if placed, ok = pl.placeOn(n, cands, int(c), int(c)); ok {
			return placed, fit, true
		}
	}
	return nil, fit, false
}

func (t *Take) clone() Take {
	c := *t
	c.Devices = slices.Clone(t.Devices)
	return c
}

// single is the common case of a job that fits on one node: the first candidate
// that takes all of it. fast is false when the job needs the general way.
func (pl *Placer) single(n *Need, cands []Candidate) (at int, fast bool) {
	if n.MinNodes > 1 || n.MaxNodes > 1 || len(n.Counts) > 0 || n.Contiguous || n.Spread || !zero(n.Gres.Job) {
		return -1, false
	}
	want := n.TotalTasks(1)
	for i := range cands {
		if cands[i].Required {
			return -1, false
		}
	}
	for i := range cands {
		c := &cands[i]
		if pl.fitsWhole(n, c, want) {
			return i, true
		}
	}
	return -1, n.MaxNodes == 1
}

func (pl *Placer) fitsWhole(n *Need, c *Candidate, want int) bool {
	if c.Free.Cores == 0 || c.Free.Cores*c.Host.Threads < n.MinCPUs || n.PerNode > 0 && want > n.PerNode {
		return false
	}
	return n.Cost(c.Host, &c.Free, want, nil, &pl.cost) && n.Inside(&pl.cost, &c.Free)
}

// measure works out what each candidate can take and how many can take something.
func (pl *Placer) measure(n *Need, cands []Candidate) int {
	pl.caps = pl.caps[:0]
	fit := 0
	want := n.Tasks
	if want == 0 {
		want = max(1, n.PerNode)
	}
	for i := range cands {
		c := 0
		if jobDevices(n, &cands[i]) {
			c = n.Capacity(cands[i].Host, &cands[i].Free, want, &pl.cost)
		}
		if n.Tasks == 0 && c < want {
			c = 0 // ntasks-per-node tasks on each node or none
		}
		if c > 0 {
			fit++
		}
		pl.caps = append(pl.caps, c)
	}
	return fit
}

// placeOn places on at least low and at most high nodes (0: no limit).
func (pl *Placer) placeOn(n *Need, cands []Candidate, low, high int) ([]Placed, bool) {
	if n.Contiguous {
		return pl.contiguous(n, cands, low, high)
	}
	pl.order = pl.order[:0]
	for i := range cands {
		if pl.caps[i] > 0 {
			pl.order = append(pl.order, i)
		} else if cands[i].Required {
			return nil, false
		}
	}
	if high == 1 {
		return pl.one(n, cands)
	}
	prefer := func(better func(i int) int64) ([]Placed, bool) {
		slices.SortStableFunc(pl.order, func(a, b int) int {
			return cmp.Or(cmp.Compare(first(cands[b]), first(cands[a])), cmp.Compare(better(b), better(a)))
		})
		return pl.pick(n, cands, low, high)
	}
	placed, ok := prefer(func(int) int64 { return 0 })
	if !ok && high > 0 { // in order of preference the nodes were too small for so few
		placed, ok = prefer(func(i int) int64 { return int64(pl.caps[i]) })
		if !ok && !zero(n.Gres.Job) {
			placed, ok = prefer(func(i int) int64 { return onHost(n.Gres.Job[0], &cands[i]) })
		}
	}
	return placed, ok
}

// one places on a single node: the first that suffices.
func (pl *Placer) one(n *Need, cands []Candidate) ([]Placed, bool) {
	required := slices.IndexFunc(cands, func(c Candidate) bool { return c.Required })
	list := slices.Clone(pl.order)
	for _, i := range list {
		if required >= 0 && (i != required || slices.ContainsFunc(cands[i+1:], func(c Candidate) bool { return c.Required })) {
			continue
		}
		pl.order = append(pl.order[:0], i)
		if placed, ok := pl.pick(n, cands, 1, 1); ok {
			return placed, true
		}
	}
	return nil, false
}

func first(c Candidate) int {
	if c.Required {
		return 1
	}
	return 0
}

// contiguous tries each run of neighbours, and each start in it.
func (pl *Placer) contiguous(n *Need, cands []Candidate, low, high int) ([]Placed, bool) {
	byIndex := make([]int, 0, len(cands))
	required := 0
	for i := range cands {
		byIndex = append(byIndex, i)
		required += first(cands[i])
	}
	slices.SortFunc(byIndex, func(a, b int) int { return cmp.Compare(cands[a].Index, cands[b].Index) })
	for start := range byIndex {
		pl.order = pl.order[:0]
		seen := 0
		for k := start; k < len(byIndex) && (high == 0 || len(pl.order) < high); k++ {
			i := byIndex[k]
			if pl.caps[i] == 0 || k > start && cands[i].Index != cands[byIndex[k-1]].Index+1 {
				break
			}
			pl.order = append(pl.order, i)
			seen += first(cands[i])
			if seen < required || len(pl.order) < low {
				continue
			}
			if placed, ok := pl.pick(n, cands, len(pl.order), len(pl.order)); ok {
				return placed, true
			}
		}
	}
	return nil, false
}

// pick takes candidates in pl.order until they suffice, then deals the tasks and
// the job's devices out.
func (pl *Placer) pick(n *Need, cands []Candidate, low, high int) ([]Placed, bool) {
	want := low
	grow := high > low && !n.Fewest || n.Spread
	if grow {
		want = len(pl.order)
		if high > 0 {
			want = min(want, high)
		}
		if n.Tasks > 0 {
			want = max(low, min(want, n.Tasks))
		}
	}
	pl.picks = pl.picks[:0]
	sum := 0
	for _, i := range pl.order {
		if high > 0 && len(pl.picks) == high {
			break
		}
		enough := len(pl.picks) >= want && sum >= n.Tasks && jobDevicesEnough(n, cands, pl.picks)
		if enough && !cands[i].Required {
			break
		}
		pl.picks = append(pl.picks, i)
		sum += pl.caps[i]
	}
	if len(pl.picks) < low || sum < n.Tasks || !jobDevicesEnough(n, cands, pl.picks) {
		return nil, false
	}
	for _, i := range pl.order {
		if cands[i].Required && !slices.Contains(pl.picks, i) {
			return nil, false
		}
	}
	slices.SortFunc(pl.picks, func(a, b int) int { return cmp.Compare(cands[a].Index, cands[b].Index) })
	return pl.deal(n, cands)
}

// deal gives each picked node its tasks: as many as it takes while one is left
// for each node after it (Slurm's block way), or evenly with --spread-job and with
// --ntasks-per-node.
func (pl *Placer) deal(n *Need, cands []Candidate) ([]Placed, bool) {
	nodes := len(pl.picks)
	out := make([]Placed, 0, nodes)
	rest := n.Tasks
	devices := newDealer(n)
	for k, i := range pl.picks {
		c := &cands[i]
		t := pl.caps[i]
		if n.Tasks > 0 {
			after := nodes - k - 1
			if n.Spread || n.PerNode > 0 {
				t = min(t, (rest+after)/(after+1))
			}
			t = max(1, min(t, rest-after))
			rest -= t
		}
		take, ok := devices.give(n, c, t, nodes-k-1)
		if !ok {
			return nil, false
		}
		out = append(out, Placed{At: i, Take: take})
	}
	return out, rest <= 0 && devices.done()
}
