package ctld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/accounting/ledger"
	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/state"
)

const (
	// refillPause is the shortest time between two tries to get missing records,
	// and refillPauseMost the longest.
	refillPause     = 100 * time.Millisecond
	refillPauseMost = 10 * time.Second
	// refillQuiet is how long another controller may take for the next chunk.
	refillQuiet = 10 * time.Second
)

// missing is how many finished records have left the outbox and are not in this
// ledger: this controller was away for long, or has lost its ledger.
func (l *ledgerWriter) missing(root *state.Root) uint64 {
	first, _ := root.OutboxRange()
	if last := l.last(); first > last+1 {
		return first - 1 - last
	}
	return 0
}

// behind is the answer to whoever reads meanwhile; agents ask the next controller.
func (l *ledgerWriter) behind(missing uint64) error {
	e := api.Errorf(api.ErrUnavailable, "the ledger of controller %s is catching up: %d finished jobs are missing", l.c.cfg.Name, missing)
	e.Hint = "it fetches them from the other controllers; if none has them, put its ledger directory back from a copy"
	return e
}

// refill gets the records before the outbox from the other controllers, and
// tries until it has them or ctx ends. Its error is that of this ledger's disk.
func (l *ledgerWriter) refill(ctx context.Context, root *state.Root) error {
	first, _ := root.OutboxRange()
	l.c.log.Warn("this controller's ledger lacks finished jobs; they are fetched from the others", "from", l.last()+1, "through", first-1)
	for pause := refillPause; ; pause = min(2*pause, refillPauseMost) {
		before := l.last()
		failed, err := l.fetchThrough(ctx, first-1)
		switch {
		case err != nil:
			return err
		case failed == nil:
			l.c.log.Info("this controller's ledger has caught up", "through", l.last())
			return nil
		case l.last() > before:
			pause = refillPause
		}
		if ctx.Err() == nil {
			l.c.log.Warn("finished jobs are still missing in this controller's ledger", "from", l.last()+1, "through", first-1, "err", failed)
		}
		if !l.pause(ctx, pause+rand.N(pause)) {
			return nil
		}
	}
}

// fetchThrough asks each of the others once, in any order, until the ledger goes
// up to a number. What the others fail with is apart from what this disk does.
func (l *ledgerWriter) fetchThrough(ctx context.Context, through uint64) (failed, disk error) {
	failures := []error{errors.New("no other controller has all of them")}
	names := l.c.peers.names()
	for _, i := range rand.Perm(len(names)) {
		client, ok := l.c.peers.client(names[i])
		if !ok {
			continue // no member any more
		}
		err, disk := l.fetch(ctx, client, through)
		if disk != nil || l.last() >= through {
			return nil, disk
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("controller %s: %w", names[i], err))
		}
	}
	return errors.Join(failures...), nil
}

// fetch appends what one controller has.
func (l *ledgerWriter) fetch(ctx context.Context, client pb.ControllerClient, through uint64) (failed, disk error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(refillQuiet, cancel)
	defer quiet.Stop()
	stream, err := client.Ledger(ctx, &pb.LedgerRequest{From: l.last() + 1, Through: through})
	if err != nil {
		return err, nil
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		quiet.Stop()
		list, err := numbered(m)
		if err != nil {
			return err, nil
		}
		err = l.file.Append(m.First+uint64(len(list))-1, list)
		if errors.Is(err, ledger.ErrGap) {
			return err, nil
		}
		if err != nil {
			return nil, fmt.Errorf("write finished jobs of another controller: %w", err)
		}
		l.tell()
		quiet.Reset(refillQuiet)
	}
}

// numbered reads the records of a chunk.
func numbered(m *pb.LedgerChunk) ([]ledger.Numbered, error) {
	if len(m.Records) == 0 {
		return nil, errors.New("it sent a chunk without records")
	}
	var list []ledger.Numbered
	for i, b := range m.Records {
		r, err := ledger.Decode(b)
		if err != nil {
			return nil, err
		}
		list = append(list, ledger.Numbered{Number: m.First + uint64(i), Record: r})
	}
	return list, nil
}

// Ledger implements pb.ControllerServer.
func (s *server) Ledger(in *pb.LedgerRequest, stream grpc.ServerStreamingServer[pb.LedgerChunk]) error {
	peer, ok := rpc.PeerFrom(stream.Context())
	if !ok || peer.Role != identity.Controller {
		return status.Error(codes.PermissionDenied, "only a controller copies the ledger")
	}
	return s.c.ledger.file.Encoded(stream.Context(), in.From, in.Through, func(first uint64, records [][]byte) error {
		select {
		case <-s.stop:
			return status.Error(codes.Unavailable, "the controller stops")
		default:
			return stream.Send(&pb.LedgerChunk{First: first, Records: records})
		}
	})
}
