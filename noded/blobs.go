package noded

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"muster/api/pb"
)

// blobs keeps the last scripts and environments. A controller sends one again
// only when it has sent 32 others since; it is fetched if it is not here.
type blobs struct {
	mu   sync.Mutex
	data map[[16]byte][]byte
	ring [64][16]byte
	next int
}

func newBlobs() *blobs { return &blobs{data: map[[16]byte][]byte{}} }

func (b *blobs) get(h [16]byte) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.data[h]
	return d, ok
}

func (b *blobs) put(h [16]byte, d []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.data[h]; ok {
		return
	}
	delete(b.data, b.ring[b.next])
	b.ring[b.next] = h
	b.next = (b.next + 1) % len(b.ring)
	b.data[h] = d
}

// blob is the content for a hash: what came with the launch, what is kept, or
// what a controller has.
func (n *Node) blob(ctx context.Context, hash, inline []byte) ([]byte, error) {
	if len(hash) == 0 {
		return inline, nil
	}
	if len(hash) != 16 {
		return nil, fmt.Errorf("a hash of %d bytes, want 16", len(hash))
	}
	h := [16]byte(hash)
	if len(inline) > 0 {
		n.blobs.put(h, inline)
		return inline, nil
	}
	if d, ok := n.blobs.get(h); ok {
		return d, nil
	}
	d, err := n.fetch(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("fetch blob %x: %w", h, err)
	}
	n.blobs.put(h, d)
	return d, nil
}

// fetchTries bounds the tries to fetch a blob, fetchPause the time between two.
// Together they outlast a change of leader.
const (
	fetchTries = 10
	fetchPause = 2 * time.Second
)

// fetch gets a blob from the controller that the node is connected to.
func (n *Node) fetch(ctx context.Context, h [16]byte) ([]byte, error) {
	pause := 10 * time.Millisecond
	for try := 1; ; try++ {
		client, err := n.link.client(ctx)
		if err != nil {
			return nil, err
		}
		d, err := fetchFrom(ctx, client, h)
		if err == nil || try == fetchTries {
			return d, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, fetchPause)
	}
}

func fetchFrom(ctx context.Context, client pb.ControllerClient, h [16]byte) ([]byte, error) {
	stream, err := client.Blob(ctx, &pb.BlobRequest{Hash: h[:]})
	if err != nil {
		return nil, err
	}
	var d []byte
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		d = append(d, chunk.Data...)
	}
	if sum := sha256.Sum256(d); [16]byte(sum[:16]) != h {
		return nil, fmt.Errorf("the %d bytes that came have another hash", len(d))
	}
	return d, nil
}
