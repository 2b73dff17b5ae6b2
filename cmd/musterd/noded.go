package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"strings"

	"muster/api/identity"
	"muster/noded/agent"
)

// runNoded runs a node's daemon, or with --login the agent alone.
func runNoded(ctx context.Context, args []string) error {
	var name, certs, controllers, socket string
	var login bool
	var level slog.Level
	f := flag.NewFlagSet("musterd noded", flag.ContinueOnError)
	host, _ := os.Hostname() // the default only: the name must be that of the certificate
	f.StringVar(&name, "name", host, "name of this host in the cluster")
	f.StringVar(&certs, "certs", "", "directory of ca.pem, cert.pem and key.pem")
	f.StringVar(&controllers, "controllers", "", "addresses of the controllers, host:port, separated by commas")
	f.StringVar(&socket, "socket", "/run/muster/agent.sock", "socket for the commands of this host's users")
	f.BoolVar(&login, "login", false, "pass on calls only; run no jobs")
	f.TextVar(&level, "log", slog.LevelInfo, "least level of log lines: debug, info, warn or error")
	if err := parse(f, args, "certs", "controllers"); err != nil {
		return err
	}
	if !login {
		return errors.New("musterd noded: only --login is built in yet")
	}
	id, err := identity.Load(certs)
	if err != nil {
		return err
	}
	a, err := agent.Listen(agent.Config{Socket: socket, Host: name, Identity: id,
		Controllers: strings.Split(controllers, ","), Log: logger(level).With("node", name)})
	if err != nil {
		return err
	}
	return a.Serve(ctx)
}
