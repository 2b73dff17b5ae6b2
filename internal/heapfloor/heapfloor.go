// Package heapfloor lets the garbage collector of a daemon with little memory run
// seldom. By itself it runs whenever the heap has doubled, which for a heap of a
// few MB means many times a second; a big heap is not let grow further than by
// itself.
package heapfloor

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// usual is the growth that the runtime allows by itself, in percent (GOGC).
const usual = 100

// Set lets the heap grow to bytes before it is collected, for as long as the
// process lives.
func Set(bytes uint64) {
	f := &floor{bytes: bytes, percent: usual}
	f.adjust()
}

// floor is adjusted after each collection.
type floor struct {
	bytes   uint64
	percent int
}

// mark becomes garbage at once, so that its cleanup tells of the next collection.
// It has a size that no other allocation shares its memory with.
type mark [64]byte

func (f *floor) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := growth(f.bytes, live[0].Value.Uint64())
	if d := percent - f.percent; d < -f.percent/10 || d > f.percent/10 {
		debug.SetGCPercent(percent)
		f.percent = percent
	}
	runtime.AddCleanup(new(mark), (*floor).adjust, f)
}

// growth is by how many percent a heap may grow.
func growth(floor, live uint64) int {
	if live >= floor/2 {
		return usual
	}
	return int((floor - live) * 100 / max(live, 1<<20))
}
