package noded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"muster/api/pb"
	"muster/noded/shepherd"
)

// A launch record is written before a job is handed to the shepherd, and struck
// out when the job's last report is in the journal. A daemon that starts finds in
// them what its predecessor launched.
//
// They are appended to one file and not synced: what a crash of the machine takes
// away it makes void too, since a record counts only for the boot that it names.
// A file for each job would cost ten times the CPU.
type records struct {
	name string

	mu   sync.Mutex
	file *os.File
	size int
	live map[shepherd.Key][]byte // frames, for writing the file anew
}

// record is what is kept of a launch.
type record struct {
	Instance string // of the shepherd that got the job; "" if none did
	Index    uint64 // of the message that asked for it
	Launch   *pb.Launch
	Box      string // how its box is found again (boxMark)
}

// rewriteSize is how long the file may grow before it is written anew.
const rewriteSize = 4 << 20

// The kinds of entries.
const (
	recordLaunch = 1
	recordStruck = 2
)

// openRecords reads the file and returns the records that are not struck out. An
// entry that was cut off by a crash of the machine ends the file.
func openRecords(dir string) (*records, []record, error) {
	r := &records{name: filepath.Join(dir, "launches"), live: map[shepherd.Key][]byte{}}
	b, err := os.ReadFile(r.name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("launch records: %w", err)
	}
	kept := map[shepherd.Key]record{}
	for len(b) >= 5 {
		n := int(binary.BigEndian.Uint32(b))
		if n < 1 || n > len(b)-4 {
			break
		}
		frame := b[:4+n]
		b = b[4+n:]
		one, err := parseRecord(frame[5:])
		if err != nil {
			break
		}
		k := keyOf(one.Launch.Attempt)
		if frame[4] == recordStruck {
			delete(kept, k)
			delete(r.live, k)
			continue
		}
		kept[k], r.live[k] = one, frame
	}
	if err := r.rewrite(); err != nil {
		return nil, nil, err
	}
	out := make([]record, 0, len(kept))
	for _, one := range kept {
		out = append(out, one)
	}
	return r, out, nil
}

var errCutOff = errors.New("cut off")

func parseRecord(b []byte) (record, error) {
	if len(b) < 8 {
		return record{}, errCutOff
	}
	r := record{Index: binary.BigEndian.Uint64(b), Launch: new(pb.Launch)}
	b = b[8:]
	for _, text := range []*string{&r.Instance, &r.Box} {
		if len(b) < 1 || len(b) < 1+int(b[0]) {
			return record{}, errCutOff
		}
		*text, b = string(b[1:1+b[0]]), b[1+b[0]:]
	}
	if err := proto.Unmarshal(b, r.Launch); err != nil {
		return record{}, err
	}
	if r.Launch.Attempt == nil {
		return record{}, errors.New("no attempt in it")
	}
	return r, nil
}

func frameOf(kind byte, r record) ([]byte, error) {
	b := append(make([]byte, 4), kind)
	b = binary.BigEndian.AppendUint64(b, r.Index)
	for _, text := range []string{r.Instance, r.Box} { // both are short
		b = append(append(b, byte(len(text))), text...)
	}
	b, err := proto.MarshalOptions{}.MarshalAppend(b, r.Launch)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, err
}

// add writes a record. Script, environment and request are not in it, and what
// only an epilog wants to know only if there is one.
func (r *records) add(one record) error {
	l := one.Launch
	one.Launch = &pb.Launch{Attempt: l.Attempt, BootId: l.BootId, JournalId: l.JournalId, Batch: l.Batch, Uid: l.Uid,
		Gid: l.Gid, User: l.User, Group: l.Group, Groups: l.Groups, NodeIndex: l.NodeIndex, EndMs: l.EndMs, Signal: l.Signal, StartMs: l.StartMs, Info: &pb.JobInfo{TimeZone: l.GetInfo().GetTimeZone(), Sluid: l.GetInfo().GetSluid()},
		Part: &pb.Part{MemoryMb: l.GetPart().GetMemoryMb()}}
	if l.GetPrograms().GetEpilog() != "" {
		one.Launch.Programs, one.Launch.Nodes, one.Launch.Part = l.Programs, l.Nodes, l.Part
		one.Launch.Info = proto.CloneOf(l.Info)
		one.Launch.Info.Request = nil
	}
	b, err := frameOf(recordLaunch, one)
	if err != nil {
		return fmt.Errorf("launch record of job %d: %w", l.Attempt.Job, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[keyOf(l.Attempt)] = b
	return r.write(b)
}

// strike strikes a record out.
func (r *records) strike(k shepherd.Key) error {
	b, err := frameOf(recordStruck, record{Launch: &pb.Launch{Attempt: attemptOf(k)}})
	if err != nil {
		return fmt.Errorf("launch record of job %s: %w", k, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[k] == nil {
		return nil
	}
	delete(r.live, k)
	return r.write(b)
}

// write appends an entry, or writes the file anew; the caller holds the lock.
func (r *records) write(b []byte) error {
	if r.size+len(b) > rewriteSize && r.size > 2*len(r.live)*len(b) {
		return r.rewrite()
	}
	if _, err := r.file.Write(b); err != nil {
		return fmt.Errorf("launch records: %w", err)
	}
	r.size += len(b)
	return nil
}

// rewrite puts a file with the live records in place of the one that is there.
func (r *records) rewrite() error {
	f, err := os.OpenFile(r.name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("launch records: %w", err)
	}
	var all []byte
	for _, b := range r.live {
		all = append(all, b...)
	}
	if _, err := f.Write(all); err != nil {
		f.Close()
		return fmt.Errorf("launch records: %w", err)
	}
	if err := os.Rename(r.name+".new", r.name); err != nil {
		f.Close()
		return fmt.Errorf("launch records: %w", err)
	}
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.size = f, len(all)
	return nil
}

func (r *records) close() { r.file.Close() }

// removeFiles removes what was made for an attempt.
func (n *Node) removeFiles(k shepherd.Key, batch bool) {
	if batch {
		n.disk.Lock()
		err := removeJobDir(n.jobDir(k))
		n.disk.Unlock()
		if err != nil {
			n.log.Warn("job directory stays", "job", k.Job, "err", err)
		}
	}
	if err := n.records.strike(k); err != nil {
		n.log.Error("launch record stays", "job", k.Job, "err", err)
	}
}

// scriptName is the file that the job's script is in.
const scriptName = "slurm_script"

// removeJobDir removes a job's directory, which nearly always holds the script and
// nothing else: to look through it costs twice as much.
func removeJobDir(dir string) error {
	if unix.Unlink(filepath.Join(dir, scriptName)) == nil && unix.Rmdir(dir) == nil {
		return nil
	}
	err := os.RemoveAll(dir)
	if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		// Without root the modes count that the job, our own user, has set.
		if err = os.Chmod(dir, 0o700); err == nil {
			err = os.RemoveAll(dir)
		}
	}
	return err
}

// jobDir is the directory of the job's script, which belongs to the job's user.
func (n *Node) jobDir(k shepherd.Key) string {
	name := fmt.Sprintf("job%05d", k.Job)
	if k.Attempt > 0 {
		name += "." + strconv.FormatUint(uint64(k.Attempt), 10)
	}
	return filepath.Join(n.cfg.SpoolDir, name)
}

// writeScript puts the script where its user can run it, and returns its name.
// The directory belongs to the user only after the file is in it.
func (n *Node) writeScript(l *pb.Launch, script []byte) (string, error) {
	n.disk.Lock()
	defer n.disk.Unlock()
	k := keyOf(l.Attempt)
	dir := n.jobDir(k)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrNotExist) {
		// Somebody has cleaned up where the spool was.
		if err = ownDir(n.cfg.SpoolDir); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("directory of job %s: %w", k, err)
		}
		// Left by an attempt that was never launched.
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
			return "", fmt.Errorf("directory of job %s: %w", k, err)
		}
	}
	name := filepath.Join(dir, scriptName)
	if err := writeFor(name, script, int(l.Uid), int(l.Gid)); err != nil {
		return "", fmt.Errorf("script of job %s: %w", k, err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, int(l.Uid), int(l.Gid)); err != nil {
			return "", fmt.Errorf("script of job %s: %w", k, err)
		}
	}
	return name, nil
}

// writeFor writes a program that belongs to a user.
func writeFor(name string, text []byte, uid, gid int) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o700)
	if err != nil {
		return err
	}
	for err == nil && len(text) > 0 {
		var n int
		if n, err = unix.Write(fd, text); err == unix.EINTR {
			err = nil
		}
		text = text[max(n, 0):]
	}
	if err == nil && os.Geteuid() == 0 {
		err = unix.Fchown(fd, uid, gid)
	}
	return errors.Join(err, unix.Close(fd))
}

func keyOf(a *pb.Attempt) shepherd.Key { return shepherd.Key{Job: a.GetJob(), Attempt: a.GetAttempt()} }

func attemptOf(k shepherd.Key) *pb.Attempt { return &pb.Attempt{Job: k.Job, Attempt: k.Attempt} }
