package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/wire"
)

// sbcastScript puts standard input into a file, first under another name, so
// that nobody sees half of it. Its arguments are name, whether a file may be
// replaced, mode, time of change (or nothing), and the name in a directory.
const sbcastScript = `set -e
to=$1
if [ -d "$to" ]; then to="$to/$5"; fi
if [ "$2" != force ] && [ -e "$to" ]; then echo "sbcast: error: $to: File exists" >&2; exit 1; fi
part="$to.sbcast.$$"
trap 'rm -f "$part"' EXIT
(umask 077; cat >"$part")
chmod "$3" "$part"
if [ -n "$4" ]; then touch -d "@$4" "$part"; fi
mv -f "$part" "$to"
trap - EXIT`

func sbcastFlags() []slurm.Flag {
	const r, n, o = slurm.RequiredArg, slurm.NoArg, slurm.OptionalArg
	return []slurm.Flag{
		{Name: "compress", Short: 'C', Arg: o, Refuse: "the file is sent as it is"}, {Name: "exclude", Arg: r, Refuse: "libraries are not sent"}, {Name: "fanout", Short: 'F', Arg: r, Note: "without effect: the file goes to all nodes at once"}, {Name: "treewidth", Arg: r, Note: "as --fanout"}, {Name: "no-allocation", Short: 'Z', Arg: o, Refuse: "files are sent within a job"}, {Name: "nodelist", Short: 'w', Arg: o, Refuse: "the file is sent to all nodes of the job"}, {Name: "force", Short: 'f', Arg: n},
		{Name: "help", Arg: n}, {Name: "jobid", Short: 'j', Arg: r}, {Name: "preserve", Short: 'p', Arg: n}, {Name: "size", Short: 's', Arg: r, Note: "without effect: blocks have their own size"},
		{Name: "send-libs", Arg: o, Refuse: "libraries are not sent; send each with sbcast"}, {Name: "timeout", Short: 't', Arg: r, Note: "without effect: a lost node is known by its connection"}, {Name: "usage", Arg: n}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy},
		{Name: "version", Short: 'V', Arg: n},
	}
}

// sbcast copies a file to all nodes of an allocation: sbcast(1). It goes the way
// of srun's input.
func sbcast(in *invocation) int {
	given, rest, ok, code := in.options(sbcastFlags(), 1)
	if !ok {
		return code
	}
	c := &stepCommand{in: in, o: slurm.NewOptions(&slurm.Input{Program: slurm.Srun, Now: in.now(), Dir: in.dir, UID: in.uid})}
	keep, preserve := "keep", false
	for _, g := range given {
		switch g.Flag.Name {
		case "force":
			keep = "force"
		case "preserve":
			preserve = true
		case "jobid":
			c.o.Run.JobID = g.Value
		case "help", "usage":
			printFlags(in, "sbcast [-fjpv] SOURCE DEST", sbcastFlags())
			return 0
		case "version":
			return printVersion(in)
		}
	}
	if len(rest) != 2 {
		in.errorf("Need two file names, have %d names", len(rest))
		return 1
	}
	id, err := c.currentJob()
	if err == nil && id == 0 {
		err = fmt.Errorf("Command only valid from within SLURM job")
	}
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	f, err := os.Open(rest[0])
	if err != nil {
		in.errorf("Can't open `%s`: %v", rest[0], err)
		return 1
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		in.errorf("Can't copy `%s`: it is no regular file", rest[0])
		return 1
	}
	mode, stamp := st.Mode().Perm(), ""
	if preserve {
		stamp = strconv.FormatInt(st.ModTime().Unix(), 10)
	} else {
		mode &= 0o700 | 0o077&^os.FileMode(umask())
	}
	c.args = []string{"/bin/sh", "-c", sbcastScript, "sbcast", rest[1], keep, fmt.Sprintf("%04o", mode), stamp, filepath.Base(rest[0])}
	in.stdin = f
	request := &api.StepRequest{Job: id, Name: "sbcast", TasksPerNode: 1, Relative: -1, Overlap: true, Hidden: true}
	return c.runHidden(request)
}

// runHidden runs a step that is no step of the job's own.
func (c *stepCommand) runHidden(request *api.StepRequest) int {
	in := c.in
	if err := c.connect(); err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer c.client.Close()
	s := &stepIO{c: c, start: &api.StepStart{Programs: []api.Program{{Args: c.args}}}, grant: &api.Grant{}}
	if _, err := c.client.Ask(api.MethodStep, request, &s.start.StepReply); err != nil {
		in.errorf("%s", strings.TrimSpace(err.Error()))
		return 1
	}
	err := wire.Decode(s.start.Grant, s.grant)
	if err == nil {
		err = s.prepare(in.environ)
	}
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	return s.run()
}
