package ctld

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/state"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		mine   byte
		others string // a hash each, of those who answered
		voters int
		want   finding
	}{
		{"alone", 'a', "", 1, agreed},
		{"all agree", 'a', "aa", 3, agreed},
		{"a majority agrees, one is silent", 'a', "a", 3, agreed},
		{"nobody answers", 'a', "", 3, unknown},
		{"too few of five answer", 'a', "a", 5, unknown},
		{"this one is wrong", 'a', "bb", 3, stop},
		{"another one is wrong", 'a', "ab", 3, outvote},
		{"two differ, one is silent", 'a', "b", 3, hold},
		{"all differ", 'a', "bc", 3, hold},
		{"two voters differ", 'a', "b", 2, hold},
		{"half of four against half", 'a', "abb", 4, hold},
		{"three of four against this one", 'a', "bbb", 4, stop},
		{"two of five are wrong", 'a', "aabb", 5, outvote},
		{"three of five against two", 'a', "abbb", 5, stop},
		{"three of five against this one, one is silent", 'a', "bbb", 5, stop},
		{"two against this one, two are silent", 'a', "bb", 5, hold},
		{"no majority among many answers", 'a', "abbc", 5, hold},
	} {
		b := ballot{mine: state.Hash{c.mine}, others: map[string]state.Hash{}}
		for i, h := range []byte(c.others) {
			b.others[string(rune('1'+i))] = state.Hash{h}
		}
		if got := b.judge(c.voters); got != c.want {
			t.Errorf("%s (%c against %q of %d): %d, want %d", c.name, c.mine, c.others, c.voters, got, c.want)
		}
	}
}

// A difference that a majority settled at one index settles the later ones, at
// which fewer answer, too.
func TestWeighTakesTheGravestFinding(t *testing.T) {
	a, b := state.Hash{'a'}, state.Hash{'b'}
	same := ballot{index: 1, mine: a, others: map[string]state.Hash{"c2": a, "c3": a}}
	settled := ballot{index: 2, mine: a, others: map[string]state.Hash{"c2": a, "c3": b}}
	split := ballot{index: 3, mine: a, others: map[string]state.Hash{"c3": b}}
	wrong := ballot{index: 4, mine: a, others: map[string]state.Hash{"c2": b, "c3": b}}
	for _, c := range []struct {
		ballots []ballot
		want    finding
		at      uint64
	}{
		{[]ballot{same}, agreed, 1},
		{[]ballot{split, same}, hold, 3},
		{[]ballot{split, settled, same}, outvote, 2},
		{[]ballot{split, wrong, settled}, stop, 4},
	} {
		if got, at := weigh(c.ballots, 3); got != c.want || at.index != c.at {
			t.Errorf("got %d at index %d, want %d at %d", got, at.index, c.want, c.at)
		}
	}
}

// damage changes the user's name in the log of a controller that is down, as a
// fault of its disk or memory might: when it starts, it makes another state of it.
func (cs *controllers) damage(name string) {
	cs.t.Helper()
	db, err := boltdb.NewBoltStore(filepath.Join(cs.dir, name, "raft.db"))
	if err != nil {
		cs.t.Fatal(err)
	}
	changed := 0
	first, err1 := db.FirstIndex()
	last, err2 := db.LastIndex()
	for i := first; i <= last; i++ {
		var l raft.Log
		if err := db.GetLog(i, &l); err != nil {
			cs.t.Fatal(err)
		}
		text := strings.ReplaceAll(string(l.Data), alice.User, "erica")
		if text == string(l.Data) {
			continue
		}
		changed++
		l.Data = []byte(text)
		if err := db.StoreLog(&l); err != nil {
			cs.t.Fatal(err)
		}
	}
	if err := errors.Join(err1, err2, db.Close()); err != nil || changed == 0 {
		cs.t.Fatalf("%d entries changed: %v", changed, err)
	}
}

// A replica with a majority against it stops, keeps its state, and does not come
// back with it; the others go on.
func TestAReplicaThatDiffersStops(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	cs.leader()
	_, index := cs.submit(1, "c1")
	cs.wait("c3 has the job", func() bool { return cs.up["c3"].Root().Index() >= index })
	cs.stop("c3")
	cs.damage("c3")
	cs.start("c3")
	r := cs.up["c3"]
	delete(cs.up, "c3") // it ends by itself
	cs.wait("c3 stops", func() bool { return len(r.done) > 0 })
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), "majority") {
		t.Errorf("c3 ended with %v, want that a majority has another state", err)
	}
	files, _ := filepath.Glob(filepath.Join(cs.dir, "c3", "diverged-*.snapshot"))
	if len(files) != 1 {
		t.Fatalf("states kept: %q, want one", files)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := state.New()
	if err := m.Restore(f); err != nil || m.Root().Index() < index {
		t.Errorf("the state that was kept: index %d, want at least %d; %v", m.Root().Index(), index, err)
	}
	if _, _, err := open(cs.config("c3")); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("the same data directory again: %v, want a refusal that names %s", err, files[0])
	}
	cs.submit(2, "c1")
	if err := os.RemoveAll(filepath.Join(cs.dir, "c3")); err != nil {
		t.Fatal(err)
	}
	cs.start("c3")
	cs.wait("c3, started anew, has the state of c1", func() bool {
		return cs.up["c3"].Root().Index() >= index && cs.up["c3"].Root().Hash() == cs.up["c1"].Root().Hash()
	})
}

// While two differ and the third is down, nobody takes changes; when it is back,
// the one that is wrong stops and the others go on.
func TestWritingStopsWithoutAMajorityForAState(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	cs.leader()
	_, index := cs.submit(1, "c1")
	cs.wait("all have the job", func() bool {
		return cs.up["c2"].Root().Index() >= index && cs.up["c3"].Root().Index() >= index
	})
	cs.stop("c3")
	cs.stop("c2")
	cs.damage("c2")
	cs.start("c2")
	cs.leader()
	c1 := cs.client(identity.Login, "login", "c1")
	var end *api.End
	n := byte(1)
	cs.wait("a submit is refused because states differ", func() bool {
		n++
		r, body := submission(n)
		_, end = call(t, c1, alice, r, body)
		return end.Err != nil && strings.Contains(end.Err.Text, "takes no changes")
	})
	if end.Err.Kind != api.ErrUnavailable || end.Err.Hint == "" {
		t.Errorf("refused with %+v, want unavailable and what to do", end.Err)
	}
	if _, end := call(t, c1, other, api.Call{Method: api.MethodJobs}, &api.JobQuery{}); end.Err != nil {
		t.Errorf("a read: %+v", end.Err)
	}
	if !cs.up["c1"].store.Held() && !cs.up["c2"].store.Held() {
		t.Error("neither says that changes are held")
	}
	r := cs.up["c2"]
	delete(cs.up, "c2") // it ends by itself
	cs.start("c3")
	cs.wait("c2 stops", func() bool { return len(r.done) > 0 })
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), "majority") {
		t.Errorf("c2 ended with %v, want that a majority has another state", err)
	}
	cs.submit(n+1, "c1")
}

func TestHashesAreForControllers(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	leader, _ := cs.leader()
	in := &pb.HashesRequest{Index: []uint64{leader.Root().Index()}}
	if _, err := cs.client(identity.Login, "login", "c1").Hashes(t.Context(), in); err == nil {
		t.Error("a login host was answered")
	}
	c := cs.client(identity.Controller, "c1", "c1")
	if out, err := c.Hashes(t.Context(), in); err != nil || len(out.Hashes) != 1 || out.Hashes[0].Index != in.Index[0] {
		t.Errorf("a controller got %v, %v; want one hash", out, err)
	}
	in.Index = make([]uint64, maxMarks+1)
	if _, err := c.Hashes(t.Context(), in); err == nil {
		t.Error("too many indices were taken")
	}
}
