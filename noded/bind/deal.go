package bind

import "strings"

// How the next CPU is chosen among sockets, or among the cores of one: --distribution,
// second and third word.
type turn uint8

const (
	block   turn = iota // the first that has one free
	cyclic              // the next one for each task
	fcyclic             // the next one for each CPU
)

// turns reads a distribution. Sockets are taken in turns by default, and cores as
// sockets are.
func turns(dist string) (sockets, cores turn) {
	dist, _, _ = strings.Cut(dist, ",")
	words := strings.Split(dist, ":")
	read := func(i int, otherwise turn) turn {
		if i >= len(words) {
			return otherwise
		}
		switch words[i] {
		case "block":
			return block
		case "cyclic":
			return cyclic
		case "fcyclic":
			return fcyclic
		}
		return otherwise
	}
	sockets = read(1, cyclic)
	return sockets, read(2, sockets)
}

// dealer hands out the CPUs of a step. When all are given out it begins again:
// the step has more tasks than CPUs.
type dealer struct {
	cpus    []CPU
	free    map[int]map[int][]CPU // by socket and core
	sockets ring
	cores   map[int]*ring // of each socket
}

// ring are numbers that are taken in turns.
type ring struct {
	members []int
	at      int
	turn    turn
}

func newDealer(cpus []CPU, dist string) *dealer {
	sockets, cores := turns(dist)
	d := &dealer{cpus: cpus, sockets: ring{turn: sockets}, cores: map[int]*ring{}}
	for _, c := range cpus {
		r := d.cores[c.Socket]
		if r == nil {
			r = &ring{turn: cores}
			d.cores[c.Socket] = r
			d.sockets.add(c.Socket)
		}
		r.add(c.Core)
	}
	d.refill()
	return d
}

func (r *ring) add(n int) {
	for _, m := range r.members {
		if m == n {
			return
		}
	}
	r.members = append(r.members, n)
}

func (d *dealer) refill() {
	d.free = map[int]map[int][]CPU{}
	for _, c := range d.cpus {
		if d.free[c.Socket] == nil {
			d.free[c.Socket] = map[int][]CPU{}
		}
		d.free[c.Socket][c.Core] = append(d.free[c.Socket][c.Core], c)
	}
}

// next is the member whose turn it is: the first one that has something, from
// where the ring stands.
func (r *ring) next(has func(int) bool) (int, bool) {
	for i := range r.members {
		at := (r.at + i) % len(r.members)
		if has(r.members[at]) {
			r.at = at
			return r.members[at], true
		}
	}
	return 0, false
}

// passed moves a ring on after a CPU, or after a task.
func (r *ring) passed(after turn) {
	switch {
	case r.turn == block:
		r.at = 0
	case r.turn == after:
		r.at = (r.at + 1) % len(r.members)
	}
}

// take gives a task its CPUs.
func (d *dealer) take(count int) []CPU {
	var out []CPU
	visited := map[int]bool{}
	for range min(count, len(d.cpus)) {
		socketHas := func(s int) bool { return len(d.free[s]) > 0 }
		s, ok := d.sockets.next(socketHas)
		if !ok {
			d.refill()
			s, _ = d.sockets.next(socketHas)
		}
		cores := d.cores[s]
		core, _ := cores.next(func(c int) bool { return len(d.free[s][c]) > 0 })
		list := d.free[s][core]
		out = append(out, list[0])
		if d.free[s][core] = list[1:]; len(list) == 1 {
			delete(d.free[s], core)
		}
		visited[s] = true
		cores.passed(fcyclic)
		d.sockets.passed(fcyclic)
	}
	for s := range visited {
		d.cores[s].passed(cyclic)
	}
	d.sockets.passed(cyclic)
	return out
}
