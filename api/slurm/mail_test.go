package slurm

import (
	"testing"

	"muster/job"
)

// The subjects that Slurm 26.05 writes.
func TestMailSubject(t *testing.T) {
	plain := job.MailEvent{Job: 7, Task: job.NoTask, Name: "sim"}
	with := func(f func(*job.MailEvent)) job.MailEvent {
		e := plain
		f(&e)
		return e
	}
	array := func(e *job.MailEvent) { e.Array, e.Summary = 7, true }
	for want, e := range map[string]job.MailEvent{
		"Slurm Job_id=7 Name=sim Began, Queued time 00:01:05": with(func(e *job.MailEvent) { e.Event, e.Timed, e.Seconds = job.MailBegin, true, 65 }),
		"Slurm Job_id=7 Name=sim Ended, Run time 1-00:00:01, COMPLETED, ExitCode 0": with(func(e *job.MailEvent) {
			e.Event, e.Timed, e.Seconds, e.State = job.MailEnd, true, 86401, job.Completed
		}),
		"Slurm Job_id=7 Name=sim Failed, Run time 00:00:02, FAILED, ExitCode 3": with(func(e *job.MailEvent) {
			e.Event, e.Timed, e.Seconds, e.State, e.Low, e.High = job.MailFail, true, 2, job.Failed, 768, 768
		}),
		"Slurm Job_id=7 Name=sim Failed, Run time 00:00:02, OUT_OF_MEMORY": with(func(e *job.MailEvent) {
			e.Event, e.Timed, e.Seconds, e.State, e.Low, e.High = job.MailFail, true, 2, job.OutOfMemory, 125, 125
		}),
		"Slurm Job_id=7 Name=sim Ended, CANCELLED, ExitCode 0":                         with(func(e *job.MailEvent) { e.Event, e.State = job.MailEnd, job.Cancelled }),
		"Slurm Job_id=7 Name=sim Requeued, Run time 00:00:00":                          with(func(e *job.MailEvent) { e.Event, e.Timed = job.MailRequeue, true }),
		"Slurm Job_id=7 Name=sim Invalid dependency":                                   with(func(e *job.MailEvent) { e.Event = job.MailInvalidDepend }),
		"Slurm Job_id=7 Name=sim Reached time limit, Run time 00:10:00":                with(func(e *job.MailEvent) { e.Event, e.Timed, e.Seconds = job.MailTimeLimit, true, 600 }),
		"Slurm Job_id=7 Name=sim Reached 80% of time limit, Run time 00:08:00":         with(func(e *job.MailEvent) { e.Event, e.Timed, e.Seconds = job.MailTimeLimit80, true, 480 }),
		"Slurm Job_id=7 Name=a?b?c Invalid dependency":                                 with(func(e *job.MailEvent) { e.Event, e.Name = job.MailInvalidDepend, "a\nb\x7fc" }),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Began":                            with(func(e *job.MailEvent) { array(e); e.Event, e.Timed = job.MailBegin, true }),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Ended, COMPLETED, ExitCode [0-0]": with(func(e *job.MailEvent) { array(e); e.Event, e.State = job.MailEnd, job.Completed }),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Failed, Mixed, ExitCode [0-2], with requeued tasks": with(func(e *job.MailEvent) {
			array(e)
			e.Event, e.State, e.High, e.Requeued = job.MailFail, job.Completed, 512, true
		}),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Failed, FAILED, ExitCode [1-2]": with(func(e *job.MailEvent) {
			array(e)
			e.Event, e.State, e.Low, e.High = job.MailFail, job.Failed, 256, 512
		}),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Ended, Mixed, MaxSignal [9]":    with(func(e *job.MailEvent) { array(e); e.Event, e.High = job.MailEnd, 9 }),
		"Slurm Array Summary Job_id=7_* (7) Name=sim Failed, Mixed, MaxExitCode [1]": with(func(e *job.MailEvent) { array(e); e.Event, e.Low, e.High = job.MailFail, 9, 256 }),
		"Slurm Array Task Job_id=5_3 (7) Name=sim Ended, Run time 00:00:04, COMPLETED, ExitCode 0": with(func(e *job.MailEvent) {
			e.Array, e.Task, e.Event, e.Timed, e.Seconds, e.State = 5, 3, job.MailEnd, true, 4, job.Completed
		}),
		"Slurm Job_id=7 Name=sim Ended, CANCELLED, ExitCode 9": with(func(e *job.MailEvent) { // what is left of an array with mails for each task
			e.Array, e.Event, e.State, e.High = 7, job.MailEnd, job.Cancelled, 9*256
		}),
	} {
		if got := MailSubject(&e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestValidMailUser(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "anna": true, "anna@example.org": true, "anna,bert@example.org": true,
		"-S": false, "-f/etc/passwd": false, "anna bert": false, "anna\n": false, "a\x00b": false,
	} {
		if ValidMailUser(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
