// Package paged is a sparse table by dense number whose old versions stay as
// they were: copying the Table value keeps a version, and later changes copy
// only the pages that they touch. Its cost in memory goes with the range between
// the lowest and the highest number: 8 bytes for each 16,384.
package paged

import "iter"

// The table has three levels: a slice of directories, directories of pages, and
// pages of pointers. One change after a version was kept copies the slice, one
// directory (2 KiB) and one page (512 B).
const (
	pageBits = 6
	dirBits  = 8
	pageLen  = 1 << pageBits
	dirLen   = 1 << dirBits
)

// Epoch says which pages a writer owns: those made in its present epoch. The
// writer takes a higher epoch after each copy of a Table that is to stay.
type Epoch uint64

// Table is one version. The zero Table is empty. A copy of the value is a
// version of its own as long as the one writer uses a higher Epoch from then on.
// Readers of a kept version need no lock.
type Table[T any] struct {
	dirs  []*directory[T]
	base  uint64 // number of the first directory in dirs
	owner Epoch  // of the slice dirs
	len   int
}

type directory[T any] struct {
	owner Epoch
	used  int // pages that are not nil
	pages [dirLen]*page[T]
}

type page[T any] struct {
	owner Epoch
	used  int
	items [pageLen]*T
}

// Len is the number of items.
func (t *Table[T]) Len() int { return t.len }

// Get finds the item of a number; nil if there is none.
func (t *Table[T]) Get(n uint64) *T {
	d := n>>(pageBits+dirBits) - t.base
	if d >= uint64(len(t.dirs)) || t.dirs[d] == nil {
		return nil
	}
	p := t.dirs[d].pages[n>>pageBits&(dirLen-1)]
	if p == nil {
		return nil
	}
	return p.items[n&(pageLen-1)]
}

// Set puts an item, or takes it out if it is nil.
func (t *Table[T]) Set(e Epoch, n uint64, item *T) {
	if item == nil && t.Get(n) == nil {
		return
	}
	d := t.ownDir(e, n>>(pageBits+dirBits))
	at := n >> pageBits & (dirLen - 1)
	p := d.ownPage(e, at)
	old := p.items[n&(pageLen-1)]
	p.items[n&(pageLen-1)] = item
	switch {
	case old == nil:
		p.used++
		t.len++
	case item == nil:
		p.used--
		t.len--
	}
	if p.used == 0 {
		d.pages[at] = nil
		d.used--
		t.dropEmpty(d, n>>(pageBits+dirBits))
	}
}

// ownDir returns directory k for writing, made or copied as need be.
func (t *Table[T]) ownDir(e Epoch, k uint64) *directory[T] {
	if len(t.dirs) == 0 {
		t.dirs, t.base, t.owner = make([]*directory[T], 1), k, e
	}
	if t.owner != e {
		t.dirs, t.owner = append([]*directory[T](nil), t.dirs...), e
	}
	if k < t.base {
		t.dirs = append(make([]*directory[T], t.base-k), t.dirs...)
		t.base = k
	}
	for uint64(len(t.dirs)) <= k-t.base {
		t.dirs = append(t.dirs, nil)
	}
	d := t.dirs[k-t.base]
	switch {
	case d == nil:
		d = &directory[T]{owner: e}
	case d.owner != e:
		c := *d
		c.owner = e
		d = &c
	}
	t.dirs[k-t.base] = d
	return d
}

func (d *directory[T]) ownPage(e Epoch, at uint64) *page[T] {
	p := d.pages[at]
	switch {
	case p == nil:
		p = &page[T]{owner: e}
		d.used++
	case p.owner != e:
		c := *p
		c.owner = e
		p = &c
	}
	d.pages[at] = p
	return p
}

// dropEmpty takes an empty directory out, and the empty ones at the front with
// it, so that a table whose numbers only grow stays as long as what it holds.
func (t *Table[T]) dropEmpty(d *directory[T], k uint64) {
	if d.used > 0 {
		return
	}
	t.dirs[k-t.base] = nil
	for len(t.dirs) > 0 && t.dirs[0] == nil {
		t.dirs = t.dirs[1:]
		t.base++
	}
	for len(t.dirs) > 0 && t.dirs[len(t.dirs)-1] == nil {
		t.dirs = t.dirs[:len(t.dirs)-1]
	}
}

// From yields numbers and items from number n on, ascending.
func (t *Table[T]) From(n uint64) iter.Seq2[uint64, *T] {
	v := *t
	return func(yield func(uint64, *T) bool) {
		for k, d := range v.dirs {
			first := (uint64(k) + v.base) << (pageBits + dirBits)
			if d == nil || first+pageLen*dirLen <= n {
				continue
			}
			if !d.from(first, n, yield) {
				return
			}
		}
	}
}

func (d *directory[T]) from(first, n uint64, yield func(uint64, *T) bool) bool {
	for at, p := range d.pages {
		start := first + uint64(at)<<pageBits
		if p == nil || start+pageLen <= n {
			continue
		}
		for i, item := range p.items {
			if item != nil && start+uint64(i) >= n && !yield(start+uint64(i), item) {
				return false
			}
		}
	}
	return true
}

// All yields all numbers and items, ascending.
func (t *Table[T]) All() iter.Seq2[uint64, *T] { return t.From(0) }

// First is the lowest number with an item; false if the table is empty.
func (t *Table[T]) First() (uint64, bool) {
	for n := range t.All() {
		return n, true
	}
	return 0, false
}
