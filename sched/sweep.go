package sched

import (
	"math"
	"math/bits"
	"slices"

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
		len(n.Counts) == 0 && !t.spreads() && len(n.Gres.Job) == 0 && (n.Fewest || n.MaxNodes <= max(1, n.MinNodes))
	if c.grid == nil || t.resv != nil || t.named || !t.rising || t.high < 0 {
		return
	}
	g := c.grid
	t.floor = c.floorOf(t)
	t.rows = []int{max(0, t.floor.cores-1)}
	if t.floor.memory > 0 && n.Track {
		t.rows = append(t.rows, len(g.cores)+t.floor.memory-1)
	}
	if t.floor.gpus > 0 {
		t.rows = append(t.rows, len(g.cores)+len(g.memory)+t.floor.gpus-1)
	}
	if t.floor.idle = n.Whole; n.Whole {
		t.rows = append(t.rows, g.idleRow())
	}
	t.rows[0], t.rows[len(t.rows)-1] = t.rows[len(t.rows)-1], t.rows[0] // the scarcest first
	t.since = make([]uint16, t.high-t.low+1)
	for w := range t.since {
		if t.bits[t.low+w] == 0 {
			t.since[w] = nowhere
		}
	}
}

// nowhere stands for a word of nodes that a trial has no use for.
const nowhere = 1<<16 - 1

// floorOf is the least that a node must have free to be part of a placement, over
// all kinds of nodes.
func (c *cycle) floorOf(t *trial) level {
	g, n := c.grid, t.need
	cores, memory, gpus := int64(never), int64(never), int64(never)
	for k := range t.kinds {
		h := t.kinds[k].host
		free := h.All()
		if !n.Cost(h, &free, leastTasks(n), nil, &t.cost) {
			t.uneven = true
			return level{}
		}
		sum := int64(0)
		for d, count := range t.cost.Devices {
			if h.Kinds[d].Name == "gpu" && !n.Whole {
				sum += count
			}
		}
		need := int64(max(t.cost.Cores, (n.MinCPUs+h.Threads-1)/h.Threads))
		t.uneven = t.uneven || k > 0 && (need != cores || t.cost.MemoryMB != memory || sum != gpus)
		cores, memory, gpus = min(cores, need), min(memory, t.cost.MemoryMB), min(gpus, sum)
	}
	t.min = least{cores: cores, memory: memory, gpus: gpus}
	if !n.Track {
		t.min.memory = math.MinInt64 // what is free may be less than nothing
	}
	return level{cores: step(g.cores, cores), memory: step(g.memory, memory), gpus: step(g.gpus, gpus)}
}

// inWord lists the nodes of a word that the grid leaves to a trial for a window of
// columns, and the next column with which a window may have others. whole says that
// the window is as long as the jobs of the trial: what it finds empty is noted.
func (c *cycle) inWord(t *trial, word, first, end int, whole bool) (set uint64, next int) {
	if since := int(t.since[word-t.low]); since == nowhere || whole && since > first {
		return 0, since
	}
	c.plan.Steps++
	set, next = c.grid.pick(word, t.bits[word], t.rows, first, end)
	if set == 0 && whole {
		t.since[word-t.low] = uint16(next)
	}
	return set, next
}

// placeByGrid is place for a trial with rows: nodes that the grid rules out are
// not looked at, and if the first that suffice are as good as any, nor are those
// behind them.
func (c *cycle) placeByGrid(t *trial, from, to job.Time) ([]partition.Placed, bool) {
	first, end := c.grid.from(from), c.grid.until(to)
	whole := to == endOf(from, t.limit)
	tasks := 0
	for word := t.low; word <= t.high; word++ {
		set, next := c.inWord(t, word, first, end, whole)
		c.nextColumn = min(c.nextColumn, next)
		for set != 0 {
			got, all := c.offer(t, word*64+lowest(&set), from, to)
			if tasks += got; got > 0 && t.plain && c.suffices(t, tasks, all) {
				return c.choose(t)
			}
		}
	}
	if len(c.cands) < t.least || tasks < t.need.Tasks {
		return nil, false
	}
	c.nextColumn = 0
	return c.choose(t)
}

// offer makes a node a candidate if it can take some tasks, and tells how many,
// and whether that is all of the job.
func (c *cycle) offer(t *trial, node int, from, to job.Time) (tasks int, all bool) {
	c.plan.Steps++
	t.min.kinds = c.grid.own[node].gpus
	if at := c.line(node).opens(from, to-from, &t.min); at > from {
		c.nextColumn = min(c.nextColumn, c.grid.from(at))
		return 0, false
	}
	if c.blocked(node, from, to, t.resv) != nil {
		c.nextColumn = 0 // what else keeps the job off may change at any time
		return 0, false
	}
	x := c.addCandidate(t, node, false, from, to)
	want := max(leastTasks(t.need), t.need.Tasks)
	tasks = t.need.Capacity(x.Host, &x.Free, want, &t.cost)
	if tasks < leastTasks(t.need) {
		c.cands = c.cands[:len(c.cands)-1]
		c.nextColumn = 0
		return 0, false
	}
	return tasks, tasks == want
}

// suffices tells whether the candidates are enough, so that those after them
// would not be taken.
func (c *cycle) suffices(t *trial, tasks int, all bool) bool {
	n := t.need
	switch {
	case n.MinNodes <= 1 && n.Tasks > 0: // one node for all of it is looked for first
		return all
	case n.MaxNodes > 0 && len(c.cands) > n.MaxNodes:
		return false
	}
	return len(c.cands) >= t.least && tasks >= n.Tasks
}

// sweep finds the first column at whose beginning a job of the trial can start.
func (c *cycle) sweep(t *trial) (spot, bool) {
	g := c.grid
	length := t.length(0)
	from := max(g.from(t.after), c.proven(t))
	if t.plain && t.need.MaxNodes == 1 && len(t.class.Licenses.List) == 0 {
		return c.sweepOne(t, from, length)
	}
	checked := from // columns from the start up to here have enough nodes
	for col := from; col < len(g.start); {
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
		c.nextColumn = len(g.start)
		if s, ok := c.at(t, start, t.limit, false); ok {
			t.after = start
			c.prove(t, col)
			return s, true
		}
		if col++; t.plain && t.need.Tasks == 0 && len(t.class.Licenses.List) == 0 {
			col = max(col, c.nextColumn)
		}
	}
	return spot{}, false
}

// sweepOne is sweep for a job that fits on one node: it follows the word of nodes
// that may have one first.
func (c *cycle) sweepOne(t *trial, from int, length job.Time) (spot, bool) {
	g := c.grid
	careful := c.careful()
	if careful { // what is found out holds in this picture only
		t.since = slices.Clone(t.since)
	}
	for !c.spent() {
		word, col := -1, len(g.start)
		for w, since := range t.since {
			if at := max(int(since), from); at < col {
				word, col = t.low+w, at
			}
		}
		if word < 0 {
			break
		}
		start := g.start[col]
		if t.before != 0 && start >= t.before {
			break
		}
		s := spot{start: start, end: endOf(start, t.limit), limit: t.limit}
		set, next := c.inWord(t, word, col, g.until(plus(start, length)), true)
		c.nextColumn = next
		for set != 0 {
			c.cands = c.cands[:0]
			if got, _ := c.offer(t, word*64+lowest(&set), start, s.end); got == 0 {
				continue
			}
			var ok bool
			if s.placed, ok = c.choose(t); ok {
				t.after = start
				c.prove(t, col)
				return s, true
			}
		}
		if at := &t.since[word-t.low]; int(*at) <= col { // the grid left nodes, their lines do not
			*at = uint16(max(col+1, c.nextColumn))
		}
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
		c.plan.Steps += max(0, end-checked) / 16
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
		set, change := c.inWord(t, word, first, end, true)
		if nodes += bits.OnesCount64(set); nodes >= t.least {
			return first
		}
		next = min(next, change)
	}
	return max(next, first+1)
}
