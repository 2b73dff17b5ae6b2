package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"muster/sched/cyclelog"
)

func simReplayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "plan recorded cycles again and compare the plans bit for bit",
		UsageText: "muster sim replay DIR|FILE...",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "verbose", Usage: "tell of each cycle"}},
		Action:    simReplay,
	}
}

func simReplay(c *cli.Context) error {
	if c.NArg() == 0 {
		return fmt.Errorf("%s: no argument, want a directory of recorded cycles, or files of it", c.Command.HelpName)
	}
	var files []string
	for _, arg := range c.Args().Slice() {
		info, err := os.Stat(arg)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		list, err := cyclelog.Files(arg)
		if err != nil {
			return err
		}
		files = append(files, list...)
	}
	different := 0
	for _, f := range files {
		r, err := cyclelog.Replay(f)
		if err != nil {
			return err
		}
		if !r.Same {
			different++
			fmt.Printf("%s: another plan: %s\n", f, r.Differs)
		} else if c.Bool("verbose") {
			fmt.Printf("%s: the same plan, %d waiting, %d starts\n", f, r.Waiting, r.Starts)
		}
	}
	fmt.Printf("%d cycles planned again, %d plans differ\n", len(files), different)
	if different > 0 {
		return fmt.Errorf("%d of %d plans differ", different, len(files))
	}
	return nil
}
