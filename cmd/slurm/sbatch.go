package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// maxScript is the longest script that sbatch reads; the cluster's own limit is
// checked by the controller.
const maxScript = 4 << 20

// sbatch submits a batch job: sbatch(1).
func sbatch(in *invocation) int {
	s := &submission{in: in, input: &slurm.Input{
		Program: slurm.Sbatch, Now: in.now(), Dir: in.dir, UID: in.uid, ReadFile: os.ReadFile,
	}}
	if err := s.readCommandLine(); err != nil {
		return s.fail(err)
	}
	switch act := &s.first.Act; {
	case act.Help:
		return printOptions(in, slurm.Sbatch)
	case act.Usage:
		fmt.Fprintln(in.stdout, "Usage: sbatch [OPTIONS...] SCRIPT [ARGS...]\n       sbatch [OPTIONS...] --wrap=COMMAND")
		return 0
	case act.Version:
		return printVersion(in)
	}
	if err := s.readScript(); err != nil {
		return s.fail(err)
	}
	if err := s.readComponents(); err != nil {
		return s.fail(err)
	}
	request, err := s.request()
	if err != nil {
		return s.fail(err)
	}
	return s.submit(request)
}

// submission is one call of sbatch on its way to the controller.
type submission struct {
	in       *invocation
	input    *slurm.Input
	cli      [][]slurm.Given // by component
	args     []string        // script and its arguments
	first    *slurm.Options  // environment and command line alone: what sbatch itself acts on
	script   []byte
	name     string // of the script, for messages
	jobs     []*slurm.Options
	warnings []string
}

// readCommandLine splits the words at ":" into components and reads the options
// of each.
func (s *submission) readCommandLine() error {
	flags := slurm.Flags(slurm.Sbatch)
	rest := s.in.args
	s.first = slurm.NewOptions(s.input)
	for {
		given, left, err := slurm.Getopt(rest, flags, true)
		if err != nil {
			return err
		}
		s.cli = append(s.cli, given)
		if len(left) == 0 || left[0] != ":" {
			s.args = slices.Clone(left) // the command line itself is recorded as it was typed
			break
		}
		rest = left[1:]
	}
	for _, given := range s.cli {
		for _, g := range given {
			switch g.Flag.Name {
			case "help", "usage", "version", "wrap", "quiet", "verbose", "ignore-pbs", "parsable":
				if err := s.first.Apply([]slurm.Given{g}, slurm.FromCommandLine); err != nil {
					return err
				}
			}
		}
	}
	if v, ok := s.in.getenv("SBATCH_IGNORE_PBS"); ok && v != "0" {
		s.first.Act.IgnorePBS = true
	}
	if s.first.Act.Wrapped && len(s.args) > 0 {
		return &slurm.OptionError{Text: "Script arguments not permitted with --wrap option", Code: 1}
	}
	return nil
}

// readScript reads the script from its file, from --wrap or from stdin.
func (s *submission) readScript() error {
	switch {
	case s.first.Act.Wrapped:
		s.name = "wrap"
		s.script = []byte("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + s.first.Act.Wrap + "\n")
		return nil
	case len(s.args) == 0:
		s.name = "stdin"
		data, err := readBounded(s.in.stdin, "Script from STDIN")
		if err != nil {
			return err
		}
		s.script = data
	default:
		path := s.findScript(s.args[0])
		s.name = filepath.Base(path)
		f, err := os.Open(path)
		if err != nil {
			return &slurm.ScriptError{Lines: []string{"Unable to open file " + s.args[0]}, Code: 1}
		}
		defer f.Close()
		data, err := readBounded(f, "Script "+s.args[0])
		if err != nil {
			return err
		}
		s.script = data
		s.args[0] = s.recordedName(s.args[0], path)
	}
	return slurm.CheckScript(s.script)
}

// recordedName is the name of the script that the job's record shows: with its
// directory, which is that of --chdir if the command line has one, as typed if
// it is not there.
func (s *submission) recordedName(name, path string) string {
	if filepath.IsAbs(name) || !strings.Contains(name, "/") && !readable(filepath.Join(s.in.dir, name)) {
		return path
	}
	dir := s.in.dir
	for _, g := range s.cli[0] {
		if g.Flag.Name == "chdir" {
			dir = g.Value
			if !filepath.IsAbs(dir) {
				dir = s.in.dir + "/" + dir
			}
		}
	}
	if full := dir + "/" + name; readable(full) {
		return full
	}
	return name
}

// findScript looks for a script named without a slash in the working directory,
// then in PATH.
func (s *submission) findScript(name string) string {
	local := name
	if !filepath.IsAbs(name) {
		local = filepath.Join(s.in.dir, name)
	}
	if strings.Contains(name, "/") || readable(local) {
		return local
	}
	path, _ := s.in.getenv("PATH")
	for dir := range strings.SplitSeq(path, ":") {
		if p := filepath.Join(dir, name); dir != "" && readable(p) {
			return p
		}
	}
	return local
}

// readable tells whether a plain file can be read by this user.
func readable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && syscall.Access(path, 4) == nil
}

func readBounded(r io.Reader, what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", strings.ToLower(what[:1])+what[1:], err)
	case len(data) > maxScript:
		return nil, &slurm.ScriptError{Lines: []string{fmt.Sprintf("%s is too big: more than %d bytes.", what, maxScript)}, Code: 1}
	}
	return data, nil
}

// readComponents sets the options of every component: directives, then
// environment, then command line. Options that are not reset for each component
// are taken over by the later ones.
func (s *submission) readComponents() error {
	directives := &slurm.Directives{Components: [][]slurm.Given{nil}}
	if !s.first.Act.Wrapped {
		d, err := slurm.ReadDirectives(s.script, s.name, s.first.Act.IgnorePBS)
		if err != nil {
			return err
		}
		directives = d
	}
	s.warnings = append(s.warnings, directives.Warnings...)
	for i := range max(len(directives.Components), len(s.cli)) {
		o := slurm.NewOptions(s.input)
		err := s.component(o, directives.Components, i)
		s.warnings = append(s.warnings, o.Warnings...)
		if err != nil {
			return err
		}
		s.jobs = append(s.jobs, o)
	}
	return nil
}

// component sets and checks the options of component n.
func (s *submission) component(o *slurm.Options, directives [][]slurm.Given, n int) error {
	if err := s.applyAll(o, directives, n, slurm.FromDirective); err != nil {
		return err
	}
	if err := o.ApplyEnvironment(s.in.getenv); err != nil {
		return err
	}
	if err := s.applyAll(o, s.cli, n, slurm.FromCommandLine); err != nil {
		return err
	}
	return o.Finish()
}

// applyAll sets the options of component n after what it takes over.
func (s *submission) applyAll(o *slurm.Options, components [][]slurm.Given, n int, from slurm.Source) error {
	for i, given := range components {
		if i > n {
			break
		}
		if i < n {
			given = slurm.Sticky(given)
		}
		if err := o.Apply(given, from); err != nil {
			return err
		}
	}
	return nil
}

// warn prints what was noticed on the way, with quiet only what Slurm calls an
// error.
func (s *submission) warn(quiet bool) {
	for _, w := range s.warnings {
		if !quiet || strings.HasPrefix(w, "error: ") {
			fmt.Fprintf(s.in.stderr, "%s: %s\n", s.in.name, w)
		}
	}
	s.warnings = nil
}

// fail prints an error as Slurm does and returns its exit code.
func (s *submission) fail(err error) int {
	s.warn(s.first != nil && s.first.Act.Quiet)
	var usage *slurm.UsageError
	var script *slurm.ScriptError
	var option *slurm.OptionError
	var help *slurm.HelpError
	switch {
	case errors.As(err, &help):
		s.in.stdout.WriteString(help.Text)
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(s.in.stderr, "%s: %s\nTry \"%s --help\" for more information\n", s.in.name, usage.Text, s.in.name)
		return 255
	case errors.As(err, &script):
		for _, line := range script.Lines {
			s.in.errorf("%s", line)
		}
		return script.Code
	case errors.As(err, &option):
		if option.Before != "" {
			fmt.Fprintln(s.in.stderr, option.Before)
		}
		if option.Explain != "" {
			s.in.errorf("%s", option.Explain)
		}
		if option.Fatal {
			fmt.Fprintf(s.in.stderr, "%s: fatal: %s\n", s.in.name, option.Text)
		} else {
			s.in.errorf("%s", option.Text)
		}
		if option.Hint != "" {
			fmt.Fprintf(s.in.stderr, "%s: %s\n", s.in.name, option.Hint)
		}
		return option.Code
	}
	s.in.errorf("%v", err)
	return 1
}

// submit sends the request and prints the answer.
func (s *submission) submit(request *api.SubmitRequest) int {
	in, act := s.in, s.jobs[0].Act
	quiet := s.first.Act.Quiet || act.Quiet
	s.warn(quiet)
	client, err := in.connect()
	if err != nil {
		in.errorf("Batch job submission failed: %v", err)
		return 1
	}
	defer client.Close()
	var reply api.SubmitReply
	if _, err := client.Ask(api.MethodSubmit, request, &reply); err != nil {
		return s.refused(err, request.TestOnly)
	}
	if !quiet {
		for _, m := range reply.Messages {
			fmt.Fprintf(in.stderr, "%s: %s\n", in.name, m)
		}
	}
	if request.TestOnly {
		if !quiet {
			s.couldStart(request, &reply)
		}
		return 0
	}
	if len(reply.Jobs) == 0 {
		in.errorf("Batch job submission failed: the controller gave no job id")
		return 1
	}
	s.report(&reply, quiet)
	if act.Wait {
		in.stdout.Flush()
		return waitForJob(in, client, reply.Jobs[0])
	}
	return 0
}

// couldStart prints the answer to --test-only.
func (s *submission) couldStart(request *api.SubmitRequest, reply *api.SubmitReply) {
	t := reply.Test
	where := ""
	if request.Jobs[0].Request.Cluster != "" {
		where = "on cluster " + reply.Cluster + " "
	}
	fmt.Fprintf(s.in.stderr, "%s: Job %d to start at %s %sa using %d processors on nodes %s in partition %s\n", s.in.name, t.Job,
		t.Start.Std().In(s.in.now().Location()).Format("2006-01-02T15:04:05"), where, t.CPUs, t.Nodes, t.Partition)
}

// report prints the id of the new job.
func (s *submission) report(reply *api.SubmitReply, quiet bool) {
	cluster := ""
	if s.jobs[0].Job.Cluster != "" {
		cluster = reply.Cluster
	}
	switch {
	case quiet:
	case s.jobs[0].Act.Parsable && cluster != "":
		fmt.Fprintf(s.in.stdout, "%d;%s\n", reply.Jobs[0], cluster)
	case s.jobs[0].Act.Parsable:
		fmt.Fprintf(s.in.stdout, "%d\n", reply.Jobs[0])
	case cluster != "":
		fmt.Fprintf(s.in.stdout, "Submitted batch job %d on cluster %s\n", reply.Jobs[0], cluster)
	default:
		fmt.Fprintf(s.in.stdout, "Submitted batch job %d\n", reply.Jobs[0])
	}
}

// refused prints why the cluster did not take the job. All lines of the text but
// the last explain; the last is Slurm's message.
func (s *submission) refused(err error, testOnly bool) int {
	var e *api.Error
	if !errors.As(err, &e) {
		s.in.errorf("Batch job submission failed: %v", err)
		return 1
	}
	lines := strings.Split(e.Text, "\n")
	last := len(lines) - 1
	if testOnly {
		lines, last = lines[last:], 0
	}
	for _, line := range lines[:last] {
		s.in.errorf("%s", line)
	}
	switch {
	case testOnly:
		fmt.Fprintf(s.in.stderr, "allocation failure: %s\n", lines[last])
	case strings.HasPrefix(lines[last], "Invalid generic resource"), strings.HasPrefix(lines[last], "'"):
		s.in.errorf("%s", lines[last])
	default:
		s.in.errorf("Batch job submission failed: %s", lines[last])
	}
	if e.Hint != "" {
		fmt.Fprintf(s.in.stderr, "%s: %s\n", s.in.name, e.Hint)
	}
	return 1
}

// waitForJob waits for the end of a job; the exit code is the highest of its
// tasks, 1 if one was killed.
func waitForJob(in *invocation, client *api.Client, id job.ID) int {
	var reply api.WaitReply
	if _, err := client.Ask(api.MethodWaitJob, &api.WaitRequest{Job: id}, &reply); err != nil {
		in.errorf("Currently unable to load job state information: %v", err)
		return 1
	}
	if !reply.Known {
		in.errorf("Job %d no longer found and exit code not found", id)
		return 0
	}
	return exitOf(&reply)
}

// exitOf is the exit code of a command that waited for a job: the job's own, 1 if a
// signal ended it.
func exitOf(reply *api.WaitReply) int {
	if reply.Exit == 0 && reply.Signal != 0 {
		return 1
	}
	return int(reply.Exit)
}
