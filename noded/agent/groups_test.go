package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"google.golang.org/grpc"

	"muster/api"
	"muster/api/pb"
)

// childVariable makes this test binary a client of the socket that it names.
const childVariable = "AGENT_TEST_SOCKET"

func TestMain(m *testing.M) {
	path := os.Getenv(childVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := api.New(path).Do(&api.Call{Method: api.MethodJobs}, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// A change is refused to a user whom the name service does not know.
	_, err := api.New(path).Do(&api.Call{Method: api.MethodSubmit}, nil)
	fmt.Println(err)
	os.Exit(0)
}

// TestUserOfManyGroups calls as a user of 200 groups who is in no name service.
func TestUserOfManyGroups(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it starts a process as another user")
	}
	s := newSite(t)
	callers := make(chan *api.Caller, 1)
	c := s.controller("", func(call *api.Call, caller *api.Caller, _ grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		if call.Method == api.MethodSubmit {
			t.Error("the change of an unknown user was passed on")
		}
		callers <- caller
		return index(1)
	})
	s.start(c.addr)
	for dir := s.path; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o001 == 0 {
			if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
	var groups []uint32
	for g := range uint32(200) {
		groups = append(groups, 70000+g)
	}
	exe, err := os.Open("/proc/self/exe") // another user may not reach the path
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{exe}
	cmd.Env = []string{childVariable + "=" + s.path}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61999, Gid: 61998, Groups: groups}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := <-callers
	slices.Sort(got.Groups)
	if got.UID != 61999 || got.GID != 61998 || !slices.Equal(got.Groups, groups) {
		t.Errorf("uid %d, gid %d, %d groups", got.UID, got.GID, len(got.Groups))
	}
	if got.User != "61999" || got.Group != "61998" {
		t.Errorf("names of an unknown user: %s, %s: want the numbers", got.User, got.Group)
	}
	if string(out) != "Invalid user id\n" {
		t.Errorf("a change was answered with %q", out)
	}
}
