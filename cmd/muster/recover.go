package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"muster/conf"
	"muster/ctld/salvage"
)

func recoverCommand() *cli.Command {
	return &cli.Command{
		Name:  "recover",
		Usage: "make a stopped controller the only one of its cluster, when most of the others are lost for good",
		UsageText: "muster controllers recover --data DIR [--config FILE]\n\n" +
			"Stop all controllers, and choose the one that lags least (muster controllers list, or the newest files).\n" +
			"Then start it, start the others with --join and empty data directories, and add them again.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "data directory of the stopped controller", Required: true},
			&cli.StringFlag{Name: "config", Value: "/etc/muster/cluster.toml", Usage: "cluster file"},
		},
		Action: func(c *cli.Context) error {
			if err := arguments(c, 0, 0, "none"); err != nil {
				return err
			}
			file, err := conf.Load(c.String("config"))
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			name, index, err := salvage.Recover(c.Context, c.String("data"), file, log)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s is the only controller of its cluster now, with all up to index %d. Start it; "+
				"then start the others with --join and empty data directories, and say muster controllers add for each.\n", name, index)
			return err
		},
	}
}
