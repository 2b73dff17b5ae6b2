package state

import (
	"errors"
	"reflect"
	"testing"

	"muster/internal/wire"
	"muster/internal/wiretest"
)

func TestCodecs(t *testing.T) {
	for _, m := range []wire.Message{
		new(Entry), new(Blob), new(Envelope), new(Actor), new(NewJob), new(Target), new(Dependencies),
		new(AttemptID), new(Planned), new(PlannedShare), new(Delayed), new(Priority),
	} {
		wiretest.RoundTrip(t, m)
	}
}

// Every kind that a command has makes the same command again, and its codec
// forgets nothing.
func TestCommandKinds(t *testing.T) {
	known := 0
	for k := Kind(1); k < 100; k++ {
		c := newCommand(k)
		if c == nil {
			continue
		}
		known++
		if c.Kind() != k {
			t.Errorf("kind %d makes a %T of kind %d", k, c, c.Kind())
		}
		if reflect.TypeOf(c).Elem().NumField() > 0 {
			wiretest.RoundTrip(t, c)
		}
	}
	if known != 28 {
		t.Errorf("%d kinds are known, want 28", known)
	}
}

func TestEntryRoundTrip(t *testing.T) {
	in := &Entry{Now: 5, Commands: []Envelope{Seal(&OutboxDone{Through: 7}, Actor{UID: 3, User: "u"}, RequestID{1})}}
	out, err := DecodeEntry(in.Encode(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("got %+v, want %+v", out, in)
	}
	c, err := out.Commands[0].Open()
	if err != nil || c.(*OutboxDone).Through != 7 {
		t.Errorf("opened %+v, %v", c, err)
	}
}

func TestUnknownIsAnError(t *testing.T) {
	if _, err := DecodeEntry([]byte{99}); !errors.Is(err, ErrUnknown) {
		t.Errorf("format 99: %v", err)
	}
	if _, err := DecodeEntry(nil); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("empty: %v", err)
	}
	if _, err := (&Envelope{Kind: 999}).Open(); !errors.Is(err, ErrUnknown) {
		t.Errorf("kind 999: %v", err)
	}
	if _, err := (&Envelope{Kind: KindSubmit, Body: []byte{0xff}}).Open(); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("bad body: %v", err)
	}
}
