package agent

import (
	"net"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
)

// nodePort is a server that takes connections and nothing else.
func nodePort(t *testing.T, addr string) (*grpc.Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return s, l.Addr().String()
}

// dialed counts the connections that are made.
func dialed(t *testing.T) (*nodes, *int) {
	count := new(int)
	n := newNodes(func(addr string) (*grpc.ClientConn, error) {
		*count++
		return grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	})
	t.Cleanup(n.close)
	return n, count
}

// reach waits until a connection is in a state, or has left it.
func reach(t *testing.T, c *grpc.ClientConn, want connectivity.State, leave bool) {
	t.Helper()
	c.Connect()
	for s := c.GetState(); (s == want) == leave; s = c.GetState() {
		if !c.WaitForStateChange(t.Context(), s) {
			t.Fatalf("the connection stays %v", s)
		}
	}
}

func TestConnectionsToNodesAreUsedAgain(t *testing.T) {
	server, addr := nodePort(t, "127.0.0.1:0")
	n, count := dialed(t)
	first, put1, err := n.get(addr)
	if err != nil {
		t.Fatal(err)
	}
	reach(t, first, connectivity.Ready, false)
	second, put2, _ := n.get(addr)
	put1()
	if second != first || n.idle != 0 {
		t.Errorf("two users do not share a connection, or it is idle with one: %d", n.idle)
	}
	put2()
	third, put3, _ := n.get(addr)
	if third != first || *count != 1 {
		t.Errorf("%d connections were made for users one after the other", *count)
	}
	put3()
	// One that was lost meanwhile is not used again.
	server.Stop()
	reach(t, first, connectivity.Ready, true)
	fourth, put4, _ := n.get(addr)
	if fourth == first || *count != 2 {
		t.Errorf("a lost connection is used again (%d made)", *count)
	}
	if s := first.GetState(); s != connectivity.Shutdown {
		t.Errorf("the lost one is %v, want it closed", s)
	}
	n.close()
	put4()
	if s := fourth.GetState(); s != connectivity.Shutdown {
		t.Errorf("after close and its last use a connection is %v", s)
	}
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	n, _ := dialed(t)
	var puts []func()
	for i := range nodesIdle + 5 {
		_, put, err := n.get("127.0.0.1:" + strconv.Itoa(i+1))
		if err != nil {
			t.Fatal(err)
		}
		puts = append(puts, put)
	}
	for _, put := range puts {
		put()
	}
	if n.idle != nodesIdle || len(n.conns) != nodesIdle {
		t.Errorf("%d idle, %d there, want %d", n.idle, len(n.conns), nodesIdle)
	}
	n.close()
	if n.idle != 0 || len(n.conns) != 0 {
		t.Errorf("after close %d idle, %d there", n.idle, len(n.conns))
	}
}
