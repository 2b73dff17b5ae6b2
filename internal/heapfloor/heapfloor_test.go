package heapfloor

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGrowth(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 6400}, {4 * mb, 1500}, {16 * mb, 300}, {32 * mb, 100}, {64 * mb, 100}, {1000 * mb, 100}} {
		if got := growth(64*mb, c.live); got != c.want {
			t.Errorf("%d MB live: %d %%, want %d %%", c.live/mb, got, c.want)
		}
	}
}

// TestASmallHeapIsCollectedSeldom allocates 1 GB of garbage. Without a floor of
// 64 MB that takes some 250 collections; with one that works, about 20.
func TestASmallHeapIsCollectedSeldom(t *testing.T) {
	old := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(old)
	Set(64 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var keep []byte
	for range 1 << 14 {
		keep = make([]byte, 1<<16)
	}
	runtime.KeepAlive(keep)
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 60 {
		t.Errorf("%d collections", n)
	}
}
