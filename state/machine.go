// Package state is the replicated machine: versioned commands, Apply, immutable
// roots, indices, snapshots and the state hash. It is deterministic: no clock,
// no randomness, no floats, no goroutine, no file, no network.
package state

import (
	"fmt"
	"sync/atomic"

	"muster/accounting"
	"muster/internal/paged"
	"muster/job"
	"muster/partition"

	"github.com/tidwall/btree"
)

// requestMemory is how long the answer to a request is kept, in milliseconds of
// state time; a try older than that is refused, never done twice.
const requestMemory = job.Time(15 * 60 * 1000)

// Machine applies entries. One goroutine owns it; Root may be called by any.
//
// The working root is a Root whose tables are changed in place where this epoch
// owns them. Publishing copies the value and begins a new epoch: what was
// published never changes after.
type Machine struct {
	root       atomic.Pointer[Root]
	work       Root
	epoch      paged.Epoch
	sum        summer
	by         Actor                 // who sent the command at hand
	dirty      []job.ID              // jobs whose sum is still to be made
	events     []job.ID              // jobs that started or ended in this command
	promisesOf paged.Epoch           // epoch in which the list of promises was made
	fault      error                 // first illegal change that the command at hand tried
	requests   map[Hash]*sharedReq   // by sum
	owners     map[Hash]*sharedOwner // by sum
	answered   map[RequestID]uint64  // number in the answer table
	old, now   []entry               // scratch
}

// sharedReq and sharedOwner count the rows, in the job table or the outbox, that
// share a record.
type sharedReq struct {
	row  *requestRow
	refs int
}

type sharedOwner struct {
	row  *ownerRow
	refs int
}

// New makes an empty machine.
func New() *Machine {
	m := &Machine{}
	m.reset()
	m.publish()
	return m
}

func (m *Machine) reset() {
	m.work = Root{
		cluster:  &partition.Cluster{},
		book:     &accounting.Book{},
		held:     btree.NewBTreeGOptions((*heldRow).before, btree.Options{NoLocks: true}),
		usage:    btree.NewBTreeGOptions((*usageRow).before, btree.Options{NoLocks: true}),
		blobs:    btree.NewBTreeGOptions(blobRow.before, btree.Options{NoLocks: true}),
		indices:  newIndices(),
		counters: counters{Job: 1, Node: 1, SLUID: 1, Out: 1, Answer: 1, Priority: firstPriority, Version: 1},
	}
	m.epoch++
	m.dirty, m.events, m.fault = nil, nil, nil
	m.requests = map[Hash]*sharedReq{}
	m.owners = map[Hash]*sharedOwner{}
	m.renewShares()
	m.answered = map[RequestID]uint64{}
}

// Root is the last published root.
func (m *Machine) Root() *Root { return m.root.Load() }

func (m *Machine) publish() {
	r := m.work
	r.indices = m.work.indices.freeze()
	r.blobs = m.work.blobs.Copy()
	r.held = m.work.held.Copy()
	r.usage = m.work.usage.Copy()
	m.epoch++
	m.root.Store(&r)
}

// Apply applies one entry and publishes the root after it. There is one Result
// for each command, in order. The error is for an entry that cannot be decoded
// or is of a version this program does not know: the replica must stop.
func (m *Machine) Apply(index uint64, e *Entry) ([]Result, error) {
	commands := make([]Command, len(e.Commands))
	for i := range e.Commands {
		c, err := e.Commands[i].Open()
		if err != nil {
			return nil, fmt.Errorf("raft entry %d, command %d: %w", index, i, err)
		}
		commands[i] = c
	}
	m.work.index = index
	m.work.now = max(m.work.now, e.Now)
	m.forget()
	m.due()
	results := make([]Result, len(commands))
	for i, c := range commands {
		results[i] = m.once(&e.Commands[i], c)
	}
	m.sumDirty()
	m.publish()
	return results, nil
}

// once does a command unless an earlier try of the same request was done.
func (m *Machine) once(e *Envelope, c Command) Result {
	if e.Request == (RequestID{}) {
		return m.do(e.By, c)
	}
	if n, ok := m.answered[e.Request]; ok {
		res := m.work.answers.Get(n).result
		res.Repeated = true
		return res
	}
	if e.FirstTry != 0 && e.FirstTry < m.work.now-requestMemory {
		return Result{Code: TooOld, Text: "the request was first sent more than 15 minutes ago and may have been done; look, then send it anew"}
	}
	res := m.do(e.By, c)
	if res.Code != StepWaits && res.Code != Conflict { // it is tried again, with the same number, when a step has ended
		m.remember(e.Request, res)
	}
	return res
}

// do runs one command and what follows from it for jobs that depend on others.
func (m *Machine) do(by Actor, c Command) Result {
	m.by, m.fault = by, nil
	res := m.dispatch(c)
	m.wake()
	if m.fault != nil {
		return Result{Code: Invalid, Text: "internal error: " + m.fault.Error()}
	}
	return res
}

func (m *Machine) dispatch(c Command) Result {
	switch c := c.(type) {
	case *Submit:
		return m.submit(c)
	case *Start:
		return m.start([]Start{*c})
	case *StartHet:
		return m.start(c.Components)
	case *Report:
		return m.report(c)
	case *End:
		return m.end(c)
	case *Update:
		return m.update(c)
	case *Requeue:
		return m.requeue(c)
	case *Suspend:
		return m.suspend(c)
	case *Purge:
		return m.purge(c)
	case *OutboxDone:
		return m.outboxDone(c)
	case *Promise:
		return m.promise(c)
	case *Reprioritize:
		return m.reprioritize(c)
	case *MailDue:
		return m.mailLimits(c)
	case *MailDone:
		return m.mailDone(c)
	case *SetCrontab:
		return m.setCrontab(c)
	case *Tick:
		return Result{} // all that is due was done when the entry began
	default:
		return m.dispatchCluster(c)
	}
}

// dispatchCluster is dispatch for what is about nodes and configuration.
func (m *Machine) dispatchCluster(c Command) Result {
	switch c := c.(type) {
	case *NodeRegister:
		return m.nodeRegister(c)
	case *NodeSilent:
		return m.nodeSilent(c)
	case *NodeAdmin:
		return m.nodeAdmin(c)
	case *NodesFollow:
		return m.nodesFollow(c)
	case *Configure:
		return m.configure(c)
	case *Partition:
		return m.setPartition(c)
	case *Reservation:
		return m.setReservation(c)
	case *Accounting:
		return m.accounting(c)
	case *Decay:
		return m.decay(c)
	default:
		return m.dispatchStep(c)
	}
}

// due looks again at waiting jobs whose begin time or delay has come.
func (m *Machine) due() {
	var ids []job.ID
	for k := range m.work.indices.below(byDue, uint64(m.work.now)+1) {
		ids = append(ids, k.jobOf())
	}
	for _, id := range ids {
		r := m.edit(id)
		m.checkDependencies(r)
		m.putWaiting(r)
	}
	m.wake()
}
