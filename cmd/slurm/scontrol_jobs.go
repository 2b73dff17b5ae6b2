package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// jobVerb makes a command that acts on jobs: hold, release, requeue, suspend, …
func jobVerb(name string) func(*invocation, *scontrolOptions, []string) int {
	return func(in *invocation, o *scontrolOptions, words []string) int {
		request := &api.ControlRequest{Verb: name}
		for _, w := range words {
			if state, ok := cutFold(w, "state="); ok && name == "requeuehold" {
				if !strings.EqualFold(state, "SpecialExit") {
					fmt.Fprintf(in.stderr, "invalid state: %s, use State=SpecialExit\n", state)
					return 1
				}
				request.Special = true
				continue
			}
			if ids, ok := jobsByName(name, w); ok {
				request.Jobs = append(request.Jobs, ids)
				continue
			}
			ids, ok := scontrolJobs(w)
			if !ok {
				code := in.noSuchJobs(o, []string{w})
				if holds(name) && !o.quiet {
					fmt.Fprintf(in.stderr, "slurm_suspend error:%s\n", slurm.TextNoSuchJob)
				}
				return code
			}
			request.Jobs = append(request.Jobs, ids...)
		}
		var reply api.ChangeReply
		if code := in.change(o, api.MethodControlJob, request, &reply); code != 0 {
			return code
		}
		code := in.reportFailures(o, &reply)
		if code != 0 && holds(name) && !o.quiet {
			if last := reply.Failures[len(reply.Failures)-1]; !last.Listed {
				fmt.Fprintf(in.stderr, "slurm_suspend error:%s\n", last.Text)
			}
		}
		return code
	}
}

// holds tells whether a command holds or releases jobs.
func holds(verb string) bool { return verb == "hold" || verb == "uhold" || verb == "release" }

// jobsByName reads name=NAME and jobname=NAME, which hold and release take.
func jobsByName(verb, word string) (string, bool) {
	for _, prefix := range []string{"name=", "jobname="} {
		if name, ok := cutFold(word, prefix); ok && holds(verb) {
			return "name=" + name, true
		}
	}
	return "", false
}

// cutFold is strings.CutPrefix without regard to case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// scontrolJobs reads a word that names jobs: 12,13_[1-3] or jobid=12.
func scontrolJobs(word string) ([]string, bool) {
	for _, prefix := range []string{"jobid=", "job="} {
		if rest, ok := cutFold(word, prefix); ok {
			word = rest
		}
	}
	if word == "" {
		return nil, false
	}
	return splitJobs(word)
}

// noSuchJobs prints what scontrol says of names that are no jobs.
func (in *invocation) noSuchJobs(o *scontrolOptions, names []string) int {
	if !o.quiet {
		for _, n := range names {
			fmt.Fprintf(in.stderr, "%s for job %s\n", slurm.TextNoSuchJob, n)
		}
	}
	return 1
}

// change makes a call that changes something; an error of the whole call is
// printed.
func (in *invocation) change(o *scontrolOptions, method string, request message, reply message) int {
	return in.changeSaying("", method, request, reply)
}

// changeSaying is change with words before the cluster's error.
func (in *invocation) changeSaying(prefix, method string, request message, reply message) int {
	client, err := in.connect()
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer client.Close()
	if _, err := client.Ask(method, request, reply); err != nil {
		var e *api.Error
		if !errors.As(err, &e) {
			in.errorf("%v", err)
			return 1
		}
		fmt.Fprintln(in.stderr, prefix+e.Text)
		if e.Hint != "" {
			fmt.Fprintf(in.stderr, "scontrol: %s\n", e.Hint)
		}
		return 1
	}
	return 0
}

// reportFailures prints which targets were not changed.
func (in *invocation) reportFailures(o *scontrolOptions, reply *api.ChangeReply) int {
	if reply.Output != "" {
		fmt.Fprintln(in.stdout, reply.Output)
	}
	if len(reply.Failures) == 0 {
		return 0
	}
	if !o.quiet {
		for _, f := range reply.Failures {
			switch {
			case f.Own:
				in.errorf("%s", f.Text)
			case f.Listed:
				fmt.Fprintf(in.stderr, "%s: %s\n", f.Target, f.Text)
			case f.Target == "":
				fmt.Fprintln(in.stderr, f.Text)
			default:
				fmt.Fprintf(in.stderr, "%s for job %s\n", f.Text, f.Target)
			}
		}
	}
	return 1
}

// scontrolWaitJob waits until the nodes of a job can be used: until it runs. It
// fails if the job is over by then.
func scontrolWaitJob(in *invocation, _ *scontrolOptions, words []string) int {
	ids, ok := scontrolJobs(words[0])
	if !ok || len(ids) != 1 {
		in.errorf("Invalid job id: %s", words[0])
		return 1
	}
	name, err := slurm.ParseJobName(ids[0])
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	client, err := in.connect()
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer client.Close()
	var found api.WaitReply
	if _, err := client.Ask(api.MethodWaitJob, &api.WaitRequest{Job: name.ID, Start: true}, &found); err != nil {
		in.errorf("%v", err)
		return 1
	}
	if !found.Known {
		fmt.Fprintf(in.stderr, "scontrol: Problem running job %d\n", name.ID)
		return 1
	}
	if found.State != job.Running {
		fmt.Fprintf(in.stderr, "scontrol: Job %d no longer running\n", name.ID)
		return 1
	}
	return 0
}

// scontrolWrite is write batch_script ID [FILE]: the script as it was submitted.
func scontrolWrite(in *invocation, o *scontrolOptions, words []string) int {
	if !abbreviates(words[0], "batch_script", 1) {
		fmt.Fprintf(in.stderr, "invalid write argument:%s\n", words[0])
		return 1
	}
	if len(words) < 2 {
		fmt.Fprintln(in.stderr, "too few arguments for keyword:write")
		return 1
	}
	refs, err := slurm.ParseJobRefs(words[1])
	if err != nil || len(refs) == 0 {
		return in.noSuchJobs(o, words[1:2])
	}
	var reply api.ScriptReply
	client, err := in.connect()
	if err != nil {
		return in.loadFailed("slurm_job_batch_script", err)
	}
	defer client.Close()
	if err := read(client, api.MethodScript, &api.ScriptRequest{Job: refs[0]}, &reply); err != nil {
		fmt.Fprintf(in.stderr, "job script retrieval failed: %s\n", callText(err))
		return 0 // as in Slurm
	}
	file := fmt.Sprintf("slurm-%s.sh", words[1])
	if len(words) > 2 {
		file = words[2]
	}
	if file == "-" {
		in.stdout.Write(reply.Data) // an error shows when main flushes
		if len(reply.Data) > 0 && reply.Data[len(reply.Data)-1] != '\n' {
			fmt.Fprintln(in.stdout)
		}
		return 0
	}
	if err := os.WriteFile(file, reply.Data, 0o700); err != nil {
		fmt.Fprintf(in.stderr, "failed to open file `%s`: %v\n", file, err)
		return 1
	}
	fmt.Fprintf(in.stdout, "batch script for job %s written to %s\n", words[1], file)
	return 0
}

// abbreviates tells whether word is name, cut to min bytes or more.
func abbreviates(word, name string, min int) bool {
	return len(word) >= min && len(word) <= len(name) && strings.EqualFold(word, name[:len(word)])
}
