package main

import (
	"errors"
	"fmt"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/internal/wire"
	"muster/job"
)

// lookupListing finds a command that only reads; nil if there is none.
func lookupListing(name string) func(*invocation) int {
	switch name {
	case "squeue":
		return squeue
	case "sinfo":
		return sinfo
	case "sacct":
		return sacct
	case "sdiag":
		return sdiag
	case "sprio":
		return sprio
	case "sshare":
		return sshare
	case "sacctmgr":
		return sacctmgr
	case "sreport":
		return sreport
	}
	return nil
}

// options reads a command line by a table of options. It prints what is wrong, or
// which option the table refuses, and
// returns the exit code; ok is false then.
func (in *invocation) options(flags []slurm.Flag, code int) (given []slurm.Given, rest []string, ok bool, exit int) {
	given, rest, err := slurm.Getopt(in.args, flags, false)
	if err != nil {
		fmt.Fprintf(in.stderr, "%s: %v\nTry \"%s --help\" for more information\n", in.name, err, in.name)
		return nil, nil, false, code
	}
	for i := range given {
		if f := given[i].Flag; f.Refuse != "" {
			in.errorf("Option --%s is not supported: %s", f.Name, f.Refuse)
			return nil, nil, false, 1
		}
	}
	return given, rest, true, 0
}

// What options that several commands have differ in.
const (
	oneCluster = "without effect: there is one cluster"
	wordy      = "taken, and no more is said"
)

// env is the value of a variable, "" if it is not set.
func (in *invocation) env(name string) string {
	s, _ := in.getenv(name)
	return s
}

// loadFailed prints the error of a call as Slurm's commands do, and returns the
// exit code. what is the part that Slurm names in it, such as slurm_load_jobs.
func (in *invocation) loadFailed(what string, err error) int {
	var refused *api.Error
	var none *api.NoAgentError
	switch {
	case errors.As(err, &none):
		fmt.Fprintf(in.stderr, "%s error: Unable to contact slurm controller (connect failure)\n%s: %v\n", what, in.name, none)
	case errors.As(err, &refused):
		fmt.Fprintf(in.stderr, "%s error: %s\n", what, refused.Text)
		if refused.Hint != "" {
			fmt.Fprintf(in.stderr, "%s: %s\n", in.name, refused.Hint)
		}
	default:
		fmt.Fprintf(in.stderr, "%s error: Unable to contact slurm controller (connect failure)\n%s: %v\n", what, in.name, err)
	}
	return 1
}

// context makes what texts depend on besides the record.
func (in *invocation) context(now job.Time, cluster string, keepUnits bool) *format.Context {
	times, err := slurm.NewTimeFormat(in.env(slurm.TimeFormatVariable), in.now())
	if err != nil {
		in.errorf("%v", err)
	}
	x := &format.Context{Now: now, Times: times, Unit: slurm.Exact, Cluster: cluster}
	if keepUnits {
		x.Unit = slurm.Keep
	}
	return x
}

// unknownFields prints a line for each field that a format names and that does
// not exist, as Slurm does; the listing goes on.
func (in *invocation) unknownFields(kind string, names []string) {
	for _, n := range names {
		in.errorf("Invalid %s format specification: %s", kind, n)
	}
}

// words splits a list at commas; empty parts are left out.
func words(list string) []string {
	var out []string
	for w := range strings.SplitSeq(list, ",") {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// read makes a reading call and gathers the whole answer. It asks for one that
// includes all that was acknowledged to anybody: users expect to see at once what
// a colleague or an admin has just changed, which a follower may not know yet.
func read(c *api.Client, method string, query, reply wire.Message) error {
	chunks, _, err := c.All(&api.Call{Method: method, Body: wire.Encode(nil, query), Read: api.ReadLinearizable})
	if err != nil {
		return err
	}
	if list, ok := reply.(*api.JobList); ok {
		list.Grow(len(chunks))
	}
	for _, b := range chunks {
		if err := wire.Decode(b, reply); err != nil {
			return fmt.Errorf("answer to %s: %w", method, err)
		}
	}
	return nil
}
