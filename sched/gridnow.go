package sched

// Most of what a cycle asks is whether a job can start now. So the grid also keeps
// which nodes are in a set without a break from the first column on: one look tells
// what walking through all columns of a job's time would. These sets lie by row,
// column, word, so that all words of one look are neighbours in memory.

// sinceNow is the word of nodes that are in a row from the first column to one.
func (g *grid) sinceNow(row, col, word int) *uint64 {
	return &g.now[(row*len(g.start)+col)*g.words+word]
}

// pickNow is pick for windows that begin at the first column.
func (g *grid) pickNow(word int, set uint64, rows []int, end int) uint64 {
	for _, row := range rows {
		set &= *g.sinceNow(row, end-1, word)
	}
	return set
}

// followNow follows a change of a node's columns [first, end) of a row.
func (g *grid) followNow(node, row, first, end int) {
	bit := uint64(1) << (node % 64)
	s := g.row(node/64, row)
	has := bit
	if first > 0 {
		has &= *g.sinceNow(row, first-1, node/64)
	}
	for col := first; col < len(s); col++ {
		has &= s[col]
		since := g.sinceNow(row, col, node/64)
		if *since&bit == has && (has == 0 || col >= end) {
			return // and so it is in all columns behind
		}
		*since = *since&^bit | has
	}
}
