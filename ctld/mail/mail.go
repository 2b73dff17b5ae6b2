// Package mail sends the mails that users asked for with --mail-type, on the
// controller that leads. Which are due is in the state; one is struck off after its
// program has ended, so a change of the leader meanwhile may send it twice, and
// loses none.
package mail

import (
	"context"
	"log/slog"
	"time"

	"muster/internal/clock"
	"muster/job"
	"muster/state"
)

const (
	// senders bounds the mail programs that run at once.
	senders = 8
	// programTime is how long one may take, as Slurm's MailProg.
	programTime = 30 * time.Second
	// limitGrain is how exactly the shares of time limits are watched.
	limitGrain = time.Second
)

// Core is what the sender needs of the controller.
type Core interface {
	Root() *state.Root
	Changed(*state.Root) <-chan struct{}
	Now() job.Time // state time
}

// Sender sends mails while its controller leads.
type Sender struct {
	Core    Core
	Clock   clock.Clock
	Log     *slog.Logger
	Propose func(ctx context.Context, what string, list ...state.Command) bool
	// Run hands one mail to a program; nil: the program of the operating system.
	Run func(ctx context.Context, m *Message) error

	lost uint64   // mails that the state could not take, as last logged
	sent []uint64 // what is still to be struck off the state
}

// Message is one mail as its program gets it.
type Message struct {
	Program, Subject, To string
	Env                  []string
}

// RunUntil sends until ctx ends, when it also ends the programs that run.
func (s *Sender) RunUntil(ctx context.Context) {
	if s.Run == nil {
		s.Run = runProgram
	}
	jobs := make(chan numbered)
	done := make(chan uint64, senders)
	ended := make(chan struct{}, senders)
	for range senders {
		go func() {
			defer func() { ended <- struct{}{} }()
			for m := range jobs {
				s.send(ctx, &m)
				done <- m.number
			}
		}()
	}
	s.loop(ctx, jobs, done)
	close(jobs)
	for running := senders; running > 0; {
		select {
		case <-done:
		case <-ended:
			running--
		}
	}
}

// numbered is a mail with its number in the state.
type numbered struct {
	number uint64
	Message
}

// loop hands mails out, oldest first, and strikes off those that are done.
func (s *Sender) loop(ctx context.Context, jobs chan<- numbered, done <-chan uint64) {
	handed := map[uint64]bool{} // being sent, or sent and still in the state
	watch := limits{}
	grain := s.Clock.After(limitGrain)
	for {
		root := s.Core.Root()
		s.complain(root)
		next, out := s.next(root, handed), chan<- numbered(nil)
		if next.number != 0 {
			out = jobs
		}
		select {
		case <-ctx.Done():
			return
		case out <- next:
			handed[next.number] = true
		case n := <-done:
			s.sent = append(s.sent, n)
			s.strike(ctx, done, handed)
		case <-grain:
			s.strike(ctx, done, handed)
			if list := watch.due(root, s.Core.Now()); len(list) > 0 {
				s.Propose(ctx, "mails about time limits", &state.MailDue{List: list})
			}
			grain = s.Clock.After(limitGrain)
		case <-s.changedUnless(root, out != nil):
		}
	}
}

// changedUnless waits for news only where there is nothing to hand out.
func (s *Sender) changedUnless(root *state.Root, busy bool) <-chan struct{} {
	if busy {
		return nil
	}
	return s.Core.Changed(root)
}

// next is the oldest mail that is not handed out yet; number 0 if there is none.
func (s *Sender) next(root *state.Root, handed map[uint64]bool) numbered {
	for n, e := range root.Mails() {
		if !handed[n] {
			return numbered{number: n, Message: *compose(root.Cluster(), e)}
		}
	}
	return numbered{}
}

// strike takes mails that are done off the state, as many as there are. If that
// fails it is tried again at the next one or the next second.
func (s *Sender) strike(ctx context.Context, done <-chan uint64, handed map[uint64]bool) {
	for more := true; more; {
		select {
		case n := <-done:
			s.sent = append(s.sent, n)
		default:
			more = false
		}
	}
	if len(s.sent) == 0 || !s.Propose(ctx, "mails that were sent", &state.MailDone{Numbers: s.sent}) {
		return
	}
	for _, n := range s.sent {
		delete(handed, n)
	}
	s.sent = nil
}

// send runs the program of one mail. What it does not get rid of is logged and
// given up.
func (s *Sender) send(ctx context.Context, m *numbered) {
	limited, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	if err := s.Run(limited, &m.Message); err != nil && ctx.Err() == nil {
		s.Log.Error("a mail could not be sent", "to", m.To, "subject", m.Subject, "program", m.Program, "err", err)
	}
}

// complain logs that mails were lost because too many were due.
func (s *Sender) complain(root *state.Root) {
	if n := root.MailsLost(); n > s.lost {
		s.Log.Error("mails were dropped: too many were due; look whether the mail program hangs", "dropped", n-s.lost)
		s.lost = n
	}
}
