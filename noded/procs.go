package noded

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"muster/noded/cgroup"
	"muster/noded/shepherd"
)

// procs finds the processes of jobs where there are no control groups: by the
// variables that every job's environment has, by session, by parent, and by
// having been found before. Not found is a process that left its session, lost
// its parent and cleared its environment all between two looks.
type procs struct {
	socket string // the node's agent socket: marks this node's jobs among those of others

	mu   sync.Mutex
	last []proc // of the last scan
	at   time.Time
}

// proc is one process of this user.
type proc struct {
	pid, ppid, session int
	start              uint64 // clock ticks since boot: with pid, it names one process
	rssKB              uint64
	job                uint32 // from its environment; 0: not one of this node's jobs
}

// scanAge is how old a scan may be for looking at memory.
const scanAge = 50 * time.Millisecond

// procBox is the box of one attempt.
type procBox struct {
	procs  *procs
	key    shepherd.Key
	limit  uint64 // MB, 0: none
	mu     sync.Mutex
	leader int
	known  map[int]uint64 // start times of processes that were found, by number
	oom    uint64
}

func (p *procs) box(k shepherd.Key, memoryMB uint64) *procBox {
	return &procBox{procs: p, key: k, limit: memoryMB}
}

// scan reads /proc, or returns a scan that is not older than age.
func (p *procs) scan(age time.Duration) ([]proc, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) < age {
		return p.last, nil
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	now := time.Now()
	list := make([]proc, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if one, ok := p.read(pid); ok {
				list = append(list, one)
			}
		}
	}
	p.last, p.at = list, now
	return list, nil
}

// read reads one process; false if it is gone, a zombie or another user's.
func (p *procs) read(pid int) (proc, bool) {
	base := "/proc/" + strconv.Itoa(pid)
	env, err := os.ReadFile(base + "/environ")
	if err != nil {
		return proc{}, false
	}
	stat, err := os.ReadFile(base + "/stat")
	if err != nil {
		return proc{}, false
	}
	// The name in brackets may hold anything: the fields follow the last one.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 22 || f[0][0] == 'Z' {
		return proc{}, false
	}
	ppid, _ := strconv.Atoi(string(f[1]))
	session, _ := strconv.Atoi(string(f[3]))
	start, _ := strconv.ParseUint(string(f[19]), 10, 64)
	pages, _ := strconv.ParseUint(string(f[21]), 10, 64)
	one := proc{pid: pid, ppid: ppid, session: session, start: start, rssKB: pages * uint64(os.Getpagesize()) / 1024}
	if variable(env, "MUSTER_SOCKET") == p.socket {
		id, _ := strconv.ParseUint(variable(env, "SLURM_JOB_ID"), 10, 32)
		one.job = uint32(id)
	}
	return one, true
}

// variable is a value in a NUL separated environment.
func variable(env []byte, name string) string {
	for part := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(part, []byte(name+"=")); ok {
			return string(v)
		}
	}
	return ""
}

// mine picks the box's processes out of a scan, and remembers them.
func (b *procBox) mine(list []proc) []proc {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := map[int]uint64{}
	var out []proc
	for grown := true; grown; {
		grown = false
		for _, p := range list {
			if _, has := in[p.pid]; has || !b.owns(p, in) {
				continue
			}
			in[p.pid], grown = p.start, true
			out = append(out, p)
		}
	}
	b.known = in
	return out
}

// owns tells whether a process is of the box, as are those in in. The caller
// holds the lock.
func (b *procBox) owns(p proc, in map[int]uint64) bool {
	if p.job == b.key.Job || b.leader != 0 && p.session == b.leader {
		return true
	}
	if start, seen := b.known[p.pid]; seen && start == p.start {
		return true
	}
	_, child := in[p.ppid]
	return child
}

// lead names the first process of the box.
func (b *procBox) lead(pid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leader = pid
}

// PIDs implements box.
func (b *procBox) PIDs() ([]int, error) {
	list, err := b.procs.scan(0)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, p := range b.mine(list) {
		out = append(out, p.pid)
	}
	return out, nil
}

// Kill implements box.
func (b *procBox) Kill(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		pids, err := b.PIDs()
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("job %s: %d processes do not die: %w", b.key, len(pids), ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Freeze implements box.
func (b *procBox) Freeze(on bool) error {
	pids, err := b.PIDs()
	if err != nil {
		return err
	}
	sig := unix.SIGCONT
	if on {
		sig = unix.SIGSTOP
	}
	for _, pid := range pids {
		unix.Kill(pid, sig)
	}
	return nil
}

// Stats implements box.
func (b *procBox) Stats() cgroup.Stats {
	s := b.Final()
	if list, err := b.procs.scan(scanAge); err == nil {
		for _, p := range b.mine(list) {
			s.RSSKB += p.rssKB
		}
	}
	return s
}

// Final implements box.
func (b *procBox) Final() cgroup.Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cgroup.Stats{OOMKills: b.oom}
}

// overLimit kills the job if it has more memory than it may, and says so.
func (b *procBox) overLimit(ctx context.Context) (bool, error) {
	used := b.Stats().RSSKB // also to know its processes when they have left it
	if b.limit == 0 || used <= b.limit*1024 {
		return false, nil
	}
	b.mu.Lock()
	b.oom++
	b.mu.Unlock()
	return true, b.Kill(ctx)
}

// Remove implements box.
func (b *procBox) Remove() error {
	pids, err := b.PIDs()
	if err != nil {
		return err
	}
	if len(pids) > 0 {
		return cgroup.ErrBusy
	}
	return nil
}

// Join1 implements box.
func (b *procBox) Join1() []string { return nil }

// Join2 implements box.
func (b *procBox) Join2() string { return "" }
