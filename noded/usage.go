package noded

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"muster/api/pb"
	"muster/noded/cgroup"
)

// memoryEvery is how often the memory of jobs is looked at where no control
// group bounds it.
const memoryEvery = 100 * time.Millisecond

// beat is the time between two heartbeats.
func (n *Node) beat() time.Duration { return time.Duration(n.heartbeatNS.Load()) }

func (n *Node) setBeat(d time.Duration) { n.heartbeatNS.Store(int64(d)) }

// heartbeatMessage is a sign of life.
func (n *Node) heartbeatMessage(number uint64) *pb.Heartbeat {
	h := &pb.Heartbeat{Seq: number, LoadHundredths: load(), FreeMemoryMb: freeMemoryMB(), Usage: n.samples, Config: n.goes.config}
	n.samples = nil
	if number%10 == 0 || n.changed {
		h.HasRunning, h.Running = true, n.present()
		n.changed = false
	}
	return h
}

// watched is a running attempt to be looked at.
type watched struct {
	a   *attempt
	box box
}

// watchUse samples what running jobs use, and holds those to their memory that
// no control group holds.
func (n *Node) watchUse(ctx context.Context) {
	var last time.Time
	for {
		pause := time.Second
		if n.tree == nil {
			pause = memoryEvery
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		var list []watched
		var sample bool
		asked := make(chan struct{})
		n.do(ctx, func() {
			sample = time.Since(last) >= n.goes.sampling
			if sample || n.tree == nil {
				for _, a := range n.attempts {
					if a.state == running {
						list = append(list, watched{a, a.box})
					}
				}
			}
			close(asked)
		})
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
		if sample {
			last = time.Now()
		}
		for _, w := range list {
			n.look(ctx, w, sample)
		}
	}
}

// look looks at one running attempt.
func (n *Node) look(ctx context.Context, w watched, sample bool) {
	if b, ok := w.box.(*procBox); ok {
		if over, err := b.overLimit(ctx); over {
			n.log.Info("job killed: it had more memory than it may", "job", w.a.key.Job, "limit_mb", b.limit, "err", err)
			return
		}
	}
	if sample {
		s := w.box.Stats()
		n.do(ctx, func() { n.sampled(w.a, s) })
	}
}

// sampled notes a sample; it goes out with the next heartbeat.
func (n *Node) sampled(a *attempt, s cgroup.Stats) {
	if n.attempts[a.key] != a || a.state != running {
		return
	}
	u := &a.usage
	u.UserUs, u.SystemUs, u.MaxRssKb = s.UserUS, s.SystemUS, max(u.MaxRssKb, s.RSSKB)
	n.samples = append(n.samples, &pb.StepUsage{Attempt: attemptOf(a.key),
		Usage: &pb.Usage{UserUs: u.UserUs, SystemUs: u.SystemUs, MaxRssKb: u.MaxRssKb}})
}

// load is the load of the last minute, in hundredths.
func load() uint32 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	whole, part, _ := strings.Cut(first, ".")
	n, _ := strconv.ParseUint(whole+part, 10, 32) // two digits after the point
	return uint32(n)
}

// freeMemoryMB is the memory that nothing uses.
func freeMemoryMB() uint64 { return memInfoKB("MemFree") / 1024 }

func memInfoKB(name string) uint64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}
