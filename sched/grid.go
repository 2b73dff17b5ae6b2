package sched

import (
	"math/bits"
	"slices"

	"muster/job"
	"muster/partition"
)

// grid is a coarse picture of the lines of all nodes: time is cut into columns,
// which are finer near the present, and for each column and some levels of each
// resource there is a set of the nodes that have at least so much free in the
// whole of the column. A node that is not in the set for a level cannot give it;
// one that is in it may. So sets rule nodes and whole stretches of time out, 64
// nodes at once, and only what is left is looked at on the lines.
//
// Rows are levels: of cores, of memory, of GPUs, and one for nodes whose cores
// are all free.
type grid struct {
	start  []job.Time // of each column; the last has no end
	rows   int
	cores  []int64 // steps of the rows of cores, ascending
	memory []int64
	gpus   []int64
	sets   []uint64 // by word of 64 nodes, then row, then column
	now    []uint64 // nodes in a set from the first column to this one, by row, column, word
	words  int
	parts  [][]uint16
	count  []int32 // nodes in a set, by partition, then row, then column
	own    []gridNode
}

// gridNode is what the grid needs of a node.
type gridNode struct {
	all  int64 // its cores
	gpus []int // places of the kinds of GPUs among its devices
}

// gridZones are how columns widen: so many columns of so many minutes each.
var gridZones = [...]struct {
	columns int
	minutes job.Time
}{{120, 1}, {132, 10}, {144, 60}, {42, 240}, {46, 1440}}

// newGrid cuts time up from a moment on. The first column begins at it, all others
// at full minutes, hours and so on, so that successive cycles cut alike.
func newGrid(now job.Time) *grid {
	g := &grid{start: []job.Time{now}}
	at := now
	for _, z := range gridZones {
		width := z.minutes * 60_000
		for range z.columns {
			at = (at/width + 1) * width
			g.start = append(g.start, at)
		}
	}
	return g
}

// makeGrid draws the lines of all nodes.
func (c *cycle) makeGrid() {
	g := newGrid(c.now)
	g.steps(c.view)
	g.parts = make([][]uint16, len(c.view.Nodes))
	for p := range c.view.Partitions {
		for _, i := range c.view.Partitions[p].Nodes {
			g.parts[i] = append(g.parts[i], uint16(p))
		}
	}
	g.sets = make([]uint64, (len(c.view.Nodes)+63)/64*g.rows*len(g.start))
	g.now, g.words = make([]uint64, len(g.sets)), (len(c.view.Nodes)+63)/64
	g.count = make([]int32, len(c.view.Partitions)*g.rows*len(g.start))
	for i := range c.view.Nodes {
		g.addNode(c, i)
	}
	g.sum()
	c.grid = g
}

// steps chooses the levels by the largest node.
func (g *grid) steps(v *View) {
	g.own = make([]gridNode, len(v.Nodes))
	cores, memory, gpus := int64(0), int64(0), int64(0)
	for i := range v.Nodes {
		h := v.Nodes[i].Host
		all := h.All()
		own := gridNode{all: int64(all.Cores)}
		sum := int64(0)
		for k := range h.Kinds {
			if h.Kinds[k].Name == "gpu" {
				own.gpus = append(own.gpus, k)
				sum += all.Devices[k]
			}
		}
		g.own[i] = own
		cores, memory, gpus = max(cores, int64(all.Cores)), max(memory, all.MemoryMB), max(gpus, sum)
	}
	g.cores, g.memory, g.gpus = stairs(1, cores, 6), stairs(2000, memory, 2), stairs(1, gpus, 8)
	g.rows = len(g.cores) + len(g.memory) + len(g.gpus) + 1
}

// stairs are steps from first to at most last, each by a part above the one before,
// and at least by first.
func stairs(first, last, part int64) []int64 {
	var out []int64
	for s := first; s <= last; s += max(first, s/part) {
		out = append(out, s)
	}
	return out
}

// step counts the steps that are not above an amount.
func step(steps []int64, amount int64) int {
	n := len(steps)
	for n > 0 && steps[n-1] > amount {
		n--
	}
	return n
}

// level is how many rows of each kind a node is in.
type level struct {
	cores, memory, gpus int
	idle                bool
}

// levelOf works out the rows for what a node has free.
func (g *grid) levelOf(node int, cores, memory int64, devices []int64) level {
	own := &g.own[node]
	l := level{cores: step(g.cores, cores), memory: step(g.memory, memory), idle: cores >= own.all}
	if len(own.gpus) > 0 {
		sum := int64(0)
		for _, k := range own.gpus {
			sum += devices[k]
		}
		l.gpus = step(g.gpus, sum)
	}
	return l
}

// idleRow is the row of nodes whose cores are all free.
func (g *grid) idleRow() int { return g.rows - 1 }

// column is the one that a moment lies in.
func (g *grid) column(t job.Time) int {
	i, found := slices.BinarySearch(g.start, t)
	if !found {
		i--
	}
	return max(i, 0)
}

// from is the first column that begins at a moment or later; the first column of
// all begins early enough for all that is to come.
func (g *grid) from(t job.Time) int {
	if t <= g.start[0] {
		return 0
	}
	i, _ := slices.BinarySearch(g.start, t)
	return i
}

// until is the number of columns that have ended at a moment.
func (g *grid) until(t job.Time) int {
	if t == never {
		return len(g.start)
	}
	i, found := slices.BinarySearch(g.start, t)
	if found {
		return i
	}
	return max(0, i-1)
}

// row is the slice of one word of nodes and one row, by column.
func (g *grid) row(word, row int) []uint64 {
	n := len(g.start)
	at := (word*g.rows + row) * n
	return g.sets[at : at+n]
}

func (g *grid) counts(part, row int) []int32 {
	n := len(g.start)
	at := (part*g.rows + row) * n
	return g.count[at : at+n]
}

// each calls f for all rows that a level is in.
func (g *grid) each(l level, f func(row int)) {
	g.between(level{}, l, f)
}

// between calls f for the rows that a level is in and a lower one is not.
func (g *grid) between(low, high level, f func(row int)) {
	for r := low.cores; r < high.cores; r++ {
		f(r)
	}
	base := len(g.cores)
	for r := low.memory; r < high.memory; r++ {
		f(base + r)
	}
	base += len(g.memory)
	for r := low.gpus; r < high.gpus; r++ {
		f(base + r)
	}
	if high.idle && !low.idle {
		f(g.idleRow())
	}
}

// addNode marks where the sets of a node begin and end; sum makes sets of the
// marks.
func (g *grid) addNode(c *cycle, node int) {
	last := level{}
	bit := uint64(1) << (node % 64)
	g.walk(c, node, 0, len(g.start), func(col, _ int, l level) {
		mark := func(row int, sign int32) {
			g.row(node/64, row)[col] ^= bit
			for _, p := range g.parts[node] {
				g.counts(int(p), row)[col] += sign
			}
		}
		g.between(last, l, func(row int) { mark(row, 1) })
		g.between(l, last, func(row int) { mark(row, -1) })
		last = l
	})
}

// sum turns marks of change into sets and counts.
func (g *grid) sum() {
	n := len(g.start)
	for at := 0; at < len(g.sets); at += n {
		s := g.sets[at : at+n]
		for i := 1; i < n; i++ {
			s[i] ^= s[i-1]
		}
		word, row := at/n/g.rows, at/n%g.rows
		has := ^uint64(0)
		for i := range s {
			has &= s[i]
			*g.sinceNow(row, i, word) = has
		}
	}
	for at := 0; at < len(g.count); at += n {
		s := g.count[at : at+n]
		for i := 1; i < n; i++ {
			s[i] += s[i-1]
		}
	}
}

// walk goes through columns [first, end) in runs of the same level: that of the
// least that the node has free within each column, reservations counted as busy.
func (g *grid) walk(c *cycle, node, first, end int, f func(first, end int, l level)) {
	ln := &c.lines[node]
	w := ln.width()
	seg := ln.segment(g.start[first])
	least := make([]int64, w)
	runAt, run := first, level{}
	for col := first; col < end; col++ {
		if skip := g.steady(c, node, ln, seg, col, end); skip > col && col > first && run == g.levelOf(node, ln.free[seg*w], ln.free[seg*w+1], ln.free[seg*w+2:(seg+1)*w]) {
			col = skip - 1
			continue
		}
		from, to := g.start[col], never
		if col+1 < len(g.start) {
			to = g.start[col+1]
		}
		for seg+1 < len(ln.at) && ln.at[seg+1] <= from {
			seg++
		}
		copy(least, ln.free[seg*w:(seg+1)*w])
		next := seg
		for next+1 < len(ln.at) && ln.at[next+1] < to {
			next++
			for k, v := range ln.free[next*w : (next+1)*w] {
				least[k] = min(least[k], v)
			}
		}
		l := g.levelOf(node, least[0], least[1], least[2:])
		if c.reserved != nil && len(c.reserved[node]) > 0 && c.blocked(node, from, to, nil) != nil {
			l = level{}
		}
		switch {
		case col == first:
			run = l
		case l != run:
			f(runAt, col, run)
			runAt, run = col, l
		}
	}
	f(runAt, end, run)
}

// steady is the end of the columns from col on that lie within one segment of a
// node's line; col itself if it does not, or if reservations are to be looked at.
func (g *grid) steady(c *cycle, node int, ln *line, seg, col, end int) int {
	if c.reserved != nil && len(c.reserved[node]) > 0 || g.start[col] < ln.at[seg] {
		return col
	}
	if seg+1 == len(ln.at) {
		return end
	}
	return min(end, max(col, g.column(ln.at[seg+1])))
}

// lower clears what a node no longer has after r was taken off its line from one
// time to another.
func (g *grid) lower(c *cycle, node int, from, to job.Time, r *partition.Room) {
	first, end := g.column(from), g.column(to-1)+1
	bit := uint64(1) << (node % 64)
	ln := &c.lines[node]
	w := ln.width()
	i := ln.segment(from)
	for col := first; col < end; {
		s := ln.free[i*w : (i+1)*w]
		stop := end
		if i+1 < len(ln.at) && ln.at[i+1] < to {
			stop = min(end, g.column(ln.at[i+1]-1)+1)
		}
		g.clear(node, col, stop, bit, s, r)
		if i+1 == len(ln.at) || ln.at[i+1] >= to {
			break
		}
		i++
		col = g.column(ln.at[i])
	}
}

// clear takes a node out of the rows between what it had in a segment and what it
// has now, in columns [first, end).
func (g *grid) clear(node, first, end int, bit uint64, free []int64, r *partition.Room) {
	now := g.levelOf(node, free[0], free[1], free[2:])
	gpus := int64(0)
	own := &g.own[node]
	for _, k := range own.gpus {
		gpus += free[2+k]
		if k < len(r.Devices) {
			gpus += r.Devices[k]
		}
	}
	had := level{
		cores: step(g.cores, free[0]+int64(r.Cores)), memory: step(g.memory, free[1]+r.MemoryMB),
		gpus: step(g.gpus, gpus), idle: free[0]+int64(r.Cores) >= own.all,
	}
	g.between(now, had, func(row int) {
		s := g.row(node/64, row)[first:end]
		for col := range s {
			if s[col]&bit == 0 {
				continue
			}
			s[col] &^= bit
			for _, p := range g.parts[node] {
				g.counts(int(p), row)[first+col]--
			}
		}
		g.followNow(node, row, first, end)
	})
}

// redraw draws a node's columns anew.
func (g *grid) redraw(c *cycle, node int, from, to job.Time) {
	bit := uint64(1) << (node % 64)
	g.walk(c, node, g.column(from), g.column(to-1)+1, func(first, end int, l level) {
		is := make([]bool, g.rows)
		g.each(l, func(row int) { is[row] = true })
		for row, in := range is {
			s := g.row(node/64, row)[first:end]
			for col := range s {
				if s[col]&bit != 0 == in {
					continue
				}
				s[col] ^= bit
				change := int32(-1)
				if in {
					change = 1
				}
				for _, p := range g.parts[node] {
					g.counts(int(p), row)[first+col] += change
				}
			}
			g.followNow(node, row, first, end)
		}
	})
}

// pick lists the nodes of a word that are in all of some rows during columns
// [first, end). A window that begins at first or later, but before next, has no
// other nodes of the word.
func (g *grid) pick(word int, set uint64, rows []int, first, end int) (in uint64, next int) {
	if first == 0 && end > 0 {
		return g.pickNow(word, set, rows, end), 1
	}
	next = len(g.start)
	for _, row := range rows {
		s := g.row(word, row)[:end]
		for col := end - 1; col >= first; col-- {
			if left := set & s[col]; left != set {
				if set, next = left, min(next, col+1); set == 0 {
					return 0, next
				}
			}
		}
	}
	return set, next
}

// lowest takes the lowest member out of a set.
func lowest(set *uint64) int {
	n := bits.TrailingZeros64(*set)
	*set &= *set - 1
	return n
}
