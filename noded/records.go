package noded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/proto"

	"muster/api/pb"
	"muster/noded/shepherd"
)

// A launch record is a file that is written before a job is handed to the
// shepherd and removed when the job's last report is in the journal. A daemon
// that starts finds in them what its predecessor launched.
//
// They are not synced: what a crash of the machine takes away it makes void too,
// since a record counts only for the boot that it names.

// record is the content of a launch record.
type record struct {
	Instance string // of the shepherd that got the job; "" if none did
	Index    uint64 // of the message that asked for it
	Launch   *pb.Launch
}

func (n *Node) recordName(k shepherd.Key) string {
	return filepath.Join(n.cfg.DataDir, "launches", k.String())
}

// writeRecord writes a launch record. The script and environment are not in it.
func (n *Node) writeRecord(k shepherd.Key, r record) error {
	slim := &pb.Launch{Attempt: r.Launch.Attempt, BootId: r.Launch.BootId, JournalId: r.Launch.JournalId,
		Batch: r.Launch.Batch, Uid: r.Launch.Uid, User: r.Launch.User, EndMs: r.Launch.EndMs, Signal: r.Launch.Signal,
		Part: r.Launch.Part, StartMs: r.Launch.StartMs, Info: &pb.JobInfo{TimeZone: r.Launch.GetInfo().GetTimeZone()}}
	body, err := proto.Marshal(slim)
	if err != nil {
		return fmt.Errorf("launch record of job %s: %w", k, err)
	}
	b := binary.BigEndian.AppendUint64(nil, r.Index)
	b = append(b, byte(len(r.Instance)))
	b = append(b, r.Instance...)
	b = append(b, body...)
	if err := os.WriteFile(n.recordName(k), b, 0o600); err != nil {
		return fmt.Errorf("launch record of job %s: %w", k, err)
	}
	return nil
}

func readRecord(name string) (record, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return record{}, err
	}
	if len(b) < 9 || len(b) < 9+int(b[8]) {
		return record{}, errors.New("cut off")
	}
	r := record{Index: binary.BigEndian.Uint64(b), Instance: string(b[9 : 9+b[8]]), Launch: new(pb.Launch)}
	if err := proto.Unmarshal(b[9+b[8]:], r.Launch); err != nil {
		return record{}, err
	}
	if r.Launch.Attempt == nil {
		return record{}, errors.New("no attempt in it")
	}
	return r, nil
}

// readRecords reads all launch records. One that can't be read was cut off by a
// crash of the machine; it is removed and named in the log.
func (n *Node) readRecords() ([]record, error) {
	dir := filepath.Join(n.cfg.DataDir, "launches")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("launch records: %w", err)
	}
	var out []record
	for _, e := range entries {
		r, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			n.log.Warn("launch record is of no use and is removed", "record", e.Name(), "err", err)
			os.Remove(filepath.Join(dir, e.Name()))
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

// removeFiles removes what was made for an attempt.
func (n *Node) removeFiles(k shepherd.Key, batch bool) {
	if batch {
		if err := os.RemoveAll(n.jobDir(k)); err != nil {
			n.log.Warn("job directory stays", "job", k.Job, "err", err)
		}
	}
	if err := os.Remove(n.recordName(k)); err != nil && !errors.Is(err, os.ErrNotExist) {
		n.log.Warn("launch record stays", "job", k.Job, "err", err)
	}
}

// jobDir is the directory of the job's script, which belongs to the job's user.
func (n *Node) jobDir(k shepherd.Key) string {
	name := fmt.Sprintf("job%05d", k.Job)
	if k.Attempt > 0 {
		name += "." + strconv.FormatUint(uint64(k.Attempt), 10)
	}
	return filepath.Join(n.cfg.DataDir, "spool", name)
}

// writeScript puts the script where its user can run it, and returns its name.
// The directory belongs to the user only after the file is in it.
func (n *Node) writeScript(l *pb.Launch, script []byte) (string, error) {
	k := keyOf(l.Attempt)
	dir := n.jobDir(k)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("directory of job %s: %w", k, err)
		}
		// Left by an attempt that was never launched.
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
			return "", fmt.Errorf("directory of job %s: %w", k, err)
		}
	}
	name := filepath.Join(dir, "slurm_script")
	if err := os.WriteFile(name, script, 0o700); err != nil {
		return "", fmt.Errorf("script of job %s: %w", k, err)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chown(name, int(l.Uid), int(l.Gid)), os.Chown(dir, int(l.Uid), int(l.Gid))); err != nil {
			return "", fmt.Errorf("script of job %s: %w", k, err)
		}
	}
	return name, nil
}

func keyOf(a *pb.Attempt) shepherd.Key { return shepherd.Key{Job: a.GetJob(), Attempt: a.GetAttempt()} }

func attemptOf(k shepherd.Key) *pb.Attempt { return &pb.Attempt{Job: k.Job, Attempt: k.Attempt} }
