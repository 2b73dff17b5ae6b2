package ctld

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/coalesce"
)

// indexTime bounds one question for the leader's index.
const indexTime = 3 * time.Second

// Index implements pb.ControllerServer on the leader.
func (s *server) Index(ctx context.Context, _ *pb.IndexRequest) (*pb.IndexReply, error) {
	peer, ok := rpc.PeerFrom(ctx)
	if !ok || peer.Role != identity.Controller {
		return nil, status.Error(codes.PermissionDenied, "only a controller asks for the index")
	}
	if err := s.c.store.Verify(ctx); err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	return &pb.IndexReply{Index: s.c.store.Root().Index()}, nil
}

// leaderIndex is the index that a follower's answer must include to have all that
// was acknowledged before the question. All readers that wait share one question,
// so that they cost the leader next to nothing.
type leaderIndex struct {
	check coalesce.Group[uint64]
}

func (l *leaderIndex) get(ctx context.Context, c *Controller) (uint64, error) {
	return l.check.Wait(ctx, c.askIndex)
}

func (c *Controller) askIndex() (uint64, error) {
	leader := c.store.Leader()
	client, ok := c.peers.client(leader)
	if !ok {
		return 0, errors.New("no controller leads at the moment")
	}
	ctx, cancel := context.WithTimeout(context.Background(), indexTime)
	defer cancel()
	reply, err := client.Index(ctx, &pb.IndexRequest{})
	if err != nil {
		return 0, fmt.Errorf("ask controller %s, which leads, for its index: %w", leader, err)
	}
	return reply.Index, nil
}
