package ctld

import (
	"context"
	"fmt"
	"sync"

	"muster/ctld/dispatch"
	"muster/ctld/mail"
	"muster/ctld/store"
	"muster/job"
	"muster/state"
)

// lead is what a controller has while it leads.
type lead struct {
	c          *Controller
	term       uint64
	dispatcher *dispatch.Dispatcher
	followers  *ledgers        // how far each controller's ledger is
	ended      <-chan struct{} // closed when it no longer leads
}

// daemon is the actor of the controllers' own commands.
func (c *Controller) daemon() state.Actor { return state.Actor{Host: c.cfg.Name} }

// lead runs the leader's loops until ctx ends.
func (c *Controller) lead(ctx context.Context, term uint64) {
	if err := c.configure(ctx); err != nil {
		c.log.Error("the cluster file could not be made the configuration", "err", err)
	}
	l := &lead{c: c, term: term, ended: ctx.Done(), followers: newLedgers(), dispatcher: dispatch.New(dispatch.Config{
		Term: term, Core: nodesCore{c.store}, Log: c.log, Clock: c.clock, Controllers: c.addresses(),
	})}
	var loops sync.WaitGroup
	for _, f := range []func(context.Context){l.dispatcher.Run, l.schedule, l.keepTime, l.watchNodes, l.watchConfig, l.trimOutbox, l.rank, l.mail} {
		loops.Go(func() { f(ctx) })
	}
	c.leading.Store(l)
	c.gate.use(l.attach)
	<-ctx.Done()
	c.leading.Store(nil)
	c.gate.use(nil)
	loops.Wait()
	c.log.Info("this controller no longer leads", "term", term)
}

// mail sends the mails that are due until ctx ends.
func (l *lead) mail(ctx context.Context) {
	s := &mail.Sender{Core: l.c, Clock: l.c.clock, Log: l.c.log, Propose: l.propose}
	s.RunUntil(ctx)
}

// attach is how nodes connected to the leader itself reach the dispatcher.
func (l *lead) attach(hello helloMessage, out dispatch.Outbox) receiver {
	return l.dispatcher.Attach(hello, out)
}

// configure makes the cluster file the configuration of a new cluster. Later
// files become it by `muster conf apply` only.
func (c *Controller) configure(ctx context.Context) error {
	if now := c.store.Root().Cluster(); now != nil && now.Name != "" {
		if now.Source != c.file.Cluster.Source {
			c.log.Warn("the cluster file differs from the configuration in force, which stays; apply it to change that", "file", c.cfg.File)
		}
		return nil
	}
	r, index, err := c.store.Propose(ctx, state.Seal(&state.Configure{Cluster: c.file.Cluster}, c.daemon(), state.RequestID{}))
	if err != nil {
		return err
	}
	if r.Code != state.OK {
		return fmt.Errorf("configuration refused: %s", r.Text)
	}
	c.log.Info("the cluster file is the configuration of this new cluster", "file", c.cfg.File, "index", index)
	return nil
}

func (c *Controller) addresses() []string {
	var out []string
	for _, m := range c.members() {
		out = append(out, m.Address)
	}
	return out
}

// propose commits commands of the leader itself and logs what was refused.
func (l *lead) propose(ctx context.Context, what string, list ...state.Command) bool {
	envelopes := make([]state.Envelope, len(list))
	for i, cmd := range list {
		envelopes[i] = state.Seal(cmd, l.c.daemon(), state.RequestID{})
	}
	results, _, err := l.c.store.ProposeAll(ctx, envelopes)
	if err != nil {
		if ctx.Err() == nil {
			l.c.log.Warn("could not commit", "what", what, "err", err)
		}
		return false
	}
	for _, r := range results {
		if r.Code != state.OK {
			l.c.log.Debug("refused by the state", "what", what, "why", r.Text)
		}
	}
	return true
}

// nodesCore is the store as the dispatcher sees it.
type nodesCore struct{ *store.Store }

// Submit implements dispatch.Core.
func (n nodesCore) Submit(e state.Envelope, done func(state.Result, uint64, error)) error {
	return n.Store.Submit(e, nil, func(o store.Outcome) { done(o.Result, o.Index, o.Err) })
}

// LocalBlob implements dispatch.Core.
func (n nodesCore) LocalBlob(h job.Hash) ([]byte, error) { return n.Store.LocalBlob(h) }
