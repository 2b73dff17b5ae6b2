package nss

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeTime is a clock that tests move.
type fakeTime struct{ ns atomic.Int64 }

func (f *fakeTime) now() time.Time { return time.Unix(1e9, f.ns.Load()) }

func (f *fakeTime) pass(d time.Duration) { f.ns.Add(int64(d)) }

// service is a name service that answers when it is told to.
type service struct {
	asked  chan uint32
	answer chan answer
}

type answer struct {
	user User
	err  error
}

func (s *service) ask(ctx context.Context, uid uint32) (User, error) {
	s.asked <- uid
	select {
	case a := <-s.answer:
		return a.user, a.err
	case <-ctx.Done():
		return User{}, ctx.Err()
	}
}

func start(t *testing.T, wait time.Duration) (*Resolver, *service, *fakeTime) {
	s := &service{asked: make(chan uint32, 100), answer: make(chan answer, 100)}
	clock := &fakeTime{}
	r := newResolver(s.ask, wait, clock.now)
	t.Cleanup(r.Close)
	return r, s, clock
}

func TestAnswersAreRemembered(t *testing.T) {
	r, s, clock := start(t, time.Minute)
	ctx := context.Background()
	check := func(step, want string, questions int) {
		t.Helper()
		u, err := r.User(ctx, 7)
		if err != nil || u.Name != want {
			t.Errorf("%s: got %q, %v, want %q", step, u.Name, err, want)
		}
		for range questions {
			<-s.asked
		}
		if n := len(s.asked); n != 0 {
			t.Errorf("%s: %d questions too many", step, n)
		}
	}
	s.answer <- answer{user: User{UID: 7, Name: "ann"}}
	check("first", "ann", 1)
	clock.pass(4 * time.Minute)
	check("fresh", "ann", 0)
	clock.pass(2 * time.Minute)
	check("old, served while asked anew", "ann", 1)
	s.answer <- answer{user: User{UID: 7, Name: "eve"}}
	r.settle()
	check("new", "eve", 0)
	clock.pass(6 * time.Minute)
	check("old again", "eve", 1)
	s.answer <- answer{err: errors.New("broken")}
	r.settle()
	check("a failure does not replace an answer", "eve", 1)
}

// settle waits until no question is open.
func (r *Resolver) settle() { r.done.Wait() }

func TestUnknownUsersAreAskedForAgainSoon(t *testing.T) {
	r, s, clock := start(t, time.Minute)
	s.answer <- answer{err: ErrUnknown}
	for range 2 {
		if _, err := r.User(context.Background(), 9); !errors.Is(err, ErrUnknown) {
			t.Fatalf("got %v, want ErrUnknown", err)
		}
	}
	clock.pass(31 * time.Second)
	s.answer <- answer{user: User{UID: 9, Name: "new"}}
	if u, err := r.User(context.Background(), 9); err != nil || u.Name != "new" {
		t.Errorf("after half a minute: got %v, %v", u, err)
	}
}

func TestHangingServiceHoldsUpNobodyElse(t *testing.T) {
	r, s, _ := start(t, 30*time.Millisecond)
	if _, err := r.User(context.Background(), 1); !errors.Is(err, ErrSlow) {
		t.Fatalf("got %v, want ErrSlow", err)
	}
	<-s.asked
	done := make(chan error, 1)
	go func() {
		_, err := r.User(context.Background(), 2)
		done <- err
	}()
	<-s.asked
	s.answer <- answer{user: User{Name: "x"}} // one of the two gets it
	s.answer <- answer{user: User{Name: "x"}}
	<-done
	r.settle()
	for _, uid := range []uint32{1, 2} {
		if u, err := r.User(context.Background(), uid); err != nil || u.Name != "x" {
			t.Errorf("uid %d, after the service came back: got %v, %v", uid, u, err)
		}
	}
}

func TestCallerThatGoesAway(t *testing.T) {
	r, _, _ := start(t, time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.User(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := newResolver(func(_ context.Context, uid uint32) (User, error) { return User{UID: uid}, nil }, time.Minute, time.Now)
	defer r.Close()
	for uid := range uint32(remembered + 100) {
		r.mu.Lock()
		r.makeRoom()
		r.entries[uid] = &entry{at: time.Now()}
		r.mu.Unlock()
	}
	if _, err := r.User(context.Background(), 1<<30); err != nil {
		t.Fatal(err)
	}
	if n := len(r.entries); n > remembered {
		t.Errorf("%d users remembered, want %d at most", n, remembered)
	}
}

func TestRealNameService(t *testing.T) {
	u, err := ask(context.Background(), 0)
	if err != nil || u.Name != "root" || u.Group != "root" || u.UID != 0 || u.Home == "" {
		t.Errorf("uid 0: got %+v, %v", u, err)
	}
	if _, err := ask(context.Background(), 3999999999); !errors.Is(err, ErrUnknown) {
		t.Errorf("a uid that nobody has: got %v, want ErrUnknown", err)
	}
	u, err = lookUp(context.Background(), 0, fromFile)
	if err != nil || u.Name != "root" || u.Group != "root" {
		t.Errorf("from the files: got %+v, %v", u, err)
	}
}

// TestGetentThatHangs runs a getent that never answers, with a child that keeps
// its output open.
func TestGetentThatHangs(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nsleep 600 &\necho $! >" + filepath.Join(dir, "child") + "\nwait\n"
	if err := os.WriteFile(filepath.Join(dir, "getent"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := ask(ctx, 0); !errors.Is(err, ErrSlow) {
		t.Errorf("got %v, want ErrSlow", err)
	}
	kill(t, filepath.Join(dir, "child"))
}

// TestUserOfAnotherModule asks for a user that only a name service module knows.
func TestUserOfAnotherModule(t *testing.T) {
	const file = "/var/lib/extrausers/passwd"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("libnss-extrausers is not set up: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		want, err := parseUser(strings.TrimSuffix(line, "\n"))
		if err != nil {
			continue
		}
		got, err := ask(context.Background(), want.UID)
		if err != nil || got.Name != want.Name {
			t.Errorf("uid %d: got %+v, %v, want %s", want.UID, got, err, want.Name)
		}
	}
}

func TestWordsOfTheService(t *testing.T) {
	for line, ok := range map[string]bool{
		"ann:x:7:8:Ann:/home/ann:/bin/sh": true,
		"ann:x:7:8::/home/ann:":           true,
		"":                                false,
		"ann:x:7:8:/home/ann":             false,
		":x:7:8:::":                       false,
		"ann:x:-7:8:::":                   false,
		"ann:x:7:4294967296:::":           false,
	} {
		if _, err := parseUser(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
	wrong := func(context.Context, string, string) (string, error) { return "ann:x:8:8:::", nil }
	if _, err := lookUp(context.Background(), 7, wrong); !errors.Is(err, ErrUnknown) {
		t.Errorf("an answer for another uid: got %v, want ErrUnknown", err)
	}
}
