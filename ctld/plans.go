package ctld

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/wire"
	"muster/job"
	"muster/sched"
)

// verdicts is the scheduler's last word on each waiting job, on the leader and,
// a little later, on the followers. Readers hold no lock that the planner needs.
type verdicts struct{ last atomic.Pointer[verdictTable] }

// verdictTable is never changed; version counts the tables of this controller.
type verdictTable struct {
	jobs    map[job.ID]sched.Verdict
	version uint64
}

func (v *verdicts) get(id job.ID) (sched.Verdict, bool) {
	jobs, _ := v.all()
	w, ok := jobs[id]
	return w, ok
}

// set publishes a table.
func (v *verdicts) set(jobs map[job.ID]sched.Verdict) {
	for {
		old := v.last.Load()
		next := &verdictTable{jobs: jobs, version: 1}
		if old != nil {
			next.version = old.version + 1
		}
		if v.last.CompareAndSwap(old, next) {
			return
		}
	}
}

func (v *verdicts) all() (map[job.ID]sched.Verdict, uint64) {
	t := v.last.Load()
	if t == nil {
		return nil, 0
	}
	return t.jobs, t.version
}

const (
	// plansEvery is how often a follower hears how far the leader is.
	plansEvery = 500 * time.Millisecond
	// planChunk is how many verdicts go into one message.
	planChunk = 2000
)

// Plans implements pb.ControllerServer on the leader.
func (s *server) Plans(_ *pb.PlansRequest, stream grpc.ServerStreamingServer[pb.PlansReply]) error {
	peer, ok := rpc.PeerFrom(stream.Context())
	if !ok || peer.Role != identity.Controller {
		return status.Error(codes.PermissionDenied, "only a controller follows the plans")
	}
	l := s.c.leading.Load()
	if l == nil {
		return status.Error(codes.Unavailable, "this controller does not lead")
	}
	tick := time.NewTicker(plansEvery)
	defer tick.Stop()
	var sent uint64
	for {
		table, version := s.c.words.all()
		if version != sent {
			if err := sendTable(stream, table); err != nil {
				return err
			}
			sent = version
		}
		reply := &pb.PlansReply{Index: s.c.store.Root().Index(), NowMs: int64(s.c.store.Now())}
		if err := stream.Send(reply); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-s.stop:
			return status.Error(codes.Unavailable, "the controller stops")
		case <-l.ended:
			return status.Error(codes.Unavailable, "this controller no longer leads")
		}
	}
}

// sendTable sends all verdicts; the first message, marked full, begins a new
// table, and the next message without verdicts completes it.
func sendTable(stream grpc.ServerStreamingServer[pb.PlansReply], table map[job.ID]sched.Verdict) error {
	var list verdictList
	full := true
	flush := func() error {
		m := &pb.PlansReply{Verdicts: wire.Encode(nil, &list), Full: full}
		list.Verdicts, full = list.Verdicts[:0], false
		return stream.Send(m)
	}
	for _, v := range table {
		list.Verdicts = append(list.Verdicts, verdict{v})
		if len(list.Verdicts) == planChunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// freshness says how old a follower's root is at most.
type freshness struct {
	mu   sync.Mutex
	asOf time.Time // the root had all that was committed then
}

func (f *freshness) set(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asOf = t
}

func (f *freshness) get() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asOf
}

// age is how old an answer made here may be, in milliseconds; the leader's is 0.
func (c *Controller) age() uint64 {
	if c.store.Leading() != 0 {
		return 0
	}
	return uint64(max(c.clock.Now().Sub(c.fresh.get()), 0) / time.Millisecond)
}

// caughtUp tells whether this follower had all that was committed not long ago.
func (c *Controller) caughtUp() bool {
	t := c.fresh.get()
	return !t.IsZero() && c.clock.Now().Sub(t) < maxAge
}

// hearPlans takes the leader's verdicts and index.
func (c *Controller) hearPlans(ctx context.Context, client pb.ControllerClient) error {
	stream, err := client.Plans(ctx, &pb.PlansRequest{})
	if err != nil {
		return err
	}
	var table map[job.ID]sched.Verdict // under construction
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		at := c.clock.Now()
		if m.Full {
			table = map[job.ID]sched.Verdict{}
		}
		if len(m.Verdicts) > 0 && table != nil {
			var list verdictList
			if err := wire.Decode(m.Verdicts, &list); err != nil {
				return err
			}
			for _, v := range list.Verdicts {
				table[v.Job] = v.Verdict
			}
		}
		if m.Index == 0 {
			continue
		}
		if table != nil {
			c.words.set(table)
			table = nil
		}
		if _, err := c.store.WaitIndex(ctx, m.Index); err != nil {
			return err
		}
		c.fresh.set(at)
	}
}

// verdictList is verdicts on the wire.
type verdictList struct{ Verdicts []verdict }

// Code implements wire.Message.
func (l *verdictList) Code(w *wire.Coder) { wire.Slice(w, 1, &l.Verdicts) }

type verdict struct{ sched.Verdict }

// Code implements wire.Message.
func (v *verdict) Code(w *wire.Coder) {
	wire.Uint(w, 1, &v.Job)
	codeWhys(w, 2, &v.Reasons)
	wire.Int(w, 3, &v.Planned)
	wire.Ints(w, 4, &v.Nodes)
	wire.Int(w, 5, &v.Ahead)
}

// codeWhys codes the reasons through a type that has a codec.
func codeWhys(w *wire.Coder, n int, list *[]sched.Why) {
	var coded []why
	if !w.Decoding() {
		for _, x := range *list {
			coded = append(coded, why{x})
		}
	}
	wire.Slice(w, n, &coded)
	if w.Decoding() {
		for _, x := range coded {
			*list = append(*list, x.Why)
		}
	}
}

type why struct{ sched.Why }

// Code implements wire.Message.
func (x *why) Code(w *wire.Coder) {
	wire.Uint(w, 1, &x.Reason)
	w.String(2, &x.Detail)
}
