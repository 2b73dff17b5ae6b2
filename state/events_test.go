package state

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"muster/job"
	"muster/partition"
)

// events lists what the outbox says of nodes and reservations.
func (w *world) events(name string) []string {
	var out []string
	for _, r := range w.m.Root().Outbox(0) {
		if e := r.Event; e != nil && e.Name == name {
			cpus, _ := e.Has.Get("cpu")
			out = append(out, fmt.Sprintf("%s %d cpus %d ms %s %s", e.Kind, cpus, e.To-e.From, e.Reason, e.By))
		}
	}
	return out
}

// after lets time pass, then does a command.
func (w *world) after(d job.Time, c Command) {
	w.t.Helper()
	w.now += d
	w.must(c)
}

func text(s string) *string { return &s }

// Each stretch of a node in one condition is recorded once, when it is over, with no
// time between them; a change that changes no condition ends none.
func TestStretchesOfANode(t *testing.T) {
	w := newWorld(t)
	since := w.node("n1").Since
	if since == 0 || len(w.events("n1")) != 0 {
		t.Fatalf("since %d, events %q", since, w.events("n1"))
	}
	w.after(5000, &NodeAdmin{Names: []string{"n1"}, Comment: text("a comment")})
	w.after(5000, &NodeAdmin{Names: []string{"n1"}, State: "DRAIN", Reason: text("fan")})
	w.after(5000, &NodeAdmin{Names: []string{"n1"}, Reason: text("fan and disk")})
	w.after(5000, &NodeAdmin{Names: []string{"n1"}, State: "DOWN"})
	w.after(5000, &NodeAdmin{Names: []string{"n1"}, State: "RESUME"})
	var kinds []string
	for _, r := range w.m.Root().Outbox(0) {
		e := r.Event
		if e == nil || e.Name != "n1" {
			continue
		}
		if e.From != since || e.To <= e.From {
			t.Errorf("%+v, want it to begin at %d", e, since)
		}
		since = e.To
		kinds = append(kinds, e.Kind.String()+" "+e.Reason)
	}
	if want := []string{"UP ", "DRAIN fan", "DRAIN fan and disk", "DOWN fan and disk"}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	if now := w.node("n1").Since; now != since {
		t.Errorf("the present stretch begins at %d, want %d", now, since)
	}
	if e := NodeStretch(w.node("n1"), since+1); e == nil || e.Kind.String() != "UP" {
		t.Errorf("the present stretch: %+v", e)
	}
}

// A node that leaves the cluster file has its last stretch recorded.
func TestStretchOfANodeThatGoes(t *testing.T) {
	w := newWorld(t)
	w.after(7000, &Configure{Cluster: testCluster("n2")})
	if got := w.events("n1"); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// A reservation is recorded from its start to its end, piece by piece as it was; the
// outbox survives a snapshot.
func TestStretchesOfAReservation(t *testing.T) {
	w := newWorld(t)
	n1, n2 := w.node("n1").ID, w.node("n2").ID
	v := partition.Reservation{Name: "r", Start: w.now + 10_000, End: w.now + 100_000, Nodes: []job.NodeID{n1}, CreatedBy: "root"}
	w.after(1000, &Reservation{Create: true, Value: v})
	v.Nodes = []job.NodeID{n1, n2}
	w.after(1000, &Reservation{Value: v}) // it has not begun
	if got := w.events("r"); len(got) != 0 {
		t.Errorf("before its start: %q", got)
	}
	w.now = v.Start + 5000
	v.Nodes = []job.NodeID{n2}
	w.must(&Reservation{Value: v})
	w.now = v.End + 50_000
	w.must(&Reservation{Delete: true, Value: v})
	var got []string
	for _, r := range w.m.Root().Outbox(0) {
		if e := r.Event; e != nil && e.Name == "r" {
			got = append(got, fmt.Sprintf("%t %v %s", e.From >= v.Start && e.To <= v.End, e.Nodes, e.By))
			v.Start = e.To
		}
	}
	if want := []string{"true [n1 n2] root", "true [n2] root"}; !slices.Equal(got, want) || v.Start != v.End {
		t.Errorf("got %q up to %d, want %q up to %d", got, v.Start, want, v.End)
	}
	var b bytes.Buffer
	if err := w.m.Root().WriteSnapshot(&b); err != nil {
		t.Fatal(err)
	}
	m := New()
	if err := m.Restore(&b); err != nil {
		t.Fatal(err)
	}
	before := w.events("r")
	w.m = m
	if after := w.events("r"); !slices.Equal(before, after) {
		t.Errorf("after a restore %q, before %q", after, before)
	}
}
