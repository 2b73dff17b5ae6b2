package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"muster/state"
)

// BenchmarkCommit measures the commit of single commands by so many proposers at
// a time, with three voters in this process.
func BenchmarkCommit(b *testing.B) {
	for _, proposers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("proposers=%d", proposers), func(b *testing.B) {
			r := newReplicas(b, 3, Timing{})
			r.startAll()
			r.configure()
			s := r.leader()
			var next atomic.Int64
			b.ResetTimer()
			var all sync.WaitGroup
			for range proposers {
				all.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						e, blob := submission(int(n))
						e.FirstTry = s.Now()
						res, _, err := s.Propose(b.Context(), e, blob)
						if err != nil || res.Code != state.OK {
							b.Errorf("%+v %v", res, err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}
