package ctld

import (
	"context"

	"muster/api"
	"muster/ctld/dispatch"
	"muster/ctld/service"
	"muster/internal/faults"
	"muster/job"
	"muster/sched"
	"muster/state"
)

// Root implements service.Core.
func (c *Controller) Root() *state.Root { return c.store.Root() }

// Now implements service.Core.
func (c *Controller) Now() job.Time { return c.store.Now() }

// WaitIndex implements service.Core.
func (c *Controller) WaitIndex(ctx context.Context, index uint64) (*state.Root, error) {
	return c.store.WaitIndex(ctx, index)
}

// Changed implements service.Core.
func (c *Controller) Changed(r *state.Root) <-chan struct{} { return c.store.Changed(r) }

// Propose implements service.Core.
func (c *Controller) Propose(ctx context.Context, e state.Envelope, blobs ...state.Blob) (state.Result, uint64, error) {
	if faults.On(faults.NoRequests) {
		e.Request = state.RequestID{}
	}
	if faults.On(faults.EarlyReply) && e.Kind == state.KindUpdate {
		go c.store.Propose(context.WithoutCancel(ctx), e) // the fault: nobody waits for it
		return state.Result{}, c.store.Root().Index(), nil
	}
	result, index, err := c.store.Propose(ctx, e, blobs...)
	if err == nil && e.Kind == state.KindSubmit && !result.Repeated {
		c.stats.submitted(len(result.Jobs))
	}
	return result, index, err
}

// Blob implements service.Core.
func (c *Controller) Blob(ctx context.Context, h job.Hash) ([]byte, error) {
	return c.store.Blob(ctx, h)
}

// Verdict implements service.Core.
func (c *Controller) Verdict(id job.ID) (sched.Verdict, bool) { return c.words.get(id) }

// Signal implements service.Core.
func (c *Controller) Signal(ctx context.Context, s service.Signal) error {
	l := c.leading.Load()
	if l == nil {
		return api.Errorf(api.ErrUnavailable, "controller %s does not lead", c.cfg.Name)
	}
	return l.dispatcher.Signal(ctx, dispatch.Signal{Job: s.Job, Number: s.Number, Batch: s.Batch, Full: s.Full, Step: s.Step})
}

// Live implements service.Core. Only the leader knows.
func (c *Controller) Live(name string) (service.NodeLive, bool) {
	l := c.leading.Load()
	if l == nil {
		return service.NodeLive{}, false
	}
	v, ok := l.dispatcher.Live(name)
	if !ok {
		return service.NodeLive{}, false
	}
	return service.NodeLive{LoadHundredths: v.LoadHundredths, FreeMemoryMB: v.FreeMemoryMB, Heard: job.TimeOf(v.At)}, true
}

// Usage implements service.Core. Only the leader knows.
func (c *Controller) Usage(id job.ID) (job.Usage, bool) {
	l := c.leading.Load()
	if l == nil {
		return job.Usage{}, false
	}
	return l.dispatcher.Usage(id)
}

// Sign implements service.Core.
func (c *Controller) Sign(message []byte) (signature, certificate []byte, err error) {
	return c.id.Sign(message)
}

// Ledger implements service.Core.
func (c *Controller) Ledger() service.Ledger { return c.ledger }

// Counters implements service.Core.
func (c *Controller) Counters() service.Counters {
	n := c.stats.counters()
	n.Started = c.started
	return n
}

// Controllers implements service.Core.
func (c *Controller) Controllers() []service.Controller {
	leader := c.store.Leader()
	var out []service.Controller
	for _, m := range c.members() {
		r := service.Controller{Name: m.Name, Address: m.Address, Votes: m.Votes, Leader: m.Name == leader}
		if m.Name == c.cfg.Name {
			r.Up, r.Index = true, c.store.Root().Index()
		} else {
			r.Index, r.Up = c.peers.standing(m.Name)
		}
		out = append(out, r)
	}
	return out
}
