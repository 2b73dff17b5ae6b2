// Package pmi answers the processes of an MPI program by version 1.1 of the process
// management interface (PMI-1, the wire protocol of MPICH's "simple" client): who
// they are, how many, and what the others have put where all can read it.
package pmi

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Bounds of what a process may say, and what get_maxes answers.
const (
	maxName  = 256
	maxKey   = 64
	maxValue = 1024
	maxPairs = 1 << 16 // of one process between two barriers
)

// Pair is a key and what was put under it.
type Pair struct{ Key, Value string }

// Server is the part of one node in a program.
type Server struct {
	Name  string // of the key space
	Size  int    // processes of the whole program
	Ranks []int  // those of this node
	// Gather is called when all processes of this node are at a barrier, with what
	// they have put since the last one. Release answers it.
	Gather func(put []Pair)

	mu      sync.Mutex
	known   map[string]string
	put     []Pair
	taken   map[int]bool
	waiting []chan struct{}
}

// MappingKey is where a process finds which ranks share a node.
const MappingKey = "PMI_process_mapping"

// Mapping writes which node each rank is on, as MPICH reads it: blocks of first
// node, nodes and ranks on each.
func Mapping(nodeOf []int) string {
	type block struct{ node, nodes, ranks int }
	var blocks []block
	for i := 0; i < len(nodeOf); {
		k := i
		for k < len(nodeOf) && nodeOf[k] == nodeOf[i] {
			k++
		}
		one := block{nodeOf[i], 1, k - i}
		if n := len(blocks); n > 0 && blocks[n-1].ranks == one.ranks && blocks[n-1].node+blocks[n-1].nodes == one.node {
			blocks[n-1].nodes++
		} else {
			blocks = append(blocks, one)
		}
		i = k
	}
	var b strings.Builder
	b.WriteString("(vector")
	for _, x := range blocks {
		fmt.Fprintf(&b, ",(%d,%d,%d)", x.node, x.nodes, x.ranks)
	}
	b.WriteString(")")
	return b.String()
}

// Release lets the processes go on from a barrier, with what all nodes have put.
func (s *Server) Release(all []Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learn(all)
	for _, ch := range s.waiting {
		close(ch)
	}
	s.waiting = nil
}

// Learn takes in pairs before the program begins.
func (s *Server) Learn(all ...Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learn(all)
}

func (s *Server) learn(all []Pair) {
	if s.known == nil {
		s.known = map[string]string{}
	}
	for _, p := range all {
		s.known[p.Key] = p.Value
	}
}

// Serve answers one process until it is done; closed ends what it waits for.
func (s *Server) Serve(rw io.ReadWriter, closed <-chan struct{}) error {
	in := bufio.NewReaderSize(rw, 4096)
	rank, err := s.greet(in, rw)
	if err != nil {
		return err
	}
	pairs := 0
	for {
		f, err := read(in)
		if err != nil {
			return err
		}
		answer := ""
		switch f["cmd"] {
		case "put":
			if pairs++; pairs > maxPairs {
				return fmt.Errorf("rank %d puts more than %d pairs", rank, maxPairs)
			}
			answer = s.keep(f)
		case "barrier_in":
			pairs = 0
			select {
			case <-s.enter():
			case <-closed:
				return io.ErrClosedPipe
			}
			answer = "cmd=barrier_out"
		case "abort":
			return fmt.Errorf("rank %d has called for the end of the program", rank)
		default:
			answer = s.simple(f)
		}
		if answer == "" {
			return fmt.Errorf("rank %d says %q, which is not known", rank, f["cmd"])
		}
		if _, err := io.WriteString(rw, answer+"\n"); err != nil {
			return err
		}
		if f["cmd"] == "finalize" {
			return nil
		}
	}
}

// greet learns which process it is: each of this node once.
func (s *Server) greet(in *bufio.Reader, w io.Writer) (int, error) {
	f, err := read(in)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rank := range s.Ranks {
		if f["cmd"] != "initack" || f["pmiid"] != fmt.Sprint(rank) || s.taken[rank] {
			continue
		}
		if s.taken == nil {
			s.taken = map[int]bool{}
		}
		s.taken[rank] = true
		_, err := fmt.Fprintf(w, "cmd=initack rc=0\ncmd=set size=%d\ncmd=set rank=%d\ncmd=set debug=0\n", s.Size, rank)
		return rank, err
	}
	return 0, fmt.Errorf("a process that says it is %q is none of this node's, or there is one", f["pmiid"])
}

// simple answers what needs no other process.
func (s *Server) simple(f map[string]string) string {
	switch f["cmd"] {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
	case "get_maxes":
		return fmt.Sprintf("cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d", maxName, maxKey, maxValue)
	case "get_appnum":
		return "cmd=appnum appnum=0"
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=" + s.Name
	case "get_universe_size":
		return fmt.Sprintf("cmd=universe_size size=%d", s.Size)
	case "get":
		s.mu.Lock()
		value, ok := s.known[f["key"]]
		s.mu.Unlock()
		if !ok {
			return "cmd=get_result rc=-1 msg=key_" + f["key"] + "_not_found value=unknown"
		}
		return "cmd=get_result rc=0 msg=success value=" + value
	case "finalize":
		return "cmd=finalize_ack"
	}
	return ""
}

func (s *Server) keep(f map[string]string) string {
	if f["key"] == "" || len(f["key"]) > maxKey || len(f["value"]) > maxValue || f["kvsname"] != s.Name {
		return "cmd=put_result rc=-1 msg=invalid_key_or_value"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put = append(s.put, Pair{f["key"], f["value"]})
	s.learn(s.put[len(s.put)-1:])
	return "cmd=put_result rc=0 msg=success"
}

// enter is a process at a barrier.
func (s *Server) enter() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{})
	s.waiting = append(s.waiting, ch)
	if len(s.waiting) == len(s.Ranks) {
		put := s.put
		s.put = nil
		go s.Gather(put)
	}
	return ch
}

// read reads a line of name=value words. The last value may hold blanks only where
// it is that of a put.
func read(in *bufio.Reader) (map[string]string, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("reading what a process says: %w", err)
	}
	f := map[string]string{}
	text := strings.TrimSpace(string(line))
	for text != "" {
		word, rest, _ := strings.Cut(text, " ")
		name, value, _ := strings.Cut(word, "=")
		if name == "value" {
			_, value, _ = strings.Cut(text, "=")
			rest = ""
		}
		f[name] = value
		text = strings.TrimLeft(rest, " ")
	}
	return f, nil
}
