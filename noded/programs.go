package noded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/internal/wire"
	"muster/job"
)

// What a node's reason says after a program of the site has failed; Slurm's words.
const (
	prologError = "Prolog error"
	epilogError = "Epilog error"
)

// programTail is how much of what a failing program wrote goes into the log, in
// bytes.
const programTail = 1 << 10

// prologFailure is a prolog that did not end well.
type prologFailure struct{ error }

func (p prologFailure) Unwrap() error { return p.error }

// prolog runs the site's program before anything of a job is made on this node
// (slurm.conf(5), Prolog). It ends before the job may, as in Slurm: a job that is
// cancelled meanwhile waits for it, so ctx is that of the daemon.
func (n *Node) prolog(ctx context.Context, a *attempt) error {
	path := a.launch.GetPrograms().GetProlog()
	if path == "" {
		return nil
	}
	if err := n.runProgram(ctx, a.launch, path, "prolog_slurmd"); err != nil {
		n.log.Error("prolog failed, the node takes no more jobs", "job", a.key.Job, "attempt", a.key.Attempt, "program", path, "err", err)
		return prologFailure{fmt.Errorf("prolog %s on node %s: %w", path, n.cfg.Name, err)}
	}
	return nil
}

// epilog runs the site's program after the last process of a job; "" or the
// reason to take the node out of service. It may run a second time where the
// daemon is stopped during the first.
func (n *Node) epilog(ctx context.Context, a *attempt, o *outcome) (drain string) {
	path := a.launch.GetPrograms().GetEpilog()
	if path == "" || !a.begun.Load() {
		return ""
	}
	status := o.code<<8 | o.signal&0x7f
	err := n.runProgram(ctx, a.launch, path, "epilog_slurmd",
		fmt.Sprintf("SLURM_JOB_EXIT_CODE=%d", status), fmt.Sprintf("SLURM_JOB_EXIT_CODE2=%d:%d", o.code, o.signal))
	if err == nil || ctx.Err() != nil {
		return ""
	}
	n.log.Error("epilog failed, the node takes no more jobs", "job", a.key.Job, "attempt", a.key.Attempt, "program", path, "err", err)
	return epilogError
}

// runProgram runs a program of the site as this daemon's user, in / and with
// nothing of the job's user in its environment. It is killed, with its process
// group, when its time is over.
func (n *Node) runProgram(ctx context.Context, l *pb.Launch, path, what string, more ...string) error {
	limit := time.Duration(l.Programs.TimeS) * time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path)
	cmd.Dir = "/"
	cmd.Env = append(n.programEnvironment(l), append(more, "SLURM_SCRIPT_CONTEXT="+what)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second // what it left behind may hold its output open
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well
	}
	switch {
	case err == nil:
		return nil
	case limited.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("not ended after %s, killed", limit)
	}
	if text := strings.TrimSpace(said.String()); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// programEnvironment tells a program of the site what job it is about (the names
// of Slurm's guide to prologs and epilogs).
func (n *Node) programEnvironment(l *pb.Launch) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SLURMD_NODENAME=" + n.cfg.Name}
	set := func(name, value string) {
		if value != "" && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	count := func(name string, value uint64) { set(name, strconv.FormatUint(value, 10)) }
	in := l.GetInfo()
	count("SLURM_JOB_ID", uint64(l.Attempt.Job))
	count("SLURM_JOBID", uint64(l.Attempt.Job))
	count("SLURM_JOB_UID", uint64(l.Uid))
	count("SLURM_JOB_GID", uint64(l.Gid))
	set("SLURM_JOB_USER", l.User)
	set("SLURM_JOB_GROUP", l.Group)
	set("SLURM_CLUSTER_NAME", in.GetCluster())
	set("SLURM_JOB_NAME", in.GetName())
	set("SLURM_JOB_PARTITION", in.GetPartition())
	set("SLURM_JOB_ACCOUNT", in.GetAccount())
	set("SLURM_JOB_QOS", in.GetQos())
	set("SLURM_JOB_RESERVATION", in.GetReservation())
	set("SLURM_JOB_LICENSES", in.GetLicenses())
	count("SLURM_JOB_RESTART_COUNT", uint64(in.GetRestarts()))
	if in.GetArrayJob() != 0 {
		count("SLURM_ARRAY_JOB_ID", uint64(in.ArrayJob))
		count("SLURM_ARRAY_TASK_ID", uint64(in.ArrayTask))
	}
	var names []string
	for _, p := range l.Nodes {
		names = append(names, p.Name)
	}
	set("SLURM_JOB_NODELIST", hostlist.Compress(names))
	count("SLURM_JOB_NUM_NODES", uint64(len(names)))
	count("SLURM_JOB_START_TIME", uint64(l.StartMs/1000))
	if l.EndMs > 0 {
		count("SLURM_JOB_END_TIME", uint64(l.EndMs/1000))
	}
	for _, d := range deviceIDs(l.GetPart().GetDevices()) {
		if d.Name == "gpu" && d.Index != nil {
			set("SLURM_JOB_GPUS", slurm.FormatIndices(d.Index))
		}
	}
	req := new(job.Request)
	if wire.Decode(in.GetRequest(), req) == nil {
		set("SLURM_JOB_WORK_DIR", req.Batch.WorkDir)
		set("SLURM_JOB_CONSTRAINTS", req.Place.Constraint)
		set("SLURM_JOB_COMMENT", req.Comment)
	}
	return env
}

// tail keeps the end of what is written to it.
type tail struct{ bytes.Buffer }

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.Buffer.Write(b)
	if more := t.Len() - programTail; more > 0 {
		t.Next(more)
	}
	return len(b), nil
}
