package dispatch

import (
	"context"
	"errors"
	"fmt"

	"muster/api"
	"muster/api/pb"
	"muster/job"
)

// Signal is a signal to a running job.
type Signal struct {
	Job    job.ID
	Number uint8
	Batch  bool        // only the batch shell
	Full   bool        // batch shell and steps
	Step   *job.StepID // only this step
}

// Signal sends a signal to the processes of a running job and waits until its
// nodes have taken it.
func (d *Dispatcher) Signal(ctx context.Context, sig Signal) error {
	waits, err := d.sendSignals(sig)
	if err != nil {
		return err
	}
	var failures []error
	for id, w := range waits {
		select {
		case text := <-w.done:
			if text != "" {
				failures = append(failures, fmt.Errorf("node %s: %s", w.node, text))
			}
		case <-ctx.Done():
			failures = append(failures, fmt.Errorf("node %s has not answered: %w", w.node, ctx.Err()))
		}
		d.mu.Lock()
		delete(d.signals, id)
		d.mu.Unlock()
	}
	return errors.Join(failures...)
}

type signalWait struct {
	node string
	done chan string
}

func (d *Dispatcher) sendSignals(sig Signal) (map[uint64]signalWait, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	root := d.cfg.Core.Root()
	j := root.Job(sig.Job)
	if j == nil || !j.State.Active() || j.Alloc == nil {
		return nil, api.Errorf(api.ErrState, "job %d is not running", sig.Job)
	}
	targets := d.targets(j, sig.Batch)
	for _, name := range targets {
		if s := d.sessions[name]; s == nil || !s.synced {
			return nil, api.Errorf(api.ErrUnavailable, "node %s of job %d is not connected", name, sig.Job)
		}
	}
	waits := map[uint64]signalWait{}
	for _, name := range targets {
		d.signalID++
		done := make(chan string, 1)
		d.signals[d.signalID] = done
		waits[d.signalID] = signalWait{node: name, done: done}
		m := d.message(root)
		m.Signal = &pb.Signal{Id: d.signalID, Attempt: attemptOf(j), Number: uint32(sig.Number), BatchOnly: sig.Batch, Full: sig.Full}
		if sig.Step != nil {
			m.Signal.HasStep, m.Signal.Step = true, uint32(*sig.Step)
		}
		d.sessions[name].out.Send(m)
	}
	return waits, nil
}

// targets names the nodes that a signal goes to.
func (d *Dispatcher) targets(j *job.Job, batch bool) []string {
	var names []string
	for i := range j.Alloc.Nodes {
		n := &j.Alloc.Nodes[i]
		if !n.Released && (!batch || n.Node == j.Alloc.BatchNode) {
			names = append(names, n.Name)
		}
	}
	return names
}

func (d *Dispatcher) signalDone(m *pb.SignalDone) {
	if done := d.signals[m.Id]; done != nil {
		delete(d.signals, m.Id)
		done <- m.Error
	}
}
