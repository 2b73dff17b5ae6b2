// Command muster-shepherd is the parent of every job process of a node. The
// node daemon starts it and finds it again after a restart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"muster/internal/timerslack"
	"muster/noded/shepherd"
)

func main() {
	if err := timerslack.Exec(timerslack.Daemon); err != nil {
		fmt.Fprintln(os.Stderr, "muster-shepherd: goes on with the kernel's timers:", err)
	}
	err := shepherd.Main(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster-shepherd:", err)
		os.Exit(1)
	}
}
