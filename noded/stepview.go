package noded

import (
	"fmt"
	"sync"

	"muster/api"
	"muster/api/pb"
	"muster/internal/wire"
	"muster/job"
	"muster/noded/shepherd"
)

// shows are the steps that run here, for those who want to look at their output.
type shows struct {
	mu    sync.Mutex
	steps map[showKey]*step
	used  map[shepherd.Key]map[job.StepID]bool // by attempt: a grant launches once
}

type showKey struct {
	job     job.ID
	attempt uint32
	step    job.StepID
}

func newShows() *shows {
	return &shows{steps: map[showKey]*step{}, used: map[shepherd.Key]map[job.StepID]bool{}}
}

// add notes a step that is about to run; false if it has run before.
func (g *shows) add(st *step) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := shepherd.Key{Job: uint32(st.grant.Job), Attempt: st.grant.Attempt}
	if g.used[k][st.grant.Step] {
		return false
	}
	if g.used[k] == nil {
		g.used[k] = map[job.StepID]bool{}
	}
	g.used[k][st.grant.Step] = true
	g.steps[showKey{st.grant.Job, st.grant.Attempt, st.grant.Step}] = st
	return true
}

// forget drops what is known of the steps of an attempt that is over.
func (g *shows) forget(k shepherd.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.used, k)
}

// remove takes a step away and lets its viewers go.
func (g *shows) remove(st *step) {
	g.mu.Lock()
	delete(g.steps, showKey{st.grant.Job, st.grant.Attempt, st.grant.Step})
	g.mu.Unlock()
	st.viewers.end()
}

func (g *shows) find(k showKey) *step {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.steps[k]
}

// viewBuffer is how many messages a viewer may be behind. One that is slower is
// let go: nobody who only looks holds up a step.
const viewBuffer = 1024

// viewers are those who look at the output of a step.
type viewers struct {
	mu    sync.Mutex
	list  []chan []byte // coded events
	ended bool
}

func (v *viewers) join() chan []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	ch := make(chan []byte, viewBuffer)
	if v.ended {
		close(ch)
		return ch
	}
	v.list = append(v.list, ch)
	return ch
}

func (v *viewers) leave(ch chan []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, c := range v.list {
		if c == ch {
			v.list = append(v.list[:i], v.list[i+1:]...)
			return
		}
	}
}

// show passes output and ends of tasks to the viewers.
func (v *viewers) show(e *api.StepEvent) {
	if e.Output == nil && e.Exit == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.list) == 0 {
		return
	}
	coded := wire.Encode(nil, e)
	kept := v.list[:0]
	for _, ch := range v.list {
		select {
		case ch <- coded:
			kept = append(kept, ch)
		default:
			close(ch)
		}
	}
	v.list = kept
}

func (v *viewers) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	for _, ch := range v.list {
		close(ch)
	}
	v.list = nil
}

// attach shows the output of a running step until it ends.
func (s *stepServer) attach(stream pb.Node_StepServer, g *api.Grant) error {
	st := s.node.shows.find(showKey{g.Job, g.Attempt, g.Step})
	if st == nil || st.launch.Uid != g.UID {
		return refused(stream, fmt.Errorf("step %d.%d does not run on node %s", g.Job, g.Step, s.node.cfg.Name))
	}
	events := st.viewers.join()
	defer st.viewers.leave(events)
	for {
		select {
		case coded, more := <-events:
			if !more {
				return stream.Send(&pb.StepDown{Event: wire.Encode(nil, &api.StepEvent{Done: true})})
			}
			if err := stream.Send(&pb.StepDown{Event: coded}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		case <-s.ctx.Done():
			return nil
		}
	}
}
