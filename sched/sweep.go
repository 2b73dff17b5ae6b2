package sched

import (
	"math/bits"

	"muster/job"
	"muster/partition"
)

// DefaultGridNodes is the number of nodes from which on a cycle keeps a grid
// when the budget does not say. Below it looking at each node is quicker.
const DefaultGridNodes = 128

func (c *cycle) gridNodes() int {
	if c.budget.GridNodes != 0 {
		return c.budget.GridNodes
	}
	return DefaultGridNodes
}

// onGrid works out which rows of the grid the nodes of a trial must be in. A trial
// that wants nodes by name, in an order of its own, or in a reservation, looks at
// all of its nodes instead.
func (c *cycle) onGrid(t *trial) {
	n := t.need
	t.plain = t.class.Features != nil && t.class.Features.Plain() && !t.part.LLN && !n.Contiguous && !n.Spread &&
		len(n.Counts) == 0 && len(n.Gres.Job) == 0 && (n.Fewest || n.MaxNodes <= max(1, n.MinNodes))
	if c.grid == nil || t.resv != nil || t.named || !t.rising {
		return
	}
	g := c.grid
	floor := c.floor(t)
	t.rows = []int{max(0, floor.cores-1)}
	if floor.memory > 0 && n.Track {
		t.rows = append(t.rows, len(g.cores)+floor.memory-1)
	}
	if floor.gpus > 0 {
		t.rows = append(t.rows, len(g.cores)+len(g.memory)+floor.gpus-1)
	}
	if n.Whole {
		t.rows = append(t.rows, g.idleRow())
	}
	t.rows[0], t.rows[len(t.rows)-1] = t.rows[len(t.rows)-1], t.rows[0] // the scarcest first
}

// floor is the least that a node must have free to be part of a placement, over
// all kinds of nodes.
func (c *cycle) floor(t *trial) level {
	g, n := c.grid, t.need
	cores, memory, gpus := int64(never), int64(never), int64(never)
	for k := range t.kinds {
		h := t.kinds[k].host
		free := h.All()
		if !n.Cost(h, &free, leastTasks(n), nil, &t.cost) {
			return level{}
		}
		sum := int64(0)
		for d, count := range t.cost.Devices {
			if h.Kinds[d].Name == "gpu" && !n.Whole {
				sum += count
			}
		}
		need := max(t.cost.Cores, (n.MinCPUs+h.Threads-1)/h.Threads)
		cores, memory, gpus = min(cores, int64(need)), min(memory, t.cost.MemoryMB), min(gpus, sum)
	}
	if len(t.kinds) == 0 {
		return level{}
	}
	return level{cores: step(g.cores, cores), memory: step(g.memory, memory), gpus: step(g.gpus, gpus)}
}

// placeByGrid is place for a trial with rows: nodes that the grid rules out are
// not looked at, and if the first that suffice are as good as any, nor are those
// behind them.
func (c *cycle) placeByGrid(t *trial, from, to job.Time) ([]partition.Placed, bool) {
	first, end := c.grid.from(from), c.grid.until(to)
	tasks := 0
	for word := t.low; word <= t.high; word++ {
		if t.bits[word] == 0 {
			continue
		}
		c.plan.Steps++
		for set, _ := c.grid.pick(word, t.bits[word], t.rows, first, end); set != 0; {
			got, whole := c.offer(t, word*64+lowest(&set), from, to)
			if tasks += got; got > 0 && t.plain && c.suffices(t, tasks, whole) {
				return c.choose(t)
			}
		}
	}
	if len(c.cands) < t.least || tasks < t.need.Tasks {
		return nil, false
	}
	return c.choose(t)
}

// offer makes a node a candidate if it can take some tasks, and tells how many,
// and whether that is all of the job.
func (c *cycle) offer(t *trial, node int, from, to job.Time) (tasks int, whole bool) {
	if c.blocked(node, from, to, t.resv) != nil {
		return 0, false
	}
	c.plan.Steps++
	x := c.addCandidate(t, node, false, from, to)
	want := max(leastTasks(t.need), t.need.Tasks)
	tasks = t.need.Capacity(x.Host, &x.Free, want, &t.cost)
	if tasks < leastTasks(t.need) {
		c.cands = c.cands[:len(c.cands)-1]
		return 0, false
	}
	return tasks, tasks == want
}

// suffices tells whether the candidates are enough, so that those after them
// would not be taken.
func (c *cycle) suffices(t *trial, tasks int, whole bool) bool {
	n := t.need
	switch {
	case n.MinNodes <= 1 && n.Tasks > 0: // one node for all of it is looked for first
		return whole
	case n.MaxNodes > 0 && len(c.cands) > n.MaxNodes:
		return false
	}
	return len(c.cands) >= t.least && tasks >= n.Tasks
}

// sweep finds the first column at whose beginning a job of the trial can start.
func (c *cycle) sweep(t *trial) (spot, bool) {
	g := c.grid
	length := t.length(0)
	checked := g.from(t.after) // columns from the start up to here have enough nodes
	c.empty = append(c.empty[:0], make([]int, len(t.bits))...)
	for col := checked; col < len(g.start); {
		if col, checked = c.enough(t, col, checked, length); col == len(g.start) || c.spent() {
			break
		}
		start := g.start[col]
		if t.before != 0 && start >= t.before {
			break
		}
		if next := c.mayFit(t, col, g.until(plus(start, length))); next > col {
			col = next
			continue
		}
		if s, ok := c.at(t, start, t.limit, false); ok {
			t.after = start
			return s, true
		}
		col++
	}
	return spot{}, false
}

// enough is the first column, not before col, from which on each row has enough
// nodes of the partition for as long as the job lasts. The columns from col to
// checked are known to have.
func (c *cycle) enough(t *trial, col, checked int, length job.Time) (at, upTo int) {
	g := c.grid
	checked = max(checked, col)
	for col < len(g.start) {
		end := g.until(plus(g.start[col], length))
		short := -1
		for _, row := range t.rows {
			counts := g.counts(t.partAt, row)
			for k := checked; k < end; k++ {
				if int(counts[k]) < t.least {
					short = max(short, k)
					break
				}
			}
		}
		c.plan.Steps += (end - checked) / 16
		if short < 0 {
			return col, max(checked, end)
		}
		col = short + 1
		checked = col
	}
	return len(g.start), len(g.start)
}

// mayFit tells whether the grid leaves enough nodes for a window of columns: then
// it is first, else the next column with which a window may begin.
func (c *cycle) mayFit(t *trial, first, end int) int {
	nodes, next := 0, len(c.grid.start)
	for word := t.low; word <= t.high; word++ {
		if t.bits[word] == 0 {
			continue
		}
		if c.empty[word] > first {
			next = min(next, c.empty[word])
			continue
		}
		c.plan.Steps++
		set, change := c.grid.pick(word, t.bits[word], t.rows, first, end)
		if set == 0 {
			c.empty[word] = change
		}
		if nodes += bits.OnesCount64(set); nodes >= t.least {
			return first
		}
		next = min(next, change)
	}
	return max(next, first+1)
}
