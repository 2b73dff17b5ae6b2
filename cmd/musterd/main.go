// Command musterd is the daemons: `musterd ctld` is a controller, `musterd
// noded` runs jobs on a node, and `musterd noded --login` only passes on the
// calls of a login host's users.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"muster/ctld"
	"muster/internal/heapfloor"
	"muster/internal/timerslack"
)

// heapFloor is the memory that a daemon may use before it collects garbage.
const heapFloor = 48 << 20

func main() {
	if err := timerslack.Exec(timerslack.Daemon); err != nil {
		fmt.Fprintln(os.Stderr, "musterd: goes on with the kernel's timers:", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "musterd:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say which daemon: musterd ctld or musterd noded (each has --help)")
	}
	heapfloor.Set(heapFloor)
	switch args[0] {
	case "ctld":
		return runCtld(ctx, args[1:])
	case "noded":
		return runNoded(ctx, args[1:])
	}
	return fmt.Errorf("there is no daemon %q: ctld or noded", args[0])
}

func runCtld(ctx context.Context, args []string) error {
	var cfg ctld.Config
	var level slog.Level
	f := flag.NewFlagSet("musterd ctld", flag.ContinueOnError)
	f.StringVar(&cfg.Name, "name", "", "name of this controller in the cluster file")
	f.StringVar(&cfg.Data, "data", "", "data directory; belongs to this controller alone")
	f.StringVar(&cfg.Listen, "listen", "", "host:port to listen on (default: as the cluster file says)")
	f.StringVar(&cfg.Certs, "certs", "", "directory of ca.pem, cert.pem and key.pem")
	f.StringVar(&cfg.File, "config", "/etc/muster/cluster.toml", "cluster file")
	f.StringVar(&cfg.Web, "web", "", "host:port of /livez, /readyz and /metrics (default: none)")
	f.BoolVar(&cfg.Join, "join", false, "with an empty data directory, wait to be added (muster controllers add) rather than begin a new cluster")
	f.StringVar(&cfg.Cycles, "record-cycles", "", "directory to record the planner's last cycles in, for muster sim replay (default: none; each costs a snapshot of the state)")
	f.IntVar(&cfg.KeepCycles, "keep-cycles", 1000, "recorded cycles to keep")
	f.BoolVar(&cfg.RootFromAnywhere, "allow-root", false,
		"believe login and compute hosts when root calls: for throw-away clusters only")
	f.DurationVar(&cfg.Timing.Heartbeat, "heartbeat", 0, "silence of the leader before a vote, at random up to twice it (default 400ms)")
	f.DurationVar(&cfg.Timing.Election, "election", 0, "how long a candidate waits for votes (default 400ms)")
	f.DurationVar(&cfg.Timing.Lease, "lease", 0, "a leader that reaches no majority for so long steps down (default 400ms)")
	f.Uint64Var(&cfg.Timing.SnapshotCommands, "snapshot-commands", 0, "commands after which a snapshot is taken (default 200000)")
	f.TextVar(&level, "log", slog.LevelInfo, "least level of log lines: debug, info, warn or error")
	if err := parse(f, args, "name", "data", "certs"); err != nil {
		return err
	}
	cfg.Log = logger(level)
	return ctld.Run(ctx, cfg)
}

// parse reads flags, of which some must be given.
func parse(f *flag.FlagSet, args []string, required ...string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s takes no argument such as %q", f.Name(), f.Arg(0))
	}
	for _, name := range required {
		if f.Lookup(name).Value.String() == "" {
			return fmt.Errorf("%s: give --%s: %s", f.Name(), name, f.Lookup(name).Usage)
		}
	}
	return nil
}

func logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
