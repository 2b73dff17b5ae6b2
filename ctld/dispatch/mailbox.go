package dispatch

import (
	"errors"
	"sync"

	"muster/api/pb"
)

// Outbox takes messages to a node. Send must not block.
type Outbox interface {
	Send(m *pb.ToNode)
	// Close ends the node's stream with an error that the node will log.
	Close(err error)
}

// Mailbox is an Outbox whose messages one stream takes. What waits is merged
// where that changes nothing.
type Mailbox struct {
	mu     sync.Mutex
	queue  []*pb.ToNode
	ready  chan struct{} // has one element when there is something to take
	closed error
}

// mailboxLimit is how many messages may wait for a node that does not read.
// It then loses its stream and starts anew with everything that it should know.
const mailboxLimit = 16_384

var errSlow = errors.New("the node reads too slowly: it starts a new stream")

// NewMailbox makes an empty mailbox.
func NewMailbox() *Mailbox { return &Mailbox{ready: make(chan struct{}, 1)} }

// Send implements Outbox. The mailbox owns m from then on.
func (b *Mailbox) Send(m *pb.ToNode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return
	}
	if n := len(b.queue); n == 0 || !merge(b.queue[n-1], m) {
		b.queue = append(b.queue, m)
	}
	if len(b.queue) > mailboxLimit {
		b.queue, b.closed = nil, errSlow
	}
	b.signal()
}

// Close implements Outbox.
func (b *Mailbox) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = err
	}
	b.signal()
}

func (b *Mailbox) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Ready has an element when Take may return something new.
func (b *Mailbox) Ready() <-chan struct{} { return b.ready }

// Take returns all that waits, in order, and the error it was closed with.
func (b *Mailbox) Take() ([]*pb.ToNode, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queue
	b.queue = nil
	return q, b.closed
}

// merge puts m into the message before it, if both say only acknowledgements
// and changes of the same leader. A node acts on launches before endings, so a
// launch is not merged behind an ending.
func merge(last, m *pb.ToNode) bool {
	if last.Term != m.Term || !mergeable(last) || !mergeable(m) {
		return false
	}
	if m.Desired != nil && last.Desired != nil && (len(last.Desired.Ending) > 0 || len(last.Desired.Resume) > 0) {
		return false
	}
	last.ReportAcks = append(last.ReportAcks, m.ReportAcks...)
	last.LeaderTimeMs = max(last.LeaderTimeMs, m.LeaderTimeMs)
	if m.Desired == nil {
		return true
	}
	last.Index = m.Index
	if last.Desired == nil {
		last.Desired = m.Desired
		return true
	}
	d := last.Desired
	d.Launch = append(d.Launch, m.Desired.Launch...)
	d.Ending = append(d.Ending, m.Desired.Ending...)
	d.Limits = append(d.Limits, m.Desired.Limits...)
	d.Suspend = append(d.Suspend, m.Desired.Suspend...)
	d.Resume = append(d.Resume, m.Desired.Resume...)
	return true
}

func mergeable(m *pb.ToNode) bool {
	return m.Welcome == nil && m.Signal == nil && (m.Desired == nil || !m.Desired.Full)
}
