package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"

	"muster/conf"
	"muster/partition"
)

func confCommand() *cli.Command {
	return &cli.Command{
		Name:  "conf",
		Usage: "write and check cluster files, and make them the configuration of a running cluster",
		Subcommands: append([]*cli.Command{
			{
				Name:      "init",
				Usage:     "write a commented cluster file to start from",
				UsageText: "muster conf init [--name NAME] [--nodes n[1-4]] [--cpus N] [--mem MB] [FILE]",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Value: "cluster", Usage: "of the cluster"},
					&cli.StringFlag{Name: "nodes", Usage: "host-list expression (default: this host)"},
					&cli.IntFlag{Name: "cpus", Value: runtime.NumCPU(), Usage: "of each node"},
					&cli.Uint64Flag{Name: "mem", Value: 4096, Usage: "MB of each node"},
				},
				Action: confInit,
			},
			{
				Name:      "check",
				Usage:     "read a cluster file and tell all that is wrong with it",
				UsageText: "muster conf check FILE",
				Action:    confCheck,
			},
			{
				Name:      "show",
				Usage:     "show what holds where a cluster file is silent",
				UsageText: "muster conf show --defaults",
				Flags:     []cli.Flag{&cli.BoolFlag{Name: "defaults", Usage: "of all keys"}},
				Action:    confShow,
			},
		}, liveConfCommands()...),
	}
}

func confInit(c *cli.Context) error {
	if err := arguments(c, 0, 1, "the file to write, or none for standard output"); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	nodes := c.String("nodes")
	if nodes == "" {
		nodes = host
	}
	if c.Int("cpus") < 1 || c.Uint64("mem") < 1 {
		return errors.New("--cpus and --mem: want 1 or more")
	}
	out := os.Stdout
	if path := c.Args().First(); path != "" {
		// An existing file is somebody's cluster.
		if out, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			return err
		}
	}
	err = conf.Init(out, conf.Starter{
		Name: c.String("name"), TimeZone: conf.HostZone(), Order: partition.OrderBalanced,
		Controllers: []conf.Daemon{{Name: host, Addresses: []string{host}}},
		Nodes:       []conf.StarterNodes{{Names: nodes, Cores: uint32(c.Int("cpus")), MemoryMB: c.Uint64("mem")}},
	})
	if out != os.Stdout {
		err = errors.Join(err, out.Close())
	}
	return err
}

func confCheck(c *cli.Context) error {
	if err := arguments(c, 1, 1, "the cluster file"); err != nil {
		return err
	}
	file, err := conf.Load(c.Args().First())
	if err != nil {
		return err
	}
	for _, line := range file.WarningLines(c.Args().First()) {
		fmt.Fprintln(os.Stderr, line)
	}
	fmt.Printf("%s: cluster %s, %d controllers, %d nodes, %d partitions: no fault found\n", c.Args().First(),
		file.Cluster.Name, len(file.Controllers), len(file.Cluster.Nodes), len(file.Cluster.Partitions))
	return nil
}

func confShow(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	if !c.Bool("defaults") {
		return errors.New("muster conf show: say --defaults; scontrol show config shows what a running cluster goes by")
	}
	fmt.Print(conf.Defaults())
	return nil
}
