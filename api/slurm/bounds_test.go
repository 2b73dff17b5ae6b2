package slurm

import (
	"runtime"
	"strings"
	"testing"

	"muster/internal/hostlist"
)

// allocated is how many bytes f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Short texts that stand for much cost little memory, whether they are taken or not.
func TestShortTextsCostLittle(t *testing.T) {
	const most = 8 << 20
	for what, f := range map[string]func() error{
		"an array":              func() error { _, err := ParseArray("0-4000000", 4_000_001); return err },
		"an array of steps":     func() error { _, err := ParseArray("0-4000000:2,1-3999999:2", 4_000_001); return err },
		"an array over the cap": func() error { _, err := ParseArray("0-999999999999", 1_000_001); return err },
		"a host list":           func() error { _, err := hostlist.Expand("n[0-999999999]"); return err },
		"a host list of ranges": func() error { _, err := hostlist.Expand("n[0-99999][0-99999][0-99999]"); return err },
		"a host list of zeros": func() error {
			_, err := hostlist.Expand("n[0000000000000000000000-0000000000000000009999999]")
			return err
		},
		"job ids":           func() error { _, err := ParseJobRefs("1_[0-999999999]"); return err },
		"a job with tasks":  func() error { _, err := ParseJobName("1_[0-999999999]"); return err },
		"a dependency":      func() error { _, _, err := ParseDependency("afterok:1_[0-999999999]"); return err },
		"many dependencies": func() error { _, _, err := ParseDependency(strings.Repeat("afterok:1,", 5000)); return err },
		"node counts":       func() error { _, err := ParseNodeCount("1-999999999:1"); return err },
		"a time limit":      func() error { _, err := ParseTimeLimit("99999999999999-23:59:59"); return err },
		"a size":            func() error { _, err := ParseMegabytes("99999999999999999999T"); return err },
	} {
		var err error
		if n := allocated(func() { err = f() }); n > most {
			t.Errorf("%s: %d bytes were allocated (error: %v)", what, n, err)
		}
	}
}
