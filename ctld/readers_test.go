package ctld

import (
	"errors"
	"sync"
	"testing"

	"muster/api"
	"muster/ctld/service"
)

// stuck starts a handler of each call that reads. It returns the names of those
// that are in the middle of an answer which the client does not take, and a
// function that lets them end.
func stuck(t *testing.T, c *Controller) (names map[string]bool, release func()) {
	t.Helper()
	gate := make(chan struct{})
	reached := make(chan string) // "": the handler has nothing to send
	var readers sync.WaitGroup
	readings := 0
	for _, m := range c.methods {
		if m.Leader {
			continue
		}
		readings++
		readers.Go(func() {
			said := false
			r := &service.Request{Call: api.Call{Method: m.Name}, Caller: alice, Send: func([]byte) error {
				if !said {
					said = true
					reached <- m.Name
				}
				<-gate
				return nil
			}}
			err := m.Handle(t.Context(), c, r)
			if refusal := (*api.Error)(nil); err != nil && !errors.As(err, &refusal) {
				t.Errorf("%s: %v", m.Name, err)
			}
			if !said {
				reached <- ""
			}
		})
	}
	names = map[string]bool{}
	for range readings {
		names[<-reached] = true
	}
	return names, sync.OnceFunc(func() {
		close(gate)
		readers.Wait()
	})
}

// However slowly clients take their answers: changes are applied, jobs are planned
// and started, and their ends are recorded meanwhile.
func TestNothingWaitsForReaders(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	leader, _ := cs.leader()
	n1 := cs.join("n1", "c1")
	first, _ := cs.submit(1, "c1")
	cs.wait("the first job runs", func() bool { return n1.find(launched(first)) })
	n1.finish(cs, first, 0)

	names, release := stuck(t, leader.Controller)
	defer release()
	for _, want := range []string{api.MethodJobs, api.MethodNodes, api.MethodPartitions, api.MethodAccounting} {
		if !names[want] {
			t.Errorf("%s is not in the middle of an answer: %v are", want, names)
		}
	}
	second, _ := cs.submit(2, "c1")
	cs.wait("the second job runs", func() bool { return n1.find(launched(second)) })
	n1.finish(cs, second, 0)
	cs.wait("the ledger has both", func() bool { return leader.ledger.last() >= 2 })
}
