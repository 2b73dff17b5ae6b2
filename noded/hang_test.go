package noded

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/job"
)

// hangingDir mounts a file system whose server answers the greeting and then
// nothing, as that of a network file system that is stopped. It returns the
// directory and what ends the server: then all who wait get an error.
func hangingDir(t *testing.T) (dir string, end func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: it mounts a file system")
	}
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("needs /dev/fuse: %v", err)
	}
	dir, err = os.MkdirTemp("", "noded-hang-")
	if err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev)
	if err := unix.Mount("hang", dir, "fuse", 0, options); err != nil {
		t.Skipf("needs FUSE: %v", err)
	}
	closed := false
	end = func() {
		if closed {
			return
		}
		closed = true
		unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH)
		unix.Close(dev)
	}
	t.Cleanup(func() { end(); os.Remove(dir) })
	// struct fuse_in_header, struct fuse_init_in (linux/fuse.h)
	buf := make([]byte, 1<<17)
	if _, err := unix.Read(dev, buf); err != nil {
		t.Fatal(err)
	}
	// struct fuse_out_header, struct fuse_init_out of version 7.31
	out := make([]byte, 16+64)
	binary.NativeEndian.PutUint32(out, uint32(len(out)))
	copy(out[8:16], buf[8:16]) // which request it answers
	binary.NativeEndian.PutUint32(out[16:], 7)
	binary.NativeEndian.PutUint32(out[20:], 31)
	binary.NativeEndian.PutUint32(out[24:], 1<<16) // bytes read ahead
	binary.NativeEndian.PutUint32(out[36:], 1<<16) // bytes of a write
	if _, err := unix.Write(dev, out); err != nil {
		t.Fatal(err)
	}
	return dir, end
}

// TestHangingDirectoryHoldsUpItsOwnJobOnly starts jobs whose working directory,
// output, input or interpreter is in a directory that hangs, and one beside them.
func TestHangingDirectoryHoldsUpItsOwnJobOnly(t *testing.T) {
	dir, end := hangingDir(t)
	s := newSite(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	s.launch(1, "pwd", stdout(filepath.Join(s.work, "o1")), workDir(in("work")))
	s.launch(2, "true", stdout(in("out")))
	s.launch(3, "true", stdout("o3"), func(_ *pb.Launch, r *job.Request) { r.Batch.Stdin = in("input") })
	s.launch(4, "#!"+in("interpreter")+"\ntrue", stdout("o4"))
	// Who creates a file locks its directory; who waits for that can't be killed.
	another, _ := hangingDir(t)
	s.launch(5, "echo up; cat "+another+"/file", stdout("o5"))
	for id := uint32(101); id < 140; id++ { // more than there are workers
		s.launch(id, "true", stdout(in("out")))
	}
	s.launch(200, "echo $HOME", stdout("o200"))
	if r := s.released(200); r.ExitCode != 0 || r.ExitSignal != 0 {
		t.Errorf("the job beside them: %v", r)
	}
	// They can be ended, the one that has not begun too.
	s.appears("o5", "up")
	for _, id := range []uint32{2, 5} {
		s.tell(&pb.ToNode{Desired: &pb.Desired{Ending: []*pb.Ending{{Attempt: &pb.Attempt{Job: id}, Why: "CANCELLED", Now: true}}}})
		if r := s.released(id); r.ExitSignal == 0 || !r.Ended {
			t.Errorf("cancelled job %d: %v", id, r)
		}
	}
	s.tell(&pb.ToNode{Desired: &pb.Desired{Limits: []*pb.Limit{{Attempt: &pb.Attempt{Job: 3}, EndMs: time.Now().UnixMilli()}}}})
	if r := s.released(3); !r.TimedOut || r.ExitSignal == 0 {
		t.Errorf("job past its time limit: %v", r)
	}
	end() // whoever waits gets an error now
	if r := s.released(1); r.ExitCode != 0 || !strings.Contains(s.output("o1"), "going to /tmp instead") {
		t.Errorf("job whose working directory is gone: %v, output %q", r, s.output("o1"))
	}
	if r := s.released(4); r.ExitCode == 0 {
		t.Errorf("job whose interpreter is gone: %v", r)
	}
	for id := uint32(101); id < 140; id++ {
		if r := s.released(id); r.ExitSignal != outputSignal {
			t.Fatalf("job %d, whose output is gone: %v", id, r)
		}
	}
	for _, id := range []string{"2", "3"} { // what was called off never ran
		if b, err := os.ReadFile(filepath.Join(s.work, "o"+id)); err == nil && len(b) > 0 {
			t.Errorf("job %s wrote %q", id, b)
		}
	}
}
