package gres

import "slices"

// Board places requests over many rooms so that what stays free is of most use.
// It is for requests of kinds that are known beforehand. Not safe for concurrent
// use.
type Board struct {
	mix   *Mix
	asks  []Ask
	rooms []Room
	loss  []int64
	best  []option // by room, then kind of request
}

// option is the best way to give a kind of request a place in one room.
type option struct {
	known, fits bool
	device      int32 // for a share of one
	score       int64
}

// scoreStep is how much loss, in thousandths of a device, makes
// a difference: below it the first room wins, so that rooms fill one by one.
const scoreStep = 40

// NewBoard makes a board over rooms, which it copies; asks are the kinds of
// requests, with weights for how often each comes.
func NewBoard(asks []Ask, rooms []Room) *Board {
	b := &Board{mix: NewMix(asks, rooms), asks: asks, rooms: make([]Room, len(rooms)),
		loss: make([]int64, len(rooms)), best: make([]option, len(rooms)*len(asks))}
	for i := range rooms {
		b.rooms[i] = rooms[i]
		b.rooms[i].Free = append([]int32(nil), rooms[i].Free...)
		b.loss[i] = b.mix.Loss(&b.rooms[i])
	}
	return b
}

// Best is the room that a request of a kind should take, and the devices of it.
// It is false when no room has a place.
func (b *Board) Best(ask int) (room int, devices []int, ok bool) {
	room = -1
	var best int64
	for i := range b.rooms {
		o := &b.best[i*len(b.asks)+ask]
		if !o.known {
			*o = b.judge(i, &b.asks[ask])
		}
		if o.fits && (room < 0 || o.score > best) {
			room, best = i, o.score
		}
	}
	if room < 0 {
		return room, nil, false
	}
	return room, b.devices(room, ask), true
}

// Take gives a request its place; Give takes it back.
func (b *Board) Take(room, ask int, devices []int) { b.change(room, ask, devices, 1) }

// Give makes a place free again.
func (b *Board) Give(room, ask int, devices []int) { b.change(room, ask, devices, -1) }

// Frag is the expected fragmentation and what is free over all rooms, in
// thousandths of a device.
func (b *Board) Frag() (frag, free int64) {
	for i := range b.rooms {
		frag += b.mix.Frag(&b.rooms[i])
		free += b.rooms[i].free()
	}
	return frag, free
}

func (b *Board) change(room, ask int, devices []int, sign int64) {
	r, a := &b.rooms[room], &b.asks[ask]
	r.take(a, devices, sign)
	b.loss[room] = b.mix.Loss(r)
	clear(b.best[room*len(b.asks) : (room+1)*len(b.asks)])
}

func (r *Room) take(a *Ask, devices []int, sign int64) {
	r.CPUs -= sign * a.CPUs
	r.Memory -= sign * a.Memory
	for _, d := range devices {
		r.Free[d] -= int32(sign) * int32(a.Share)
	}
}

// judge finds the best device of a room for a share, and the score of the room.
func (b *Board) judge(room int, a *Ask) option {
	o := option{known: true, device: -1}
	r := &b.rooms[room]
	if !r.Fits(a) {
		return o
	}
	try := func(devices []int) {
		r.take(a, devices, 1)
		gain := b.loss[room] - b.mix.Loss(r)
		r.take(a, devices, -1)
		if score := floorDiv(gain, scoreStep); !o.fits || score > o.score {
			o.fits, o.score = true, score
			if len(devices) == 1 {
				o.device = int32(devices[0])
			}
		}
	}
	if a.Count != 1 {
		try(r.fullest(a))
		return o
	}
	one := make([]int, 1)
	for i, f := range r.Free {
		if int(f) >= a.Share && !slices.Contains(r.Free[:i], f) {
			one[0] = i
			try(one)
		}
	}
	return o
}

// devices are those that the best option of a room takes.
func (b *Board) devices(room, ask int) []int {
	if o := &b.best[room*len(b.asks)+ask]; o.device >= 0 {
		return []int{int(o.device)}
	}
	return b.rooms[room].fullest(&b.asks[ask])
}

// fullest are the devices with the least free that have enough for a request.
func (r *Room) fullest(a *Ask) []int {
	var out []int
	for len(out) < a.Count {
		best := -1
		for i, f := range r.Free {
			if int(f) < a.Share || slices.Contains(out, i) {
				continue
			}
			if best < 0 || f < r.Free[best] {
				best = i
			}
		}
		out = append(out, best)
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}
