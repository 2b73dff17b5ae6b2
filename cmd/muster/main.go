// Command muster is the administrator's tool.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	app := &cli.App{
		Name:                 "muster",
		Usage:                "administer a Muster cluster",
		EnableBashCompletion: true,
		Suggest:              true,
		HideVersion:          true,
		ExitErrHandler:       func(*cli.Context, error) {}, // told below
		Commands:             []*cli.Command{backupCommand(), confCommand(), controllersCommand(), devCommand(), simCommand(), gresCommand(), whyCommand(), reportCommand(), restoreCommand()},
	}
	if err := app.RunContext(ctx, os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "muster:", err)
		stop()
		os.Exit(1)
	}
}

// arguments refuses a number of arguments that a command does not take.
func arguments(c *cli.Context, least, most int, what string) error {
	if n := c.NArg(); n < least || n > most {
		return fmt.Errorf("%s: %d arguments, want %s", c.Command.HelpName, n, what)
	}
	return nil
}
