package ctld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/ctld/store"
	"muster/job"
)

// peers are the connections to the other controllers. They change with the members.
type peers struct {
	id   *identity.Identity
	self string

	mu   sync.Mutex
	list []*peer // by name, without this one
}

// peer is one other controller.
type peer struct {
	name, address string
	conn          *grpc.ClientConn
	index         uint64 // that its state stood at
	lacks         uint64 // what it had yet to fetch
}

func newPeers(id *identity.Identity, self string) *peers { return &peers{id: id, self: self} }

// set makes the peers those of a list of members. Connections that stay are kept.
func (p *peers) set(members []store.Member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var next []*peer
	var errs []error
	for _, m := range members {
		if m.Name == p.self {
			continue
		}
		if old := p.named(m.Name); old != nil && old.address == m.Address {
			next = append(next, old)
			continue
		}
		conn, err := rpc.Dial(p.id, m.Address)
		if err != nil {
			errs = append(errs, fmt.Errorf("controller %s: %w", m.Name, err))
			continue
		}
		conn.Connect()
		next = append(next, &peer{name: m.Name, address: m.Address, conn: conn})
	}
	for _, old := range p.list {
		if !slices.Contains(next, old) {
			errs = append(errs, old.conn.Close())
		}
	}
	p.list = next
	return errors.Join(errs...)
}

func (p *peers) named(name string) *peer {
	for _, o := range p.list {
		if o.name == name {
			return o
		}
	}
	return nil
}

// names are those of the others.
func (p *peers) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, o := range p.list {
		out = append(out, o.name)
	}
	return out
}

// client speaks to another controller; false if there is none of that name.
func (p *peers) client(name string) (pb.ControllerClient, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.named(name)
	if o == nil {
		return nil, false
	}
	return pb.NewControllerClient(o.conn), true
}

// heard notes what another controller said of itself.
func (p *peers) heard(name string, index, lacks uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.named(name); o != nil {
		o.index, o.lacks = index, lacks
	}
}

// lacks is what another controller said that it has yet to fetch from others.
func (p *peers) lacks(name string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.named(name); o != nil {
		return o.lacks
	}
	return 0
}

// standing is the last index that another controller named, and whether its port
// is there.
func (p *peers) standing(name string) (index uint64, up bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.named(name)
	if o == nil {
		return 0, false
	}
	return o.index, o.conn.GetState() == connectivity.Ready
}

// fetchBlob asks the other controllers for a blob, one after the other.
func (p *peers) fetchBlob(ctx context.Context, h job.Hash) ([]byte, error) {
	failures := []error{fmt.Errorf("no controller has blob %x", h)}
	for _, name := range p.names() {
		c, ok := p.client(name)
		if !ok {
			continue
		}
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

func (p *peers) close() error { return p.set(nil) }
