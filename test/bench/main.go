// Command bench measures a cluster through the Slurm commands that are first in
// PATH, so it runs on any product that has them. test/bench/run.sh runs it on a
// cluster of its own.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	b := &bench{}
	flag.IntVar(&b.jobs, "jobs", 1000, "jobs of each measurement")
	flag.StringVar(&b.programs, "programs", "", "directory of the daemons' programs, to find their processes")
	pids := flag.String("pids", "", "more daemons, as name:pid,name:pid")
	flag.Parse()
	if err := b.run(*pids); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	jobs     int
	programs string
	more     []daemon
	dir      string // scripts and what they write
	script   string // does nothing
}

func (b *bench) run(pids string) error {
	var err error
	if b.more, err = parsePIDs(pids); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "bench."); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if b.script, err = b.write("true", "true"); err != nil {
		return err
	}
	for _, m := range []func() error{b.idle, b.one, b.eight, b.array, b.huge} {
		if err := m(); err != nil {
			return err
		}
	}
	return nil
}

// write makes a script.
func (b *bench) write(name, body string) (string, error) {
	name = filepath.Join(b.dir, name+".sh")
	return name, os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o755)
}

// idle measures single jobs on an idle cluster: sbatch, and the time from its
// return to the first line of the script.
func (b *bench) idle() error {
	var submit, start []time.Duration
	for i := range 50 {
		out := filepath.Join(b.dir, "first"+strconv.Itoa(i))
		script, err := b.write("first", "date +%s%N > "+out)
		if err != nil {
			return err
		}
		d, err := sbatch("-J", "first", script)
		if err != nil {
			return err
		}
		returned := time.Now()
		submit = append(submit, d)
		if err := drained("first"); err != nil {
			return err
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return fmt.Errorf("the job wrote nothing: %w", err)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return fmt.Errorf("the job wrote %q: %w", text, err)
		}
		start = append(start, time.Unix(0, ns).Sub(returned))
	}
	fmt.Printf("idle cluster: sbatch %s; from its return to the first line %s\n", spread(submit), spread(start))
	return nil
}

// one measures one client.
func (b *bench) one() error {
	n := b.jobs / 5
	return b.measure("one client", n, func(name string) (string, error) {
		begin := time.Now()
		times, err := b.submit(name, n, 1)
		return fmt.Sprintf("sbatch %s, %.0f submits/s", spread(times), float64(n)/time.Since(begin).Seconds()), err
	})
}

// eight measures eight clients that submit one job each, again and again.
func (b *bench) eight() error {
	return b.measure("eight clients", b.jobs, func(name string) (string, error) {
		begin := time.Now()
		times, err := b.submit(name, b.jobs, 8)
		return fmt.Sprintf("sbatch %s, %.0f submits/s", spread(times), float64(b.jobs)/time.Since(begin).Seconds()), err
	})
}

// array measures the tasks of one array.
func (b *bench) array() error {
	return b.measure("array", b.jobs, func(name string) (string, error) {
		d, err := sbatch("-J", name, "--array=0-"+strconv.Itoa(b.jobs-1), b.script)
		return "sbatch " + text(d), err
	})
}

// huge measures a held array as long as any may be.
func (b *bench) huge() error {
	d, err := sbatch("-J", "huge", "--hold", "--array=0-999999", b.script)
	if err != nil {
		fmt.Printf("held array of 1,000,000 tasks: %v\n", err)
		return nil
	}
	begin := time.Now()
	if err := exec.Command("scancel", "-n", "huge").Run(); err != nil {
		return fmt.Errorf("scancel: %w", err)
	}
	fmt.Printf("held array of 1,000,000 tasks: sbatch %s, scancel %s\n", text(d), text(time.Since(begin)))
	return drained("huge")
}

// measure runs n jobs to their end and prints the rate and what the daemons used.
func (b *bench) measure(what string, n int, submit func(name string) (string, error)) error {
	before, begin := b.used(), time.Now()
	name := strings.ReplaceAll(what, " ", "")
	said, err := submit(name)
	if err != nil {
		return err
	}
	if err := drained(name); err != nil {
		return err
	}
	took := time.Since(begin)
	fmt.Printf("%s: %d jobs, %s; to the end %.0f jobs/s; %s\n", what, n, said, float64(n)/took.Seconds(), cost(before, b.used(), n))
	return nil
}

// submit has n jobs submitted by some clients at once.
func (b *bench) submit(name string, n, clients int) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	var failed []error
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range n / clients {
				d, err := sbatch("-J", name, b.script)
				mu.Lock()
				times, failed = append(times, d), append(failed, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return times, errors.Join(failed...)
}

// sbatch submits a job without output and returns what it took.
func sbatch(args ...string) (time.Duration, error) {
	begin := time.Now()
	out, err := exec.Command("sbatch", append([]string{"-o", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("sbatch: %w: %s", err, bytes.TrimSpace(out))
	}
	return time.Since(begin), nil
}

// drained waits until no job of a name is left. It looks with squeue, as scripts do.
func drained(name string) error {
	const pause, most = 50 * time.Millisecond, 10 * time.Minute
	for begin := time.Now(); time.Since(begin) < most; time.Sleep(pause) {
		out, err := exec.Command("squeue", "-h", "-n", name, "-t", "PD,R,CG,CF", "-o", "%i").Output()
		if err != nil {
			return fmt.Errorf("squeue: %w", err)
		}
		if len(bytes.TrimSpace(out)) == 0 {
			return nil
		}
	}
	return fmt.Errorf("jobs %s are not through after %v", name, most)
}

// spread is the median and the 95th percentile.
func spread(list []time.Duration) string {
	slices.Sort(list)
	return fmt.Sprintf("%s (95 %%: %s)", text(list[len(list)/2]), text(list[len(list)*95/100]))
}

func text(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
