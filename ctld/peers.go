package ctld

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/conf"
	"muster/job"
)

// peers are the connections to the other controllers, made once and kept.
type peers struct {
	names []string // in the order of the cluster file, without this one
	conns map[string]*grpc.ClientConn
}

func newPeers(id *identity.Identity, file *conf.File, self string) (*peers, error) {
	p := &peers{conns: map[string]*grpc.ClientConn{}}
	for _, d := range file.Controllers {
		if d.Name == self {
			continue
		}
		conn, err := rpc.Dial(id, address(d))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("controller %s: %w", d.Name, err), p.close())
		}
		conn.Connect()
		p.names = append(p.names, d.Name)
		p.conns[d.Name] = conn
	}
	return p, nil
}

// client speaks to another controller; false if there is none of that name.
func (p *peers) client(name string) (pb.ControllerClient, bool) {
	conn, ok := p.conns[name]
	if !ok {
		return nil, false
	}
	return pb.NewControllerClient(conn), true
}

// up tells whether a controller answers on its port.
func (p *peers) up(name string) bool {
	conn, ok := p.conns[name]
	return ok && conn.GetState() == connectivity.Ready
}

// fetchBlob asks the other controllers for a blob, one after the other.
func (p *peers) fetchBlob(ctx context.Context, h job.Hash) ([]byte, error) {
	failures := []error{fmt.Errorf("no controller has blob %x", h)}
	for _, name := range p.names {
		c, _ := p.client(name)
		data, err := readBlob(ctx, c, h)
		if err == nil {
			return data, nil
		}
		failures = append(failures, fmt.Errorf("controller %s: %w", name, err))
	}
	return nil, errors.Join(failures...)
}

// maxBlob bounds what another daemon may send as one blob.
const maxBlob = 128 << 20

func readBlob(ctx context.Context, c pb.ControllerClient, h job.Hash) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.Blob(ctx, &pb.BlobRequest{Hash: h[:]})
	if err != nil {
		return nil, err
	}
	var data []byte
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		data = append(data, chunk.Data...)
		if len(data) > maxBlob {
			return nil, fmt.Errorf("blob %x is longer than %d bytes", h, maxBlob)
		}
	}
}

func (p *peers) close() error {
	var errs []error
	for _, c := range p.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
