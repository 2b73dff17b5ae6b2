package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"muster/api"
)

func controllersCommand() *cli.Command {
	force := &cli.BoolFlag{Name: "force", Usage: "also where fewer than half of the voters left would answer"}
	wait := &cli.DurationFlag{Name: "wait", Value: 10 * time.Minute, Usage: "how long the new controller may take to start and catch up"}
	return &cli.Command{
		Name:  "controllers",
		Usage: "list, add, remove and replace the controllers of a running cluster, or recover one that lost most of them",
		Subcommands: []*cli.Command{
			{
				Name:      "list",
				Usage:     "list the controllers, who leads, who votes, and how far each is",
				UsageText: "muster controllers list",
				Action:    changeControllers(0, 0, "none", (*membership).list),
			},
			{
				Name:      "add",
				Usage:     "add a controller that is started with --join; it gets a vote when it has caught up",
				UsageText: "muster controllers add [--no-vote] [--wait 10m] NAME HOST:PORT",
				Flags:     []cli.Flag{wait, &cli.BoolFlag{Name: "no-vote", Usage: "it answers reads and counts in no majority"}},
				Action:    changeControllers(2, 2, "a name and an address", (*membership).addNamed),
			},
			{
				Name:      "remove",
				Usage:     "take a controller out; if it leads, another one leads first",
				UsageText: "muster controllers remove [--force] NAME",
				Flags:     []cli.Flag{force},
				Action:    changeControllers(1, 1, "the name of a controller", (*membership).removeNamed),
			},
			{
				Name:      "replace",
				Usage:     "give a controller's place to a new one, or to one of the same name with an empty disk",
				UsageText: "muster controllers replace [--force] [--wait 10m] NAME [NEWNAME HOST:PORT]",
				Flags:     []cli.Flag{force, wait},
				Action:    changeControllers(1, 3, "a name, or a name and the new controller's name and address", (*membership).replace),
			},
			{
				Name:      "demote",
				Usage:     "take a controller's vote; it goes on answering reads",
				UsageText: "muster controllers demote [--force] NAME",
				Flags:     []cli.Flag{force},
				Action:    changeControllers(1, 1, "the name of a controller", (*membership).demote),
			},
			{
				Name:      "transfer",
				Usage:     "have another controller lead, before maintenance",
				UsageText: "muster controllers transfer [NAME]",
				Action:    changeControllers(0, 1, "the name of a controller, or none", (*membership).transferNamed),
			},
			recoverCommand(),
		},
	}
}

// membership is one run of muster controllers against a running cluster.
type membership struct {
	c      *cli.Context
	client *api.Client
	out    io.Writer
}

func changeControllers(least, most int, want string, f func(*membership) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := arguments(c, least, most, want); err != nil {
			return err
		}
		client, err := api.Connect()
		if err != nil {
			return err
		}
		defer client.Close()
		return f(&membership{c: c, client: client, out: c.App.Writer})
	}
}

func (m *membership) records() ([]api.ControllerRecord, error) {
	var reply api.PingReply
	_, err := m.client.Ask(api.MethodPing, nil, &reply)
	return reply.Controllers, err
}

// find returns a controller, or nil.
func (m *membership) find(name string) (*api.ControllerRecord, error) {
	list, err := m.records()
	for i := range list {
		if list[i].Name == name {
			return &list[i], err
		}
	}
	return nil, err
}

func (m *membership) list() error {
	list, err := m.records()
	if err != nil {
		return err
	}
	p := &lines{out: m.out}
	p.add("%-16s %-24s %-9s %-7s %s", "NAME", "ADDRESS", "ROLE", "ANSWERS", "INDEX")
	for _, r := range list {
		role, answers := "follower", "no"
		switch {
		case r.Leader:
			role = "leader"
		case !r.Votes:
			role = "no vote"
		}
		if r.Up {
			answers = "yes"
		}
		p.add("%-16s %-24s %-9s %-7s %d", r.Name, r.Address, role, answers, r.Index)
	}
	return p.err
}

func (m *membership) change(verb, name, address string) error {
	_, err := m.client.Ask(api.MethodControllers, &api.ControllersRequest{Verb: verb, Name: name, Address: address, Force: m.c.Bool("force")}, nil)
	return err
}

func (m *membership) say(format string, args ...any) error {
	_, err := fmt.Fprintf(m.out, format+"\n", args...)
	return err
}

func (m *membership) addNamed() error {
	return m.add(m.c.Args().Get(0), m.c.Args().Get(1), !m.c.Bool("no-vote"))
}

// add may be called again when it was broken off: it goes on where it was.
func (m *membership) add(name, address string, vote bool) error {
	r, err := m.find(name)
	if err != nil {
		return err
	}
	switch {
	case r == nil:
		if err := m.change(api.VerbAdd, name, address); err != nil {
			return err
		}
		if err := m.say("%s is a member without a vote. Start it there with --join and an empty data directory, if it does not run.", name); err != nil {
			return err
		}
	case r.Address != address:
		return fmt.Errorf("controller %s is a member already, at %s", name, r.Address)
	case r.Votes:
		return m.say("%s is a member with a vote already.", name)
	}
	if !vote {
		return nil
	}
	if err := m.promote(name); err != nil {
		return err
	}
	return m.say("%s has caught up and has a vote.", name)
}

// promote asks again until the controller has caught up.
func (m *membership) promote(name string) error {
	var last error
	err := m.until(func() (bool, error) {
		last = m.change(api.VerbPromote, name, "")
		refused := (*api.Error)(nil)
		if errors.As(last, &refused) && refused.Kind == api.ErrState {
			return false, nil
		}
		return true, last
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s has no vote yet: %w; say the same again to go on waiting", name, last)
	}
	return err
}

// askAgain is the time between two questions whether something has happened.
const askAgain = 300 * time.Millisecond

// until asks until it is so, or --wait is over.
func (m *membership) until(ok func() (bool, error)) error {
	patience := m.c.Duration("wait")
	if patience == 0 {
		patience = time.Minute
	}
	ctx, cancel := context.WithTimeout(m.c.Context, patience)
	defer cancel()
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

func (m *membership) removeNamed() error { return m.remove(m.c.Args().First()) }

func (m *membership) remove(name string) error {
	if err := m.handOn(name); err != nil {
		return err
	}
	if err := m.change(api.VerbRemove, name, ""); err != nil {
		return err
	}
	return m.say("%s is no member any more. Stop it, and do not start it again with its old data directory.", name)
}

func (m *membership) demote() error {
	name := m.c.Args().First()
	if err := m.handOn(name); err != nil {
		return err
	}
	if err := m.change(api.VerbDemote, name, ""); err != nil {
		return err
	}
	return m.say("%s has no vote any more.", name)
}

// handOn has another one lead, if a controller does.
func (m *membership) handOn(name string) error {
	r, err := m.find(name)
	if err != nil || r == nil || !r.Leader {
		return err
	}
	return m.transfer("", name)
}

func (m *membership) replace() error {
	args := m.c.Args()
	old := args.First()
	if args.Len() == 3 {
		if err := m.add(args.Get(1), args.Get(2), true); err != nil {
			return err
		}
		return m.remove(old)
	}
	if args.Len() == 2 {
		return errors.New("muster controllers replace: give the new controller's address too, host:port")
	}
	r, err := m.find(old)
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("no controller %s is a member: muster controllers list shows them", old)
	}
	if r.Votes { // else this goes on where it was broken off
		if err := m.remove(old); err != nil {
			return err
		}
	}
	return m.add(old, r.Address, true)
}

func (m *membership) transferNamed() error {
	list, err := m.records()
	if err != nil {
		return err
	}
	from := ""
	for _, r := range list {
		if r.Leader {
			from = r.Name
		}
	}
	to := m.c.Args().First()
	if from != "" && to == from {
		return m.say("%s leads already.", to)
	}
	return m.transfer(to, from)
}

// transfer returns when a controller other than from leads, or the one that was named.
func (m *membership) transfer(to, from string) error {
	if err := m.change(api.VerbTransfer, to, ""); err != nil {
		return err
	}
	leads := ""
	err := m.until(func() (bool, error) {
		list, err := m.records()
		for _, r := range list {
			if r.Leader {
				leads = r.Name
			}
		}
		return leads != "" && leads != from, err
	})
	if err != nil {
		return err
	}
	if to != "" && leads != to {
		return fmt.Errorf("%s leads now, not %s: say it again", leads, to)
	}
	return m.say("%s leads.", leads)
}
