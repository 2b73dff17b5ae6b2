package wal

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// model is what a log should hold.
type model map[uint64]raft.Log

// change is what a call makes of what a log holds.
type change func(model) model

func stored(logs []*raft.Log) change {
	return func(m model) model {
		n := maps.Clone(m)
		for _, l := range logs {
			n[l.Index] = *l
		}
		return n
	}
}

func deleted(from, to uint64) change {
	return func(m model) model {
		n := maps.Clone(m)
		maps.DeleteFunc(n, func(i uint64, _ raft.Log) bool { return from <= i && i <= to })
		return n
	}
}

func (m model) ends() (first, last uint64) {
	if len(m) == 0 {
		return 0, 0
	}
	list := slices.Sorted(maps.Keys(m))
	return list[0], list[len(list)-1]
}

// differs says how a log differs from what it should hold, "" if it does not.
func differs(l raft.LogStore, want model) string {
	first, err1 := l.FirstIndex()
	last, err2 := l.LastIndex()
	if err := errors.Join(err1, err2); err != nil {
		return err.Error()
	}
	wantFirst, wantLast := want.ends()
	if first != wantFirst || last != wantLast {
		return fmt.Sprintf("it goes from %d to %d, want %d to %d", first, last, wantFirst, wantLast)
	}
	low := wantFirst - min(wantFirst, 2)
	for i := low; i <= wantLast+2; i++ {
		var got raft.Log
		err := l.GetLog(i, &got)
		w, ok := want[i]
		switch {
		case !ok && !errors.Is(err, raft.ErrLogNotFound):
			return fmt.Sprintf("entry %d: %v, %v, want none", i, got, err)
		case ok && (err != nil || !reflect.DeepEqual(got, w)):
			return fmt.Sprintf("entry %d: %+v, %v, want %+v", i, got, err, w)
		}
	}
	return ""
}

// sim drives a log and a model at once.
type sim struct {
	t    *rapid.T
	m    *machine
	log  *Log
	want model
	// perhaps is what the log may hold instead after the next crash: changes
	// whose write was refused, and which may be on disk all the same.
	perhaps []model
	term    uint64
}

// entries makes some that follow the last, with a gap or over what is there.
func (s *sim) entries(most int) []*raft.Log {
	t := s.t
	_, last := s.want.ends()
	next := last + 1
	switch rapid.IntRange(0, 9).Draw(t, "where") {
	case 0: // as after a snapshot of the leader
		next += rapid.Uint64Range(1, 5).Draw(t, "gap")
	case 1:
		next -= min(next-1, rapid.Uint64Range(1, 3).Draw(t, "back"))
	}
	s.term++
	var logs []*raft.Log
	for i := range rapid.IntRange(1, 3).Draw(t, "entries") {
		l := &raft.Log{Index: next + uint64(i), Term: s.term, Type: raft.LogType(rapid.IntRange(0, 5).Draw(t, "type")),
			Data: rapid.SliceOfN(rapid.Byte(), 0, most).Draw(t, "data")}
		if len(l.Data) == 0 {
			l.Data = nil
		}
		if rapid.Bool().Draw(t, "more") {
			l.Extensions, l.AppendedAt = []byte("more"), time.Unix(1_700_000_000, int64(s.term)).UTC()
		}
		logs = append(logs, l)
	}
	return logs
}

// settled takes over what became of a change.
func (s *sim) settled(err error, c change) {
	may := append([]model{s.want}, s.perhaps...)
	for _, m := range may {
		may = append(may, c(m))
	}
	switch {
	case err == nil:
		s.want, s.perhaps = c(s.want), nil
	case errors.Is(err, errWrite):
		s.perhaps = may[1:]
	case errors.Is(err, errPower):
		s.reboot(may)
		return
	default:
		s.t.Fatal(err)
	}
	if d := differs(s.log, s.want); d != "" {
		s.t.Fatal(d)
	}
}

// reboot opens the log once more; it must hold one of the states given. The power
// may fail again meanwhile.
func (s *sim) reboot(may []model) {
	for {
		l, err := s.m.boot2(s.t)
		if errors.Is(err, errPower) {
			continue
		}
		if err != nil {
			s.t.Fatalf("after a crash: %v", err)
		}
		s.log = l
		break
	}
	var said []string
	for _, m := range may {
		d := differs(s.log, m)
		if d == "" {
			s.want, s.perhaps = m, nil
			return
		}
		said = append(said, d)
	}
	s.t.Fatalf("after a crash the log holds neither of: %q", said)
}

// boot2 boots, and cuts the power now and then in the middle of that.
func (m *machine) boot2(t *rapid.T) (*Log, error) {
	*m.power = power{left: -1, refuse: -1}
	if rapid.IntRange(0, 3).Draw(t, "crash again") == 0 {
		m.cut(t, 3)
	}
	l := m.log()
	err := l.recover(m.id)
	if err == nil {
		m.power.left = -1
	}
	return l, err
}

// cut lets the power fail in one of the next writes.
func (m *machine) cut(t *rapid.T, within int) {
	m.power.left = rapid.IntRange(1, within).Draw(t, "writes left")
	m.luck(t)
}

// luck draws what reaches the disk of a write that fails: any of its sectors.
func (m *machine) luck(t *rapid.T) {
	bits := rapid.Uint64().Draw(t, "sectors")
	m.power.landed = func(i int) bool { return bits>>(i%64)&1 == 1 }
	done := rapid.Bool().Draw(t, "applied")
	m.power.applied = func() bool { return done }
}

// Whatever is stored and deleted, and wherever power fails, the log holds what a
// plain map would hold, and of the change under way all or nothing.
func TestLogIsAMapThatSurvivesCrashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(headRoom+2048, rapid.Uint64().Draw(t, "id"))
		l, err := m.boot()
		if err != nil {
			t.Fatal(err)
		}
		s := &sim{t: t, m: m, log: l, want: model{}}
		store := func(most int) func(*rapid.T) {
			return func(t *rapid.T) {
				s.t = t
				logs := s.entries(most)
				s.settled(s.log.StoreLogs(logs), stored(logs))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"store":       store(300),
			"store much":  store(1500), // some do not fit into a segment
			"store again": store(20),
			"delete the end": func(t *rapid.T) {
				s.t = t
				_, last := s.want.ends()
				from := last + 1 - min(last, rapid.Uint64Range(0, 4).Draw(t, "entries"))
				s.settled(s.log.DeleteRange(from, last), deleted(from, last))
			},
			"delete the start": func(t *rapid.T) {
				s.t = t
				first, _ := s.want.ends()
				to := first + rapid.Uint64Range(0, 8).Draw(t, "entries")
				s.settled(s.log.DeleteRange(first, to), deleted(first, to))
			},
			"power fails soon": func(t *rapid.T) { m.cut(t, 6) },
			"a write is refused soon": func(t *rapid.T) {
				m.power.refuse = rapid.IntRange(0, 5).Draw(t, "writes until")
				m.luck(t)
			},
			"power fails now": func(t *rapid.T) {
				s.t = t
				s.reboot(append([]model{s.want}, s.perhaps...))
			},
			"close": func(t *rapid.T) {
				s.t = t
				err := s.log.Close()
				if err == nil && len(s.m.store.logs) != len(s.want) {
					t.Fatalf("after Close the store behind has %d entries of %d", len(s.m.store.logs), len(s.want))
				}
				s.reboot(append([]model{s.want}, s.perhaps...))
			},
		})
	})
}
