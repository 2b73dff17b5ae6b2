// Command muster-shepherd is the parent of every job process of a node. The
// node daemon starts it and finds it again after a restart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"muster/internal/heapfloor"
	"muster/internal/timerslack"
	"muster/noded/shepherd"
)

// heapFloor is the memory that the shepherd may use before it collects garbage.
const heapFloor = 16 << 20

func main() {
	if err := timerslack.Exec(timerslack.Daemon); err != nil {
		fmt.Fprintln(os.Stderr, "muster-shepherd: goes on with the kernel's timers:", err)
	}
	heapfloor.Set(heapFloor)
	err := shepherd.Main(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster-shepherd:", err)
		os.Exit(1)
	}
}
