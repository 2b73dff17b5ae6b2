package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

func whyCommand() *cli.Command {
	return &cli.Command{
		Name:      "why",
		Usage:     "say what holds a waiting job, who is ahead of it, when it is to start, and what would start it sooner",
		UsageText: "muster why JOB",
		Action:    why,
	}
}

func why(c *cli.Context) error {
	if err := arguments(c, 1, 1, "a job id"); err != nil {
		return err
	}
	refs, err := slurm.ParseJobRefs(c.Args().First())
	if err != nil {
		return err
	}
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	var reply api.WhyReply
	if _, err := client.Ask(api.MethodWhy, &api.WhyRequest{Job: refs[0]}, &reply); err != nil {
		return err
	}
	return writeWhy(c.App.Writer, &reply)
}

// writeWhy writes an explanation for people, times in the cluster's time zone.
func writeWhy(out io.Writer, r *api.WhyReply) error {
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC
	}
	at := func(t job.Time) string { return t.Std().In(zone).Format("2006-01-02T15:04:05") }
	p := &lines{out: out}
	if r.State != job.Pending {
		p.add("Job %s does not wait: it is %s.", r.Job, r.State)
		return p.err
	}
	p.add("Job %s waits. Jobs ahead of it in order: %d.", r.Job, r.Ahead)
	for _, w := range r.Reasons {
		p.add("  %s: %s", w.Reason, w.Detail)
	}
	switch {
	case r.Planned != 0 && r.Nodes != "":
		p.add("It is planned to start at %s on %s.", at(r.Planned), r.Nodes)
	case r.Planned != 0:
		p.add("It is planned to start at %s.", at(r.Planned))
	default:
		p.add("It has no planned start.")
	}
	for _, b := range r.Before {
		p.add("  ahead: job %d takes %d nodes that it could use, from %s", b.Job, b.Nodes, at(b.Start))
	}
	for i, c := range r.Sooner {
		if i == 0 {
			p.add("It would start sooner with one of these:")
		}
		p.add("  %s: at %s", c.What, at(c.Start))
	}
	return p.err
}

// lines writes lines until one fails.
type lines struct {
	out io.Writer
	err error
}

func (l *lines) add(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.out, format+"\n", args...)
	}
}
