package pmi

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// client is one process of a program.
type client struct {
	t  *testing.T
	c  net.Conn
	in *bufio.Reader
}

// dial connects a process to a server.
func dial(t *testing.T, s *Server, rank int) *client {
	a, b := net.Pipe()
	closed := make(chan struct{})
	go func() { s.Serve(b, closed); b.Close() }()
	t.Cleanup(func() { close(closed); a.Close() })
	c := &client{t, a, bufio.NewReader(a)}
	c.say(fmt.Sprintf("cmd=initack pmiid=%d", rank))
	for _, want := range []string{"cmd=initack rc=0", fmt.Sprintf("cmd=set size=%d", s.Size), fmt.Sprintf("cmd=set rank=%d", rank), "cmd=set debug=0"} {
		c.hears(want)
	}
	return c
}

func (c *client) say(line string) { fmt.Fprintln(c.c, line) }

func (c *client) hears(want string) {
	c.t.Helper()
	got, err := c.in.ReadString('\n')
	if got = strings.TrimSpace(got); got != want {
		c.t.Errorf("heard %q (%v), want %q", got, err, want)
	}
}

// TestPairsReachAllNodes: what one node's process puts, one on the other reads
// after the barrier.
func TestPairsReachAllNodes(t *testing.T) {
	var mu sync.Mutex
	var all []Pair
	here := 0
	nodes := []*Server{{Name: "kvs", Size: 3, Ranks: []int{0, 1}}, {Name: "kvs", Size: 3, Ranks: []int{2}}}
	gather := func(put []Pair) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, put...)
		if here++; here == len(nodes) {
			for _, n := range nodes {
				n.Release(all)
			}
			here, all = 0, nil
		}
	}
	var clients []*client
	for _, n := range nodes {
		n.Gather = gather
		n.Learn(Pair{MappingKey, "(vector,(0,1,2),(1,1,1))"})
		for _, rank := range n.Ranks {
			clients = append(clients, dial(t, n, rank))
		}
	}
	for i, c := range clients {
		c.say("cmd=init pmi_version=1 pmi_subversion=1")
		c.hears("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
		c.say(fmt.Sprintf("cmd=put kvsname=kvs key=P%d value=address of %d", i, i))
		c.hears("cmd=put_result rc=0 msg=success")
	}
	clients[0].say("cmd=get kvsname=kvs key=P2")
	clients[0].hears("cmd=get_result rc=-1 msg=key_P2_not_found value=unknown")
	for _, c := range clients {
		c.say("cmd=barrier_in")
	}
	for i, c := range clients {
		c.hears("cmd=barrier_out")
		other := (i + 2) % 3
		c.say(fmt.Sprintf("cmd=get kvsname=kvs key=P%d", other))
		c.hears(fmt.Sprintf("cmd=get_result rc=0 msg=success value=address of %d", other))
		c.say("cmd=put kvsname=another key=x value=y")
		c.hears("cmd=put_result rc=-1 msg=invalid_key_or_value")
		c.say("cmd=finalize")
		c.hears("cmd=finalize_ack")
	}
}

// TestStrangersAreRefused: a rank of another node, one that is there already, and
// rubbish end the connection.
func TestStrangersAreRefused(t *testing.T) {
	s := &Server{Name: "kvs", Size: 4, Ranks: []int{1}}
	dial(t, s, 1)
	for _, first := range []string{"cmd=initack pmiid=2", "cmd=initack pmiid=1", "rubbish", strings.Repeat("x", 10_000)} {
		a, b := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.Serve(b, nil); b.Close() }()
		fmt.Fprintln(a, first)
		if err := <-done; err == nil {
			t.Errorf("%.30q was taken for a process", first)
		}
		a.Close()
	}
}

func TestMapping(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		want  string
	}{
		{[]int{0, 0, 1, 1}, "(vector,(0,2,2))"}, {[]int{0, 1, 2, 3}, "(vector,(0,4,1))"},
		{[]int{0, 1, 0, 1}, "(vector,(0,2,1),(0,2,1))"}, {[]int{0, 0, 1}, "(vector,(0,1,2),(1,1,1))"},
	} {
		if got := Mapping(c.nodes); got != c.want {
			t.Errorf("ranks on nodes %v: %s, want %s", c.nodes, got, c.want)
		}
	}
}
