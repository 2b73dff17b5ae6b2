package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"muster/cmd/muster/dev"
)

func devCommand() *cli.Command {
	dir := &cli.StringFlag{Name: "dir", Usage: "directory of the cluster", Required: true}
	return &cli.Command{
		Name:  "dev",
		Usage: "run a throw-away cluster on this host: real controllers, real nodes, real jobs",
		Subcommands: []*cli.Command{
			{
				Name:      "up",
				Usage:     "make a cluster and start it; returns when it takes jobs",
				UsageText: "muster dev up --dir DIR [--controllers 3] [--nodes 4] [--cpus N] [--mem MB] [--gres gpu:a100:8] [--conf cluster.toml]",
				Flags: []cli.Flag{
					dir,
					&cli.IntFlag{Name: "controllers", Usage: "how many (default: 3, or as the cluster file says)"},
					&cli.IntFlag{Name: "nodes", Usage: "how many, n1, n2, … (default: 4)"},
					&cli.IntFlag{Name: "cpus", Usage: "of each node (default: those of this host)"},
					&cli.Uint64Flag{Name: "mem", Usage: "MB of each node (default: its share of this host's)"},
					&cli.StringSliceFlag{Name: "gres", Usage: "devices of each node; the files are made below DIR"},
					&cli.StringFlag{Name: "topology", Usage: "`FILE` that describes how the GPUs of each node are linked (see muster gres show --from)"},
					&cli.StringFlag{Name: "conf", Usage: "cluster file, in place of the options above"},
					&cli.StringSliceFlag{Name: "ctld", Usage: "further argument of musterd ctld, such as --snapshot-commands=1000"},
				},
				Action: devUp,
			},
			{
				Name:      "env",
				Usage:     "print what a shell needs to use the cluster: eval \"$(muster dev env --dir DIR)\"",
				UsageText: "muster dev env --dir DIR",
				Flags:     []cli.Flag{dir},
				Action:    devEnv,
			},
			{
				Name:      "kill",
				Usage:     "end a part of the cluster as a crash does; node/NAME ends daemon, shepherd and jobs, as a power cut",
				UsageText: "muster dev kill --dir DIR ctld/leader | ctld/2 | noded/n3 | node/n3",
				Flags:     []cli.Flag{dir},
				Action:    devKill,
			},
			{
				Name:      "start",
				Usage:     "bring back what was killed, and start nodes that the cluster file has anew: one part, or everything",
				UsageText: "muster dev start --dir DIR [WHAT]",
				Flags:     []cli.Flag{dir},
				Action:    devStart,
			},
			{
				Name:      "down",
				Usage:     "end the cluster and its jobs, and remove all but its logs",
				UsageText: "muster dev down --dir DIR",
				Flags:     []cli.Flag{dir},
				Action:    devDown,
			},
		},
	}
}

func devUp(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	for _, name := range []string{"controllers", "nodes", "cpus"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return fmt.Errorf("--%s %d: want 1 or more", name, c.Int(name))
		}
	}
	programs, err := programDir()
	if err != nil {
		return err
	}
	cluster, err := dev.Up(c.Context, dev.Options{
		Dir: c.String("dir"), Programs: programs, Conf: c.String("conf"), Controllers: c.Int("controllers"),
		Nodes: c.Int("nodes"), CPUs: c.Int("cpus"), MemoryMB: c.Uint64("mem"), Gres: c.StringSlice("gres"),
		Topology: c.String("topology"),
		Ctld:     c.StringSlice("ctld"),
	})
	if err != nil {
		return err
	}
	fmt.Printf("cluster %s takes jobs; in a shell:\n  eval \"$(%s dev env --dir %s)\"\n",
		cluster.Name, quote(filepath.Join(programs, "muster")), quote(cluster.Dir))
	return nil
}

func devEnv(c *cli.Context) error {
	programs, err := programDir()
	if err != nil {
		return err
	}
	cluster, err := dev.Read(c.String("dir"))
	if err != nil {
		return err
	}
	fmt.Printf("export PATH=%s:\"$PATH\" MUSTER_SOCKET=%s MUSTER_CONF=%s\n", quote(programs), quote(cluster.LoginSocket()), quote(cluster.File()))
	return nil
}

func devKill(c *cli.Context) error {
	if err := arguments(c, 1, 1, "one, such as ctld/leader or node/n3"); err != nil {
		return err
	}
	return withCluster(c, func(cluster *dev.Cluster) error { return cluster.Kill(c.Args().First()) })
}

func devStart(c *cli.Context) error {
	if err := arguments(c, 0, 1, "one at most, such as ctld/2 or node/n3"); err != nil {
		return err
	}
	return withCluster(c, func(cluster *dev.Cluster) error { return cluster.Start(c.Context, c.Args().First()) })
}

func devDown(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	return withCluster(c, (*dev.Cluster).Down)
}

func withCluster(c *cli.Context, f func(*dev.Cluster) error) error {
	programs, err := programDir()
	if err != nil {
		return err
	}
	cluster, err := dev.Open(c.String("dir"), programs)
	if err != nil {
		return err
	}
	defer cluster.Close()
	return f(cluster)
}

// programDir is where this program lies, and the daemons beside it.
func programDir() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// quote writes a word that a shell reads as it is.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
