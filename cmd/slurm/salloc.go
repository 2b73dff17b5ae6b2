package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// salloc gets an allocation, runs a command beside it and gives it back:
// salloc(1).
func salloc(in *invocation) int {
	c, code := newStepCommand(in, slurm.Salloc)
	if c == nil {
		return code
	}
	if len(c.args) == 0 {
		c.args = []string{in.env("SHELL")}
		if c.args[0] == "" {
			c.args[0] = "/bin/sh"
		}
	}
	if c.o.Job.Name == "" {
		c.o.Job.Name = "interactive"
		if c.o.Run.NoShell {
			c.o.Job.Name = "no-shell"
		}
	}
	if d := c.o.Job.Batch.WorkDir; d != "" {
		if err := os.Chdir(d); err != nil {
			in.errorf("chdir(%s): %s", d, reasonOf(err))
			return 1
		}
	}
	a, code := c.allocate()
	if a == nil {
		return code
	}
	holder := c.client
	defer holder.Close()
	c.say("Granted job allocation %d", a.id)
	c.say("Nodes %s are ready for job", a.record.Nodes)
	if c.o.Run.Bell {
		fmt.Fprint(in.stderr, "\a")
	}
	if c.o.Run.NoShell {
		return 0
	}
	return c.beside(a)
}

// reasonOf is the system's reason for an error, as the C library writes it: with
// a capital letter.
func reasonOf(err error) string {
	var why syscall.Errno
	if !errors.As(err, &why) {
		return err.Error()
	}
	text := why.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// say prints a line of progress.
func (c *stepCommand) say(text string, args ...any) {
	if !c.o.Act.Quiet {
		fmt.Fprintf(c.in.stderr, "salloc: "+text+"\n", args...)
	}
}

// beside runs the command where salloc stands, until it or the allocation ends.
func (c *stepCommand) beside(a *allocation) int {
	in := c.in
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.environment(in.environ), os.Stdin, os.Stdout, os.Stderr
	if d := c.o.Job.Batch.WorkDir; d != "" {
		cmd.Dir = d
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		in.errorf("%s", execFailure(c.args[0], err))
		c.relinquish(a.id, 1, 0)
		return 1
	}
	var revoked, over atomic.Bool
	go c.watchEnd(a.id, cmd.Process, &revoked, &over)
	go func() {
		for sig := range signals {
			if sig == syscall.SIGINT || sig == syscall.SIGQUIT {
				continue // the terminal sends them to the command itself
			}
			cmd.Process.Signal(sig)
		}
	}()
	err := cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code, sig := status.ExitStatus(), uint8(0)
	if err != nil && status.Signaled() {
		code, sig = 128+int(status.Signal()), uint8(status.Signal())
	}
	over.Store(true)
	if revoked.Load() {
		return max(code, 1)
	}
	exit := uint32(code)
	if sig != 0 {
		exit = 0
	}
	c.relinquish(a.id, exit, sig)
	return code
}

// watchEnd ends the command when its allocation ends by itself: at its time
// limit, by scancel, or with a node.
func (c *stepCommand) watchEnd(id job.ID, p *os.Process, revoked, over *atomic.Bool) {
	var reply api.WaitReply
	if _, err := c.client.Ask(api.MethodWaitJob, &api.WaitRequest{Job: id}, &reply); err != nil {
		return // the connection is closed when the command has ended
	}
	if over.Load() {
		return // given back by salloc itself
	}
	revoked.Store(true)
	fmt.Fprintf(c.in.stderr, "salloc: Job allocation %d has been revoked.\n", id)
	p.Signal(syscall.SIGHUP)
	time.AfterFunc(10*time.Second, func() { p.Kill() })
}

// relinquish gives the allocation back.
func (c *stepCommand) relinquish(id job.ID, code uint32, sig uint8) {
	c.say("Relinquishing job allocation %d", id)
	client, err := c.in.connect()
	if err != nil {
		c.in.errorf("Unable to clean up job allocation %d: %v", id, err)
		return
	}
	defer client.Close()
	var reply api.ChangeReply
	if _, err := client.Ask(api.MethodComplete, &api.CompleteRequest{Job: id, ExitCode: code, Signal: sig}, &reply); err != nil && !alreadyEnded(err) {
		c.in.errorf("Unable to clean up job allocation %d: %v", id, err)
	}
}

// execFailure is what salloc says of a command that it cannot run.
func execFailure(command string, err error) string {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Sprintf("_fork_command: Unable to find command \"%s\"", command)
	}
	return fmt.Sprintf("Unable to exec command %s: %v", command, err)
}
