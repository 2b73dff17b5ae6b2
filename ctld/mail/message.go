package mail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"muster/api/slurm"
	"muster/job"
	"muster/partition"
)

// compose makes the mail about an event: Slurm's subject and the variables that
// Slurm gives its mail program (slurm.conf(5), MailProg).
func compose(c *partition.Cluster, e *job.MailEvent) *Message {
	m := &Message{Program: c.Policy.MailProg, Subject: slurm.MailSubject(e), To: e.User}
	if m.To == "" {
		if m.To = e.Owner; c.Policy.MailDomain != "" {
			m.To += "@" + c.Policy.MailDomain
		}
	}
	set := func(name, value string) { m.Env = append(m.Env, name+"="+value) }
	set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	set("SLURM_CLUSTER_NAME", c.Name)
	set("SLURM_JOB_ID", strconv.Itoa(int(e.Job)))
	set("SLURM_JOB_NAME", e.Name)
	set("SLURM_JOB_USER", e.Owner)
	set("SLURM_JOB_STATE", e.State.String())
	set("SLURM_JOB_MAIL_TYPE", slurm.MailEventText(e.Event))
	if e.Array != 0 {
		set("SLURM_ARRAY_JOB_ID", strconv.Itoa(int(e.Array)))
		if e.Task != job.NoTask {
			set("SLURM_ARRAY_TASK_ID", strconv.Itoa(int(e.Task)))
		}
	}
	switch {
	case e.Timed && e.Event == job.MailBegin:
		set("SLURM_JOB_QUEUED_TIME", slurm.MailSpan(e))
	case e.Timed:
		set("SLURM_JOB_RUN_TIME", slurm.MailSpan(e))
	}
	if e.Event == job.MailEnd || e.Event == job.MailFail {
		set("SLURM_JOB_EXIT_CODE_MAX", strconv.Itoa(int(e.High/256)))
		if e.Summary {
			set("SLURM_JOB_EXIT_CODE_MIN", strconv.Itoa(int(e.Low/256)))
		}
		if e.High%256 != 0 {
			set("SLURM_JOB_TERM_SIGNAL_MAX", strconv.Itoa(int(e.High%256)))
		}
	}
	return m
}

// mostOutput bounds what is kept of a program's complaint, in bytes.
const mostOutput = 1 << 10

// tail keeps the first bytes that a program prints.
type tail struct{ bytes.Buffer }

func (t *tail) Write(b []byte) (int, error) {
	t.Buffer.Write(b[:min(len(b), max(0, mostOutput-t.Len()))])
	return len(b), nil
}

// runProgram hands a mail to its program and waits. When ctx ends, the program and
// all that it started are killed.
func runProgram(ctx context.Context, m *Message) error {
	if m.To == "" || !slurm.ValidMailUser(m.To) {
		return errors.New("the address is none that can be given to a program")
	}
	var said tail
	c := exec.CommandContext(ctx, m.Program, "-s", m.Subject, m.To)
	c.Env, c.Dir, c.Stdout, c.Stderr = m.Env, "/", &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second // a child that keeps the output open is not waited for
	err := c.Run()
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", cmp.Or(context.Cause(ctx), err), bytes.TrimSpace(said.Bytes()))
}
