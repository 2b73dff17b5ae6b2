package main

import (
	"fmt"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/wire"
)

// allTasks is why sattach has no filters.
const allTasks = "the output of all tasks is shown"

func sattachFlags() []slurm.Flag {
	const r, n = slurm.RequiredArg, slurm.NoArg
	return []slurm.Flag{
		{Name: "error-filter", Arg: r, Refuse: allTasks}, {Name: "help", Short: 'h', Arg: n}, {Name: "input-filter", Arg: r, Refuse: "the input of a step stays with its srun"}, {Name: "label", Short: 'l', Arg: n},
		{Name: "layout", Arg: n, Refuse: "use scontrol show step"}, {Name: "output-filter", Arg: r, Refuse: allTasks}, {Name: "pty", Arg: n, Refuse: "a terminal belongs to one srun"}, {Name: "quiet", Short: 'Q', Arg: n},
		{Name: "usage", Short: 'u', Arg: n}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy}, {Name: "version", Short: 'V', Arg: n},
	}
}

// sattach shows the output of a running step from now on: sattach(1). The step's
// input stays that of its srun.
func sattach(in *invocation) int {
	given, rest, ok, code := in.options(sattachFlags(), 1)
	if !ok {
		return code
	}
	c := &stepCommand{in: in, o: slurm.NewOptions(&slurm.Input{Program: slurm.Srun, Now: in.now(), Dir: in.dir, UID: in.uid})}
	for _, g := range given {
		switch g.Flag.Name {
		case "label":
			c.o.Run.Label = true
		case "help", "usage":
			printFlags(in, "sattach [options] <jobid.stepid>", sattachFlags())
			return 0
		case "version":
			return printVersion(in)
		}
	}
	if len(rest) != 1 {
		in.errorf("No job step number specified: sattach [options] <jobid.stepid>")
		return 1
	}
	refs, err := slurm.ParseJobRefs(rest[0])
	if err != nil || len(refs) != 1 || !refs[0].HasStep {
		code, _ := in.fatal("Bad job/step specified: %s", rest[0])
		return code
	}
	if err := c.connect(); err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer c.client.Close()
	s := &stepIO{c: c, start: &api.StepStart{Programs: []api.Program{{Args: []string{"sattach"}}}}, grant: &api.Grant{}}
	request := &api.StepRequest{Job: refs[0].ID, Attach: true, Step: refs[0].Step}
	if _, err := c.client.Ask(api.MethodStep, request, &s.start.StepReply); err != nil {
		in.errorf("Could not get job step info: %v", err)
		return 1
	}
	if err = wire.Decode(s.start.Grant, s.grant); err == nil {
		err = s.prepare(nil)
	}
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	s.start.Stdin, s.start.Env = "/dev/null", nil
	code = s.run()
	if s.ended < s.grant.Tasks {
		fmt.Fprintf(in.stderr, "sattach: the step has ended, or this end of it is lost: %d of %d tasks were seen to end\n", s.ended, s.grant.Tasks)
	}
	return code
}
