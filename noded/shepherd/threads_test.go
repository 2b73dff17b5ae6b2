package shepherd

import (
	"sync"
	"testing"
)

// TestLaunchesThatHangHoldUpNoOthers has some launches hang, and others come right
// behind them.
func TestLaunchesThatHangHoldUpNoOthers(t *testing.T) {
	p := &threads{born: newBorn()}
	release := make(chan struct{})
	var hanging, others sync.WaitGroup
	for range 3 {
		hanging.Add(1)
		if err := p.run(func(*thread) { <-release; hanging.Done() }); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			others.Add(1)
			if err := p.run(func(*thread) { others.Done() }); err != nil {
				t.Fatal(err)
			}
		}
	}
	others.Wait()
	close(release)
	hanging.Wait()
}

// TestLaunchesFollowEachOtherOnOneThread: what comes while a launch is under way is
// taken up by its thread.
func TestLaunchesFollowEachOtherOnOneThread(t *testing.T) {
	p := &threads{born: newBorn()}
	var all sync.WaitGroup
	used := map[*thread]int{} // guarded by p.mu
	all.Add(21)
	note := func(t *thread) {
		p.mu.Lock()
		used[t]++
		p.mu.Unlock()
		all.Done()
	}
	if err := p.run(func(t *thread) {
		for range 20 {
			if err := p.run(note); err != nil {
				panic(err)
			}
		}
		note(t)
	}); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 0
	for _, n := range used {
		most = max(most, n)
	}
	// Another thread may come to help if the machine is slow, not one for each.
	if len(used) > 10 || most < 2 {
		t.Errorf("21 launches took %d threads, one at most %d", len(used), most)
	}
}

func TestTooManyHangingLaunchesAreRefused(t *testing.T) {
	p := &threads{live: maxThreads, born: newBorn()}
	if err := p.run(func(*thread) {}); err == nil {
		t.Error("taken")
	}
}
