package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"muster/gres/topo"
)

func gresCommand() *cli.Command {
	return &cli.Command{
		Name:  "gres",
		Usage: "look at the devices of a node",
		Subcommands: []*cli.Command{{
			Name:      "show",
			Usage:     "show GPUs, network cards and the links between them, as nvidia-smi topo -m does",
			UsageText: "muster gres show [--from FILE]",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "from", Usage: "of a machine described in a `FILE` (- is standard input): the output of nvidia-smi topo -m, a topology file of NCCL or RCCL, or hwloc's XML"},
			},
			Action: gresShow,
		}},
	}
}

func gresShow(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	m, err := machineFrom(c.String("from"))
	if err != nil {
		return err
	}
	if m == nil {
		return errors.New("this machine has neither GPUs nor network cards on its PCI buses")
	}
	return m.Write(c.App.Writer)
}

// machineFrom reads a description, or looks at this machine.
func machineFrom(file string) (*topo.Machine, error) {
	if file == "" {
		return topo.Sysfs(os.DirFS("/sys"))
	}
	in := os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	const most = 16 << 20 // the largest description known has 0.2 MB
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(text) > most {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, most>>20)
	}
	m, err := topo.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}
