package paged

import "iter"

// Diff yields the numbers whose items are not the same in two versions of one
// table, ascending. Pages that both versions share are passed over.
func (t *Table[T]) Diff(old *Table[T]) iter.Seq[uint64] {
	a, b := *t, *old
	return func(yield func(uint64) bool) {
		lo, hi := a.span()
		if l, h := b.span(); l < h {
			if lo == hi {
				lo, hi = l, h
			}
			lo, hi = min(lo, l), max(hi, h)
		}
		for k := lo; k < hi; k++ {
			x, y := a.dir(k), b.dir(k)
			if x != y && !diffDirs(x, y, k<<(pageBits+dirBits), yield) {
				return
			}
		}
	}
}

// span is the range of directory numbers.
func (t *Table[T]) span() (lo, hi uint64) { return t.base, t.base + uint64(len(t.dirs)) }

func (t *Table[T]) dir(k uint64) *directory[T] {
	if k-t.base >= uint64(len(t.dirs)) {
		return nil
	}
	return t.dirs[k-t.base]
}

func diffDirs[T any](x, y *directory[T], first uint64, yield func(uint64) bool) bool {
	for at := range uint64(dirLen) {
		var p, q *page[T]
		if x != nil {
			p = x.pages[at]
		}
		if y != nil {
			q = y.pages[at]
		}
		if p != q && !diffPages(p, q, first+at<<pageBits, yield) {
			return false
		}
	}
	return true
}

func diffPages[T any](p, q *page[T], first uint64, yield func(uint64) bool) bool {
	for i := range uint64(pageLen) {
		var a, b *T
		if p != nil {
			a = p.items[i]
		}
		if q != nil {
			b = q.items[i]
		}
		if a != b && !yield(first+i) {
			return false
		}
	}
	return true
}
