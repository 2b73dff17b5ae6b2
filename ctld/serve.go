package ctld

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"muster/api/pb"
	"muster/api/rpc"
	"muster/job"
)

// hash names a blob.
type hash = job.Hash

// hashOf reads a hash that another daemon sent.
func hashOf(b []byte) (h hash, ok bool) { return h, copy(h[:], b) == len(h) && len(b) == len(h) }

// server answers other daemons.
type server struct {
	pb.UnimplementedControllerServer
	c    *Controller
	stop <-chan struct{} // closed when long streams must end
}

// serve answers other daemons until ctx ends, and then lets short calls finish.
func (c *Controller) serve(ctx context.Context, port *rpc.Listener) error {
	g := rpc.NewServer()
	pb.RegisterControllerServer(g, &server{c: c, stop: ctx.Done()})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		c.halt(g)
	}()
	err := g.Serve(port.GRPC())
	if ctx.Err() == nil {
		return err
	}
	<-stopped
	if errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// halt stops a gRPC server in good order, or in any within drainTime.
func (c *Controller) halt(g *grpc.Server) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.GracefulStop()
	}()
	select {
	case <-done:
	case <-c.clock.After(drainTime):
		g.Stop()
		<-done
	}
}
