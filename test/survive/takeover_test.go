package survive

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"muster/test/cluster"
)

// BenchmarkTakeover kills the leader again and again and measures how long it
// takes until the next sbatch is acknowledged, which is sent at once. Run it with
// -benchtime=20x for 20 kills.
func BenchmarkTakeover(b *testing.B) {
	c := cluster.Up(b, "--controllers", "3", "--nodes", "1")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir := b.TempDir()
	submit := func() {
		if o := c.Run(ctx, dir, "", "sbatch", "-o", "/dev/null", "--wrap", "true"); o.Code != 0 {
			b.Fatalf("sbatch: exit code %d: %s", o.Code, o.Stderr)
		}
	}
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		c.Start("")
		submit() // the cluster is whole and takes jobs
		pid := c.PID(c.Leader())
		b.StartTimer()
		begin := time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		submit()
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms-median")
	b.ReportMetric(float64(took[0].Milliseconds()), "ms-min")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms-max")
}
