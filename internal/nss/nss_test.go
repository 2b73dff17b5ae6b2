package nss

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
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

// moduleVariable is set where a name service module has been set up for the test.
const moduleVariable = "NSS_TEST_MODULE"

// TestUserOfAnotherModule asks for a user whom only a module of the C library
// knows, extrausers. It is configured in a mount name space of the test's own.
func TestUserOfAnotherModule(t *testing.T) {
	if os.Getenv(moduleVariable) != "" {
		u, err := ask(context.Background(), 61234)
		want := User{UID: 61234, GID: 61235, Name: "extra", Group: "extras", Home: "/home/extra", Shell: "/bin/sh", Groups: []string{"extras"}}
		if err != nil || !reflect.DeepEqual(u, want) {
			t.Errorf("got %+v, %v, want %+v", u, err, want)
		}
		if u, err := ask(context.Background(), 0); err != nil || u.Name != "root" {
			t.Errorf("a user of the files: got %+v, %v", u, err)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root: a mount name space of its own")
	}
	const files = "/var/lib/extrausers"
	if _, err := os.Stat(files); err != nil {
		t.Skipf("needs the package libnss-extrausers: %v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nsswitch.conf": "passwd: files extrausers\ngroup: files extrausers\n",
		"passwd":        "extra:x:61234:61235::/home/extra:/bin/sh\n",
		"group":         "extras:x:61235:\n",
		"shadow":        "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if u, err := ask(context.Background(), 61234); !errors.Is(err, ErrUnknown) {
		t.Fatalf("the host knows uid 61234 already: %+v, %v", u, err)
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c",
		`mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf && mount --bind "$1" `+files+` && exec "$0" -test.v -test.run '^TestUserOfAnotherModule$'`,
		os.Args[0], dir)
	cmd.Env = append(os.Environ(), moduleVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestUserOfAnotherModule") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSlowServiceOfOneUser has a getent that takes 30 s for one user: whoever asks
// for that one is told so soon, and the others get their answers.
func TestSlowServiceOfOneUser(t *testing.T) {
	real, err := exec.LookPath("getent")
	if err != nil {
		t.Skip("needs getent (package libc-bin)")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$2\" = 4000 ] && exec sleep 30\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "getent"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := newResolver(ask, 500*time.Millisecond, time.Now)
	defer r.Close() // ends the question, and with it getent
	slow := make(chan error, asking)
	for range asking { // not a question each
		go func() {
			_, err := r.User(context.Background(), 4000)
			slow <- err
		}()
	}
	if u, err := r.User(context.Background(), 0); err != nil || u.Name != "root" {
		t.Errorf("another user meanwhile: %+v, %v", u, err)
	}
	for range asking {
		if err := <-slow; !errors.Is(err, ErrSlow) || !strings.Contains(err.Error(), "uid 4000") {
			t.Errorf("the slow one: %v", err)
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

func TestMembership(t *testing.T) {
	const text = "root:x:0:\nusers:x:100:bob,alice\nstaff:x:50:bob\nprimary:x:1000:\nbroken\nwheel:x:10:alice,\n"
	got := membership(text, &User{Name: "alice", GID: 1000})
	if want := []string{"primary", "users", "wheel"}; !slices.Equal(got, want) {
		t.Errorf("alice is in %v, want %v", got, want)
	}
}

// The groups by getent are those that the files say, for who is in the files.
func TestGroupsOfThisUser(t *testing.T) {
	u, err := ask(t.Context(), uint32(os.Getuid()))
	if err != nil {
		t.Skipf("the name service does not know uid %d: %v", os.Getuid(), err)
	}
	if !slices.Contains(u.Groups, u.Group) {
		t.Errorf("groups are %v, want the primary %s among them", u.Groups, u.Group)
	}
}
