// Package bootclock is the machine's clock since its boot, which all processes of
// one boot share and nobody sets.
package bootclock

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ID names this boot of the machine.
func ID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("which boot this is: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Now is the time since the boot, suspended time included.
func Now() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, fmt.Errorf("the clock since boot: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
