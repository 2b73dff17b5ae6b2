package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/test/cluster"
)

// way is one direction between two controllers.
type way struct{ from, to string }

// links are the connections between controllers, which all go through this process. What
// is cut waits, as the packets of a connection do that are sent again and again.
type links struct {
	mu      sync.Mutex
	healed  *sync.Cond
	cut     map[way]bool
	delay   time.Duration
	stopped bool
}

func newLinks() *links {
	l := &links{cut: map[way]bool{}}
	l.healed = sync.NewCond(&l.mu)
	return l
}

// set cuts these ways and no others, and delays all that goes through.
func (l *links) set(delay time.Duration, cut ...way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.cut)
	for _, w := range cut {
		l.cut[w] = true
	}
	l.delay = delay
	l.healed.Broadcast()
}

// stop lets everything through for good.
func (l *links) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.healed.Broadcast()
}

// pass returns when something may go a way.
func (l *links) pass(w way) {
	l.mu.Lock()
	for l.cut[w] && !l.stopped {
		l.healed.Wait()
	}
	delay := l.delay
	l.mu.Unlock()
	time.Sleep(delay) // the delay is the fault, nothing waits for an event here
}

// forward carries connections from one controller to another until the test ends, and
// returns the port where they begin.
func (l *links) forward(t *testing.T, from, to, address string) int {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { in.Close() })
	go func() { // ends with in
		for {
			conn, err := in.Accept()
			if err != nil {
				return
			}
			go l.carry(conn, way{from, to}, address)
		}
	}()
	return in.Addr().(*net.TCPAddr).Port
}

// carry ends when one of the two ends of a connection does.
func (l *links) carry(near net.Conn, w way, address string) {
	defer near.Close()
	l.pass(w)
	far, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer far.Close()
	done := make(chan struct{}, 2)
	for _, side := range []struct {
		from, to net.Conn
		w        way
	}{{near, far, w}, {far, near, way{w.to, w.from}}} {
		go func() {
			io.Copy(&gated{side.to, l, side.w}, side.from) // an error is the end
			done <- struct{}{}
		}()
	}
	<-done
}

// gated writes what may pass.
type gated struct {
	to net.Conn
	l  *links
	w  way
}

// Write implements io.Writer.
func (g *gated) Write(b []byte) (int, error) {
	g.l.pass(g.w)
	return g.to.Write(b)
}

// linked starts a cluster of so many controllers whose connections go through links:
// each has a cluster file of its own, in which the others are at ports of this process.
func linked(t *testing.T, controllers int) (*cluster.Cluster, *links, []string) {
	t.Helper()
	c := cluster.Up(t, "--controllers", strconv.Itoa(controllers), "--nodes", "2", "--cpus", "8")
	var names []string
	for i := range controllers {
		names = append(names, fmt.Sprintf("c%d", i+1))
		c.Kill("ctld/" + names[i])
	}
	l := newLinks()
	t.Cleanup(l.stop) // before the cluster goes down
	text, err := os.ReadFile(filepath.Join(c.Dir, "cluster.toml"))
	must(t, err)
	for _, self := range names {
		must(t, os.WriteFile(ownFile(c, self), own(t, l, string(text), self, names), 0o644))
	}
	useOwnFiles(t, c)
	c.Start("")
	return c, l, names
}

func ownFile(c *cluster.Cluster, name string) string { return filepath.Join(c.Dir, name+".toml") }

// own is the cluster file as one controller sees it.
func own(t *testing.T, l *links, text, self string, names []string) []byte {
	t.Helper()
	for _, name := range names {
		if name == self {
			continue
		}
		before, rest, ok := strings.Cut(text, fmt.Sprintf("name = %q", name))
		head, rest, ok2 := strings.Cut(rest, "port = ")
		port, rest, ok3 := strings.Cut(rest, "\n")
		if !ok || !ok2 || !ok3 {
			t.Fatalf("the cluster file names no controller %s with a port", name)
		}
		through := l.forward(t, self, name, "127.0.0.1:"+port)
		text = fmt.Sprintf("%sname = %q%sport = %d\n%s", before, name, head, through, rest)
	}
	return []byte(text)
}

// useOwnFiles has the controllers of a throw-away cluster started with their own files.
func useOwnFiles(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	path := filepath.Join(c.Dir, "dev.json")
	text, err := os.ReadFile(path)
	must(t, err)
	var dev map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // start times are long numbers
	must(t, d.Decode(&dev))
	for _, one := range dev["Daemons"].([]any) {
		daemon := one.(map[string]any)
		args := daemon["Args"].([]any)
		if i := slices.Index(args, any("--config")); i >= 0 {
			args[i+1] = ownFile(c, daemon["Name"].(string))
		}
	}
	text, err = json.Marshal(dev)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o644))
}
