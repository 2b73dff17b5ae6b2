package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"muster/api"
	"muster/job"
	"muster/state"
)

// Bounds of the batcher.
const (
	entryBytes    = 256 << 10 // an entry is closed when it has so much
	inFlight      = 2         // entries that are committed at the same time
	queueBytes    = 64 << 20  // of all who wait
	queueCommands = 65_536    // of all who wait
	userShare     = 4         // one user may fill at most this part of either
)

// Outcome is what became of one proposed command.
type Outcome struct {
	Result state.Result
	Index  uint64 // of its entry
	Err    error  // it was not committed, or nobody knows
}

// item is one command on its way.
type item struct {
	env   state.Envelope
	blobs []state.Blob
	size  int
	gone  *atomic.Bool  // nobody waits any more; nil: it is sent in any case
	done  func(Outcome) // called once, from the batcher's goroutines: must not block
}

// flight is one entry between Apply and its result.
type flight struct {
	items  []item
	future raft.ApplyFuture
}

// batcher gathers the commands that arrive while earlier entries are in flight
// into the next entry, and keeps entries apart that follow each other. Users take turns, so that one who sends thousands does
// not delay another one's single command.
type batcher struct {
	store   *Store
	wake    chan struct{}
	slots   chan struct{}
	flights chan flight
	pace    pace // of run

	mu       sync.Mutex
	leads    bool
	queues   map[sender]*queue
	turns    []*queue // those that are not empty, in turn
	bytes    int
	commands int
}

// sender is whose queue a command waits in: one for each user, and one for the
// controller's own commands, which are never refused for being many.
type sender struct {
	daemon bool
	uid    uint32
}

type queue struct {
	from  sender
	items []item
	bytes int
}

func newBatcher(s *Store) *batcher {
	return &batcher{store: s, wake: make(chan struct{}, 1), slots: make(chan struct{}, inFlight),
		flights: make(chan flight, inFlight), queues: map[sender]*queue{}}
}

// open lets commands in: this controller leads.
func (b *batcher) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leads = true
}

// shut refuses what waits and what comes until open is called again.
func (b *batcher) shut() {
	b.mu.Lock()
	b.leads = false
	var waiting []item
	for _, q := range b.queues {
		waiting = append(waiting, q.items...)
	}
	clear(b.queues)
	b.turns, b.bytes, b.commands = nil, 0, 0
	b.mu.Unlock()
	for _, it := range waiting {
		it.done(Outcome{Err: b.store.notLeading()})
	}
}

// add queues commands of one sender, all of them or none.
func (b *batcher) add(items []item) error {
	if len(items) == 0 {
		return nil
	}
	first := items[0].env
	from := sender{uid: first.By.UID, daemon: first.Request == state.RequestID{}}
	size := 0
	for i := range items {
		it := &items[i]
		it.size = len(it.env.Body) + len(it.env.By.User) + len(it.env.By.Host) + 64
		for _, bl := range it.blobs {
			it.size += len(bl.Data) + 24
		}
		size += it.size
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.leads {
		return b.store.notLeading()
	}
	if err := b.store.holdError(); err != nil {
		return err
	}
	q := b.queues[from]
	if q == nil {
		q = &queue{from: from}
	}
	if err := b.room(q, from, len(items), size); err != nil {
		return err
	}
	if len(q.items) == 0 {
		b.queues[from] = q
		b.turns = append(b.turns, q)
	}
	q.items = append(q.items, items...)
	q.bytes += size
	b.bytes += size
	b.commands += len(items)
	wake(b.wake)
	return nil
}

// room refuses a user's command when too much waits. Controllers' own commands
// are few and bounded by those who make them.
func (b *batcher) room(q *queue, from sender, n, size int) error {
	switch {
	case from.daemon:
		return nil
	case len(q.items)+n > queueCommands/userShare || q.bytes+size > queueBytes/userShare:
		return &api.Error{Kind: api.ErrBusy, Text: fmt.Sprintf("too many requests of user %d wait at the controller", from.uid),
			Hint: "try again in a moment, or submit an array"}
	case b.commands+n > queueCommands || b.bytes+size > queueBytes:
		return &api.Error{Kind: api.ErrBusy, Text: "too many requests wait at the controller", Hint: "try again in a moment"}
	}
	return nil
}

// run sends entries until ctx ends.
func (b *batcher) run(ctx context.Context) {
	defer close(b.flights)
	defer b.shut()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		for b.next(ctx) {
		}
	}
}

// next sends one entry. It takes the slot and its turn first, so that what comes
// while it waits for them goes along.
func (b *batcher) next(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case b.slots <- struct{}{}:
	}
	if !b.turn(ctx) {
		<-b.slots
		return false
	}
	items := b.gather()
	if len(items) == 0 {
		<-b.slots
		return false
	}
	b.pace.sent(time.Now(), users(items))
	b.flights <- flight{items: items, future: b.store.raft.Apply(b.entry(items), 0)}
	return true
}

// users counts the commands that users sent.
func users(items []item) int {
	n := 0
	for i := range items {
		if (items[i].env.Request != state.RequestID{}) {
			n++
		}
	}
	return n
}

// turn waits until the next entry may go; false if there is none.
func (b *batcher) turn(ctx context.Context) bool {
	for {
		any, user := b.waiting()
		if !any || ctx.Err() != nil {
			return false
		}
		d := b.pace.wait(time.Now(), user)
		if d == 0 {
			return true
		}
		t := time.NewTimer(d)
		select {
		case <-t.C:
		case <-b.wake: // perhaps a user's command, which goes sooner
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// waiting tells whether there is something for an entry, and whether a user
// waits for it.
func (b *batcher) waiting() (any, user bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.turns) > 0, slices.ContainsFunc(b.turns, func(q *queue) bool { return !q.from.daemon })
}

// gather takes one command of each sender in turn until the entry is full.
func (b *batcher) gather() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	var items []item
	for size := 0; len(b.turns) > 0 && size < entryBytes; {
		q := b.turns[0]
		b.turns = b.turns[1:]
		it := q.items[0]
		q.items[0] = item{}
		q.items = q.items[1:]
		q.bytes -= it.size
		b.bytes -= it.size
		b.commands--
		if len(q.items) > 0 {
			b.turns = append(b.turns, q)
		} else {
			delete(b.queues, q.from)
		}
		if it.gone == nil || !it.gone.Load() {
			items = append(items, it)
			size += it.size
		}
	}
	return items
}

// entry makes the bytes of a raft entry. Blobs that the state knows are left
// out: every replica has them.
func (b *batcher) entry(items []item) []byte {
	e := state.Entry{Now: b.store.time.now(), Commands: make([]state.Envelope, 0, len(items))}
	root := b.store.Root()
	seen := map[job.Hash]bool{}
	size := 64
	for _, it := range items {
		e.Commands = append(e.Commands, it.env)
		size += it.size
		for _, bl := range it.blobs {
			if !seen[bl.Hash] && root.Blob(bl.Hash) == 0 {
				e.Blobs = append(e.Blobs, bl)
			}
			seen[bl.Hash] = true
		}
	}
	return e.Encode(make([]byte, 0, size))
}

// collect hands the results of entries back, in the order in which they were
// sent, until run has ended.
func (b *batcher) collect() {
	for f := range b.flights {
		err := b.await(f.future)
		<-b.slots
		deliver(f, b.failure(err))
	}
}

// await waits for the result of an entry. Raft forgets entries that it had not
// come to when it was shut down: nobody would ever answer for them.
func (b *batcher) await(f raft.ApplyFuture) error {
	result := make(chan error, 1)
	go func() { result <- f.Error() }() // at shutdown it may outlive the store
	select {
	case err := <-result:
		return err
	case <-b.store.down:
		return raft.ErrRaftShutdown
	}
}

// failure is what a proposer is told. After a lost lead the command may still
// be committed by the next leader: the same request id brings its answer.
func (b *batcher) failure(err error) error {
	if err == nil {
		return nil
	}
	return &api.Error{Kind: api.ErrUnavailable, Text: fmt.Sprintf("controller %s could not commit: %v", b.store.cfg.Name, err)}
}

func deliver(f flight, err error) {
	var a applied
	if err == nil {
		a, _ = f.future.Response().(applied)
		err = a.err
	}
	if err == nil && len(a.results) != len(f.items) {
		err = fmt.Errorf("raft entry %d has %d results for %d commands", f.future.Index(), len(a.results), len(f.items))
	}
	for i, it := range f.items {
		if err != nil {
			it.done(Outcome{Err: err})
			continue
		}
		it.done(Outcome{Result: a.results[i], Index: f.future.Index()})
	}
}

// Submit queues one command and returns; done is called with what became of it,
// from a goroutine that must not be blocked. An error means that it will not be.
func (s *Store) Submit(e state.Envelope, blobs []state.Blob, done func(Outcome)) error {
	return s.batch.add([]item{{env: e, blobs: blobs, done: done}})
}

// Propose commits one command. When ctx ends first, the command may or may not
// be committed: the same request id brings its answer.
func (s *Store) Propose(ctx context.Context, e state.Envelope, blobs ...state.Blob) (state.Result, uint64, error) {
	ch := make(chan Outcome, 1)
	gone := new(atomic.Bool)
	err := s.batch.add([]item{{env: e, blobs: blobs, gone: gone, done: func(o Outcome) { ch <- o }}})
	if err != nil {
		return state.Result{}, 0, err
	}
	select {
	case o := <-ch:
		return o.Result, o.Index, o.Err
	case <-ctx.Done():
		gone.Store(true)
		return state.Result{}, 0, fmt.Errorf("wait for a commit: %w", ctx.Err())
	}
}

// ProposeAll commits commands of the controller itself, in order and in as few
// entries as they fit into. The index is that of the last one.
func (s *Store) ProposeAll(ctx context.Context, list []state.Envelope) ([]state.Result, uint64, error) {
	if len(list) == 0 {
		return nil, 0, nil
	}
	type numbered struct {
		i int
		Outcome
	}
	ch := make(chan numbered, len(list))
	items := make([]item, len(list))
	for i, e := range list {
		items[i] = item{env: e, done: func(o Outcome) { ch <- numbered{i, o} }}
	}
	if err := s.batch.add(items); err != nil {
		return nil, 0, err
	}
	results := make([]state.Result, len(list))
	var index uint64
	var failed error
	for range list {
		select {
		case o := <-ch:
			results[o.i], index = o.Result, max(index, o.Index)
			if o.Err != nil {
				failed = o.Err
			}
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("wait for a commit: %w", ctx.Err())
		}
	}
	return results, index, failed
}
