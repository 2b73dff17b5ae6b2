package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/wire"
)

// fakeAgent answers each call with what answer writes; it ends with the test.
func fakeAgent(t *testing.T, answer func(n int, call *Call, w io.Writer) (hangUp bool)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			for {
				_, payload, err := ReadFrame(in, nil)
				if err != nil {
					break
				}
				call := new(Call)
				if err := wire.Decode(payload, call); err != nil {
					t.Errorf("call: %v", err)
				}
				n++
				if answer(n, call, conn) {
					break
				}
			}
			conn.Close()
		}
	}()
	return path
}

func end(t *testing.T, w io.Writer, e *End) {
	if err := WriteFrame(w, FrameEnd, wire.Encode(nil, e)); err != nil {
		t.Error(err)
	}
}

func TestOneConnectionCarriesSeveralCalls(t *testing.T) {
	path := fakeAgent(t, func(n int, call *Call, w io.Writer) bool {
		WriteFrame(w, FrameChunk, call.Body)
		WriteFrame(w, FrameChunk, bytes.Repeat([]byte{byte(n)}, 100000))
		end(t, w, &End{Index: uint64(n)})
		return false
	})
	c := New(path)
	defer c.Close()
	for i := 1; i <= 3; i++ {
		chunks, e, err := c.All(&Call{Method: MethodJobs, Body: []byte("body")})
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != uint64(i) || len(chunks) != 2 || string(chunks[0]) != "body" || len(chunks[1]) != 100000 {
			t.Errorf("call %d: index %d, %d chunks", i, e.Index, len(chunks))
		}
	}
}

func TestChangeIsTriedAgainUnderOneRequestID(t *testing.T) {
	var ids [][16]byte
	var firsts []int64
	path := fakeAgent(t, func(n int, call *Call, w io.Writer) bool {
		ids, firsts = append(ids, call.RequestID), append(firsts, call.FirstTry)
		switch n {
		case 1:
			return true // the connection breaks
		case 2:
			end(t, w, &End{Err: Errorf(ErrUnavailable, "no leader")})
		case 3:
			end(t, w, &End{Err: Errorf(ErrBusy, "queue full")})
		default:
			end(t, w, &End{Index: 7})
		}
		return false
	})
	c := New(path)
	defer c.Close()
	e, err := c.Do(&Call{Method: MethodSubmit}, nil)
	if err != nil || e.Index != 7 {
		t.Fatalf("got %+v, %v", e, err)
	}
	if len(ids) != 4 {
		t.Fatalf("%d tries, want 4", len(ids))
	}
	for i := range ids {
		if ids[i] != ids[0] || firsts[i] != firsts[0] || ids[i] == ([16]byte{}) {
			t.Errorf("try %d has id %x of %d, the first %x of %d", i, ids[i], firsts[i], ids[0], firsts[0])
		}
	}
	if NewRequestID() == NewRequestID() {
		t.Error("two request ids are the same")
	}
}

func TestRefusalIsNotTriedAgain(t *testing.T) {
	tries := 0
	path := fakeAgent(t, func(n int, call *Call, w io.Writer) bool {
		tries = n
		end(t, w, &End{Err: &Error{Kind: ErrInvalid, Text: "Invalid job id specified", Hint: "see squeue"}})
		return false
	})
	c := New(path)
	defer c.Close()
	_, err := c.Do(&Call{Method: MethodCancel}, nil)
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != ErrInvalid || refused.Hint != "see squeue" {
		t.Errorf("got %v", err)
	}
	if tries != 1 {
		t.Errorf("%d tries, want 1", tries)
	}
}

func TestTriesEnd(t *testing.T) {
	path := fakeAgent(t, func(n int, call *Call, w io.Writer) bool {
		end(t, w, &End{Err: Errorf(ErrUnavailable, "no leader")})
		return false
	})
	c := New(path)
	defer c.Close()
	c.SetTimeout(200 * time.Millisecond)
	_, err := c.Do(&Call{Method: MethodSubmit}, nil)
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != ErrUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestBrokenAnswer(t *testing.T) {
	path := fakeAgent(t, func(n int, call *Call, w io.Writer) bool {
		WriteFrame(w, FrameChunk, []byte{byte(n)})
		if n < 3 {
			return true
		}
		end(t, w, &End{})
		return false
	})
	c := New(path)
	defer c.Close()
	if _, err := c.Do(&Call{Method: MethodJobs}, func([]byte) error { return nil }); !errors.Is(err, ErrBroken) {
		t.Errorf("Do: got %v, want ErrBroken", err)
	}
	chunks, _, err := c.All(&Call{Method: MethodJobs})
	if err != nil || len(chunks) != 1 || chunks[0][0] != 3 {
		t.Errorf("All: got %v, %v: want the third answer alone", chunks, err)
	}
}

func TestNoAgentIsToldAtOnceWithTheRemedy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.sock")
	t.Setenv(SocketVariable, path)
	_, err := Connect()
	var absent *NoAgentError
	if !errors.As(err, &absent) || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{path, "musterd noded", SocketVariable} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	t.Setenv(TimeoutVariable, "soon")
	if _, err := Connect(); err == nil || !strings.Contains(err.Error(), `MUSTER_TIMEOUT="soon"`) {
		t.Errorf("a bad timeout: got %v", err)
	}
}

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	long := bytes.Repeat([]byte("x"), 3*frameStep+17)
	for _, p := range [][]byte{nil, []byte("short"), long} {
		if err := WriteFrame(&b, FrameChunk, p); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.Bytes()
	r := bytes.NewReader(whole)
	for _, want := range [][]byte{nil, []byte("short"), long} {
		kind, p, err := ReadFrame(r, make([]byte, 0, 8))
		if err != nil || kind != FrameChunk || !bytes.Equal(p, want) {
			t.Errorf("kind %d, %d bytes, %v; want %d bytes", kind, len(p), err, len(want))
		}
	}
	if _, _, err := ReadFrame(r, nil); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"cut in the head":    {whole[:3], io.ErrUnexpectedEOF},
		"cut in the payload": {whole[5:12], io.ErrUnexpectedEOF},
		"no kind":            {[]byte{0, 0, 0, 0, 1}, ErrFrame},
		"too long":           {[]byte{255, 255, 255, 255, 1}, ErrFrame},
	} {
		if _, _, err := ReadFrame(bytes.NewReader(c.in), nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := AppendFrame(nil, FrameCall, make([]byte, MaxFrame)); !errors.Is(err, ErrFrame) {
		t.Errorf("a frame that is too long: got %v", err)
	}
	if _, err := AppendMessage(nil, FrameCall, &Call{Body: make([]byte, MaxFrame)}); !errors.Is(err, ErrFrame) {
		t.Errorf("a message that is too long: got %v", err)
	}
}

// FuzzReadFrame holds that no input makes a reader fail in another way than by
// an error, or keep more memory than what arrived.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 1, 7})
	f.Add([]byte{0, 255, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, p, err := ReadFrame(bytes.NewReader(b), nil)
		if err == nil && len(p) != len(b)-frameHead && len(p)+frameHead > len(b) {
			t.Errorf("%d bytes out of %d", len(p), len(b))
		}
		if cap(p) > len(b)+frameStep {
			t.Errorf("%d bytes kept for %d", cap(p), len(b))
		}
	})
}
