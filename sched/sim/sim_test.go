package sim

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/gres"
	"muster/job"
	"muster/partition"
	"muster/sched/cyclelog"
	"muster/sched/sim/trace"
	"muster/state"
)

// asked is a job of a trace: submit, run time and limit in seconds, processors.
func asked(submit, run, limit int64, procs int) trace.Job {
	return trace.Job{Submit: submit, Run: run, Limit: limit, Procs: procs, Held: procs, User: "u"}
}

func run(t interface {
	Helper()
	Fatal(...any)
}, c partition.Cluster, jobs []trace.Job, o Options) *Result {
	t.Helper()
	s := Setup{Cluster: c, Budget: Budget()}
	s.Tasks, _ = Tasks(&trace.Workload{Jobs: jobs}, &c, o)
	r, err := Run(&s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// starts are the starts by task, in seconds from the first submit.
func starts(r *Result) []int64 {
	out := make([]int64, len(r.Spans))
	for i := range r.Spans {
		out[r.Spans[i].Task] = int64(r.Spans[i].Start-r.FirstSubmit()) / 1000
	}
	return out
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []trace.Job
		o    Options
		want []int64
	}{
		{"in order", []trace.Job{asked(0, 60, 60, 4), asked(1, 60, 60, 4), asked(2, 60, 60, 4)}, Options{}, []int64{0, 60, 120}},
		{"one fits in before the next", []trace.Job{asked(0, 600, 600, 3), asked(1, 60, 60, 4), asked(2, 300, 300, 1)}, Options{}, []int64{0, 600, 2}},
		{"one does not", []trace.Job{asked(0, 600, 600, 3), asked(1, 60, 60, 4), asked(2, 300, 900, 1)}, Options{}, []int64{0, 600, 660}},
		{"but does by its run time", []trace.Job{asked(0, 600, 600, 3), asked(1, 60, 60, 4), asked(2, 300, 900, 1)}, Options{Clairvoyant: true}, []int64{0, 600, 2}},
		{"a limit ends a job", []trace.Job{asked(0, 500, 60, 4), asked(1, 60, 60, 4)}, Options{}, []int64{0, 60}},
		{"without a limit the run time is one", []trace.Job{asked(0, 90, -1, 4), asked(1, 60, 60, 4)}, Options{}, []int64{0, 90}},
	} {
		r := run(t, Machine(4), c.jobs, c.o)
		if got := starts(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: starts %v, want %v", c.name, got, c.want)
		}
		if r.Unstart != 0 || r.Refused != 0 {
			t.Errorf("%s: %d never started, %d starts refused", c.name, r.Unstart, r.Refused)
		}
	}
}

// A workload of random jobs: no more CPUs are held than there are, every job runs
// once and for its time, and a second run is the same to the last bit.
func TestRunIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 6).Draw(t, "cpus")
		c := Machine(cpus)
		c.Policy.Order = rapid.SampledFrom([]string{"", partition.OrderBalanced}).Draw(t, "order")
		var jobs []trace.Job
		at := int64(0)
		for range rapid.IntRange(1, 25).Draw(t, "jobs") {
			at += rapid.Int64Range(0, 200).Draw(t, "gap")
			run := rapid.Int64Range(1, 900).Draw(t, "run")
			jobs = append(jobs, asked(at, run, run+rapid.Int64Range(0, 900).Draw(t, "over"), rapid.IntRange(1, cpus).Draw(t, "procs")))
		}
		r := run(t, c, jobs, Options{})
		// In the balanced order a shorter job that comes later may go ahead.
		if len(r.Spans) != len(jobs) || r.Unstart+r.Refused != 0 || c.Policy.Order == "" && r.Delays != 0 {
			t.Fatalf("%d of %d jobs ran, %d never started, %d refused, %d promises broken", len(r.Spans), len(jobs), r.Unstart, r.Refused, r.Delays)
		}
		for i := range r.Spans {
			s := &r.Spans[i]
			held := uint64(0)
			for k := range r.Spans {
				if o := &r.Spans[k]; o.Start <= s.Start && s.Start < o.End {
					held += uint64(o.CPUs)
				}
			}
			if held > r.CPUs || s.Start < s.Submit || s.End-s.Start != job.Time(jobs[s.Task].Run)*1000 {
				t.Fatalf("job %d: %+v, %d CPUs held of %d", s.Job, s, held, r.CPUs)
			}
		}
		if again := run(t, c, jobs, Options{}); again.Hash != r.Hash || !slices.Equal(starts(again), starts(r)) {
			t.Fatal("a second run is different")
		}
	})
}

// gpuCluster is two nodes of two GPUs.
func gpuCluster() partition.Cluster {
	c := partition.Cluster{Name: "gpus", Partitions: []partition.Partition{{Name: "main", NodeList: "ALL", Default: true}},
		Policy: partition.Policy{AllocCores: true}}
	for _, name := range []string{"n1", "n2"} {
		n := partition.Node{Name: name, Declared: partition.Shape{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 1, CPUs: 4, MemoryMB: 100}}
		for i := range 2 {
			n.Gres.Devices = append(n.Gres.Devices, gres.Device{Name: "gpu", Type: "a100", Index: i})
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c
}

func TestRunCountsGPUs(t *testing.T) {
	j := asked(0, 600, 600, 1)
	j.Request = &job.Request{Size: job.Size{Tasks: 1, CPUsPerTask: 1}, Gres: job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Count: 2}}}}
	r := run(t, gpuCluster(), []trace.Job{j, j, j}, Options{})
	if r.Devices != 4 || len(r.Spans) != 3 || r.Spans[0].Devices != 2 {
		t.Fatalf("%+v", r)
	}
	// 600 s with four of them held, 600 s with two.
	if got := r.Allocated(); got != 0.75 {
		t.Errorf("allocated %g, want 0.75", got)
	}
}

func TestRunWithFactors(t *testing.T) {
	c := Machine(1)
	c.Policy.Priority = partition.Priority{Multifactor: true, Age: 1000, MaxAge: 3600, CalcPeriod: 60}
	r := run(t, c, []trace.Job{asked(0, 100, 120, 1), asked(1, 100, 120, 1), asked(2, 100, 120, 1)}, Options{})
	if got := starts(r); !slices.Equal(got, []int64{0, 100, 200}) {
		t.Errorf("starts %v", got)
	}
}

func TestRunEndsThoughAJobCannotStart(t *testing.T) {
	r, err := Run(&Setup{Cluster: Machine(1), Tasks: []Task{{At: epoch, New: state.NewJob{Request: job.Request{Partitions: []string{"other"}}}}}})
	if err != nil || r.Unstart != 1 {
		t.Errorf("a job of a partition that is not there: %+v, %v", r, err)
	}
}

func TestTasks(t *testing.T) {
	c := Machine(8)
	list, left := Tasks(&trace.Workload{Jobs: []trace.Job{asked(50, 61, 61, 2), asked(20, 10, 90, 2), asked(30, 0, 90, 2), asked(30, 5, 5, 9), asked(60, 5, 5, 1)}}, &c, Options{})
	if left != 2 || len(list) != 3 {
		t.Fatalf("%d tasks, %d left out", len(list), left)
	}
	if list[0].At != epoch || list[1].At != epoch+30_000 || list[0].Run != 10_000 {
		t.Errorf("%+v", list)
	}
	if got := list[1].New.Request.Timing.Limit; got != 2 {
		t.Errorf("a limit of 61 s is %d minutes, want 2", got)
	}
	Shuffle(list, 5)
	if list[2].At != epoch+40_000 || list[0].At != epoch {
		t.Errorf("shuffled: the first comes at %d, the last at %d", list[0].At, list[2].At)
	}
	if list, _ = Tasks(&trace.Workload{Jobs: []trace.Job{asked(1, 1, 1, 1), asked(2, 1, 1, 1), asked(3, 1, 1, 1)}}, &c, Options{From: 1, Count: 1}); len(list) != 1 || list[0].At != epoch+1000 {
		t.Errorf("a part of it: %+v", list)
	}
}

func TestMachine(t *testing.T) {
	c := Machine(93_312)
	cpus := 0
	for i := range c.Nodes {
		cpus += int(c.Nodes[i].Size().CPUs)
	}
	if cpus != 93_312 {
		t.Errorf("%d CPUs", cpus)
	}
}

// A picture is XML, and has a bar for each job.
func TestPicture(t *testing.T) {
	for _, c := range []partition.Cluster{Machine(4), gpuCluster()} {
		r := run(t, c, []trace.Job{asked(0, 600, 600, 3), asked(1, 60, 60, 4), asked(2, 300, 300, 1)}, Options{})
		var b bytes.Buffer
		if err := Picture(&b, r); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(text, "<title>job"); n < 3 {
			t.Errorf("%d bars", n)
		}
	}
	var b bytes.Buffer
	if err := Picture(&b, &Result{}); err != nil {
		t.Error(err)
	}
}

// Recorded cycles of a run give the same plans when they are planned again.
func TestRecordedCyclesReplay(t *testing.T) {
	log, err := cyclelog.Open(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	c := Machine(4)
	c.Policy.Order = partition.OrderBalanced
	s := Setup{Cluster: c, Budget: Budget(), Record: log}
	s.Tasks, _ = Tasks(&trace.Workload{Jobs: []trace.Job{asked(0, 600, 700, 3), asked(1, 60, 90, 4), asked(2, 300, 400, 1), asked(9, 3, 60, 2)}}, &c, Options{})
	r, err := Run(&s)
	if err != nil {
		t.Fatal(err)
	}
	files, err := cyclelog.Files(log.Dir())
	if err != nil || len(files) != r.Cycles {
		t.Fatalf("%d cycles, %d records, %v", r.Cycles, len(files), err)
	}
	starts := 0
	for _, f := range files {
		again, err := cyclelog.Replay(f)
		if err != nil || !again.Same {
			t.Fatalf("%+v, %v", again, err)
		}
		starts += again.Starts
	}
	if starts != 4 {
		t.Errorf("%d starts were planned again, want 4", starts)
	}
}

// How a job ended is known to what depends on it long after, though ended jobs are
// taken out of memory.
func TestRunRemembersWhatOthersDependOn(t *testing.T) {
	var jobs []trace.Job
	for i := range int64(2*tidyEvery + 2) {
		j := asked(10*i, 5, 60, 1)
		j.ID = i + 1
		jobs = append(jobs, j)
	}
	last := &jobs[len(jobs)-1]
	last.Deps = []job.Dependency{{Kind: job.DependAfterOK, On: 1, Task: job.NoTask}}
	if r := run(t, Machine(1), jobs, Options{}); r.Unstart != 0 || len(r.Spans) != len(jobs) {
		t.Errorf("%d never ran, %d of %d ended", r.Unstart, len(r.Spans), len(jobs))
	}
	if r := run(t, Machine(1), jobs, Options{From: 5}); r.Unstart != 0 {
		t.Error("a dependency on a job that is not played holds a job")
	}
}
