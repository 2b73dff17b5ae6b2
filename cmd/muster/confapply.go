package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"muster/api"
)

// liveConfCommands are those that speak with a running cluster.
func liveConfCommands() []*cli.Command {
	force := &cli.BoolFlag{Name: "force", Usage: "end running jobs that have no place in it"}
	return []*cli.Command{
		{
			Name:      "diff",
			Usage:     "show what a cluster file would change in the running cluster, and what would follow",
			UsageText: "muster conf diff FILE",
			Action:    confDiff,
		},
		{
			Name:      "apply",
			Usage:     "make a cluster file the configuration of the running cluster",
			UsageText: "muster conf apply [--force] FILE",
			Flags:     []cli.Flag{force},
			Action:    confApply,
		},
		{
			Name:      "undo",
			Usage:     "go back to the configuration before the one in force, or to an earlier one",
			UsageText: "muster conf undo [--to NUMBER] [--force]",
			Flags:     []cli.Flag{force, &cli.Uint64Flag{Name: "to", Usage: "number of the one to go back to, as muster conf history lists it"}},
			Action:    confUndo,
		},
		{
			Name:      "history",
			Usage:     "list the configurations so far and the nodes that are behind, or print the text of one",
			UsageText: "muster conf history [NUMBER]",
			Action:    confHistory,
		},
	}
}

func confDiff(c *cli.Context) error {
	request, err := fileRequest(c)
	if err != nil {
		return err
	}
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	var reply api.ConfigureReply
	if _, err := client.Ask(api.MethodConfigure, request, &reply); err != nil {
		return err
	}
	return writePreview(c.App.Writer, &reply)
}

func confApply(c *cli.Context) error {
	request, err := fileRequest(c)
	if err != nil {
		return err
	}
	return apply(c, request)
}

func confUndo(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	return apply(c, &api.ConfigureRequest{Undo: c.Uint64("to"), Before: !c.IsSet("to")})
}

// fileRequest reads the file that is the one argument.
func fileRequest(c *cli.Context) (*api.ConfigureRequest, error) {
	if err := arguments(c, 1, 1, "the cluster file"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(c.Args().First())
	if err != nil {
		return nil, fmt.Errorf("cluster file: %w", err)
	}
	return &api.ConfigureRequest{Name: c.Args().First(), Source: string(text)}, nil
}

// apply shows what a configuration changes and commits it, unless another one has
// become the configuration between the two.
func apply(c *cli.Context, request *api.ConfigureRequest) error {
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	var shown, done api.ConfigureReply
	if _, err := client.Ask(api.MethodConfigure, request, &shown); err != nil {
		return err
	}
	if err := writePreview(c.App.Writer, &shown); err != nil || shown.Same {
		return err
	}
	if len(shown.Ends) > 0 && !c.Bool("force") {
		return errors.New("the configuration stays: running jobs or reservations have no place in the new one; let them end, or say --force")
	}
	request.Commit, request.Force, request.Base = true, c.Bool("force"), shown.Serial
	if request.Before { // the same one, though the answer may have to be asked for twice
		request.Undo, request.Before = shown.Undo, false
	}
	if _, err := client.Ask(api.MethodConfigure, request, &done); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "This is the configuration now: number %d. muster conf undo goes back to number %d.\n", done.Serial, shown.Serial)
	return err
}

// writePreview writes a difference and what follows of it for people.
func writePreview(out io.Writer, r *api.ConfigureReply) error {
	p := &lines{out: out}
	for _, w := range r.Warnings {
		p.add("%s", w)
	}
	if r.Same {
		p.add("Nothing is other than in the configuration in force, number %d.", r.Serial)
		return p.err
	}
	for _, c := range r.Changes {
		p.add("%s", c)
	}
	if len(r.Changes) == 0 {
		p.add("It says the same as the configuration in force, number %d, in other words.", r.Serial)
	}
	for i, e := range r.Effects {
		if i == 0 {
			p.add("What follows:")
		}
		p.add("  %s", e)
	}
	for i, e := range r.Ends {
		if i == 0 {
			p.add("Only with --force, since these end:")
		}
		p.add("  %s", e)
	}
	return p.err
}

func confHistory(c *cli.Context) error {
	if err := arguments(c, 0, 1, "the number of a configuration, or none"); err != nil {
		return err
	}
	request := &api.ConfigsRequest{}
	if word := c.Args().First(); word != "" {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is no number of a configuration: want one from 1 on", word)
		}
		request.Serial = n
	}
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	var reply api.ConfigsReply
	if _, err := client.Ask(api.MethodConfigs, request, &reply); err != nil {
		return err
	}
	if request.Serial != 0 {
		_, err := io.WriteString(c.App.Writer, reply.Source)
		return err
	}
	return writeHistory(c.App.Writer, &reply)
}

// writeHistory lists configurations for people, times in the cluster's time zone.
func writeHistory(out io.Writer, r *api.ConfigsReply) error {
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC
	}
	p := &lines{out: out}
	p.add("%6s  %-19s  %-16s %s", "NUMBER", "SINCE", "BY", "WHAT")
	for i, c := range r.Configs {
		what := "a file"
		if c.Undo != 0 {
			what = fmt.Sprintf("number %d again", c.Undo)
		}
		if c.Forced {
			what += ", forced"
		}
		if i == len(r.Configs)-1 {
			what += ", in force"
		}
		by := c.By
		if c.Host != "" && c.Host != c.By {
			by += "@" + c.Host
		}
		p.add("%6d  %s  %-16s %s", c.Serial, c.At.Std().In(zone).Format("2006-01-02T15:04:05"), by, what)
	}
	if r.Behind != "" {
		p.add("Behind, without new jobs until they have it: %s", r.Behind)
	}
	return p.err
}
