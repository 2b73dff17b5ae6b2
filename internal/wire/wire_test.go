package wire

import (
	"errors"
	"reflect"
	"testing"
)

type leaf struct {
	Name string
	N    int64
}

func (l *leaf) Code(c *Coder) {
	c.String(1, &l.Name)
	c.Int64(2, &l.N)
}

type all struct {
	U    uint64
	I    int64
	B    bool
	S    string
	Raw  []byte
	Hash [4]byte
	One  leaf
	Ptr  *leaf
	Many []leaf
	Refs []*leaf
	Text []string
	Ints []int32
	Big  uint32
}

func (a *all) Code(c *Coder) {
	c.Uint64(1, &a.U)
	c.Int64(2, &a.I)
	c.Bool(3, &a.B)
	c.String(4, &a.S)
	c.Bytes(5, &a.Raw)
	c.Fixed(6, a.Hash[:])
	Struct(c, 7, &a.One)
	Pointer(c, 8, &a.Ptr)
	Slice(c, 9, &a.Many)
	Pointers(c, 10, &a.Refs)
	Texts(c, 11, &a.Text)
	Ints(c, 12, &a.Ints)
	Uint(c, 300, &a.Big)
}

func full() *all {
	long := make([]byte, 70000)
	for i := range long {
		long[i] = byte(i)
	}
	return &all{
		U: 1 << 63, I: -5, B: true, S: "text", Raw: long, Hash: [4]byte{1, 2, 3, 4},
		One: leaf{Name: string(long[:200]), N: -1 << 63}, Ptr: &leaf{},
		Many: []leaf{{Name: "a"}, {}, {N: 7}}, Refs: []*leaf{{N: 1}},
		Text: []string{"", "x", ""}, Ints: []int32{0, -1, 1 << 30}, Big: 1<<32 - 1,
	}
}

func TestRoundTrip(t *testing.T) {
	for name, in := range map[string]*all{"full": full(), "zero": {}} {
		t.Run(name, func(t *testing.T) {
			b := Encode(nil, in)
			var out all
			if err := Decode(b, &out); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(in, &out) {
				t.Errorf("got %+v, want %+v", out, in)
			}
		})
	}
	if n := len(Encode(nil, &all{})); n != 0 {
		t.Errorf("a zero value takes %d bytes, want 0", n)
	}
}

// old knows only two of the fields of all: what it does not know is skipped.
type old struct {
	S    string
	Text []string
}

func (o *old) Code(c *Coder) {
	c.String(4, &o.S)
	Texts(c, 11, &o.Text)
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	var o old
	if err := Decode(Encode(nil, full()), &o); err != nil {
		t.Fatal(err)
	}
	if o.S != "text" || len(o.Text) != 3 {
		t.Errorf("got %+v", o)
	}
}

func TestCutOffAndGarbage(t *testing.T) {
	b := Encode(nil, full())
	accepted := 0
	for i := range 300 {
		if err := Decode(b[:i], new(all)); err == nil {
			accepted++ // a cut between two fields is a shorter message
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v is not ErrCorrupt", i, err)
		}
	}
	if accepted > 8 {
		t.Errorf("%d of 300 cut messages were accepted", accepted)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(nil, full())[:200])
	f.Fuzz(func(t *testing.T, b []byte) {
		var a all
		if Decode(b, &a) != nil {
			return
		}
		var again all
		if err := Decode(Encode(nil, &a), &again); err != nil {
			t.Fatalf("own encoding refused: %v", err)
		}
	})
}
