package noded

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"muster/api"
	"muster/noded/pmi"
)

// servePMI serves the tasks of an MPI program on a port of this host's own, until
// ctx ends. Only processes of the step's user are answered.
func (st *step) servePMI(ctx context.Context) error {
	if st.start.MPI != "pmi2" {
		return nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("--mpi=pmi2: %w", err)
	}
	st.pmiPort = l.Addr().String()
	nodeOf := make([]int, st.grant.Tasks)
	for i, n := range st.grant.Nodes {
		for _, rank := range n.Tasks {
			if int(rank) < len(nodeOf) {
				nodeOf[rank] = i
			}
		}
	}
	s := &pmi.Server{Name: fmt.Sprintf("kvs_%d_%d", st.grant.Job, st.grant.Step), Size: len(nodeOf)}
	for _, rank := range st.part.Tasks {
		s.Ranks = append(s.Ranks, int(rank))
	}
	if m := pmi.Mapping(nodeOf); len(m) < 1024 {
		s.Learn(pmi.Pair{Key: pmi.MappingKey, Value: m})
	}
	s.Gather = func(put []pmi.Pair) {
		e := &api.PMIBarrier{}
		for _, p := range put {
			e.Pairs = append(e.Pairs, p.Key, p.Value)
		}
		st.send(&api.StepEvent{Barrier: e})
	}
	st.pmi = s
	context.AfterFunc(ctx, func() { l.Close() })
	go st.acceptPMI(ctx, l)
	return nil
}

func (st *step) acceptPMI(ctx context.Context, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			uid, ok := ownerOf(c)
			if !ok || uid != st.grant.UID {
				return
			}
			if err := st.pmi.Serve(c, ctx.Done()); err != nil && ctx.Err() == nil {
				st.node.log.Debug("MPI process", "job", st.grant.Job, "step", st.grant.Step, "err", err)
			}
		}()
	}
}

// ownerOf is who has the other end of a connection over loopback: the kernel's
// table of sockets says so (proc(5), /proc/net/tcp).
func ownerOf(c net.Conn) (uint32, bool) {
	from, ok1 := c.RemoteAddr().(*net.TCPAddr)
	to, ok2 := c.LocalAddr().(*net.TCPAddr)
	text, err := os.ReadFile("/proc/net/tcp")
	if !ok1 || !ok2 || err != nil {
		return 0, false
	}
	ends := [2]string{fmt.Sprintf(":%04X", from.Port), fmt.Sprintf(":%04X", to.Port)}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // number, local, remote, state, queues, timer, retransmits, uid
		if len(f) > 7 && strings.HasSuffix(f[1], ends[0]) && strings.HasSuffix(f[2], ends[1]) {
			uid, err := strconv.ParseUint(f[7], 10, 32)
			return uint32(uid), err == nil
		}
	}
	return 0, false
}

// released takes what all nodes have put at a barrier.
func (st *step) released(b *api.PMIBarrier) {
	if st.pmi == nil {
		return
	}
	var all []pmi.Pair
	for i := 0; i+1 < len(b.Pairs); i += 2 {
		all = append(all, pmi.Pair{Key: b.Pairs[i], Value: b.Pairs[i+1]})
	}
	st.pmi.Release(all)
}
