package published

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

// asked makes a job from its submit, run time, limit and processors.
func asked(submit, run, limit int64, procs int) trace.Job {
	return trace.Job{Submit: submit, Run: run, Limit: limit, Procs: procs, Held: procs}
}

func starts(out []measure.Outcome) []int64 {
	list := make([]int64, len(out))
	for i := range out {
		list[i] = out[i].Start
	}
	return list
}

func TestEasy(t *testing.T) {
	for _, c := range []struct {
		name string
		easy Easy
		jobs []trace.Job
		want []int64
	}{
		{"in order", Easy{Procs: 4}, []trace.Job{asked(0, 10, 10, 4), asked(1, 10, 10, 4), asked(2, 10, 10, 4)}, []int64{0, 10, 20}},
		{"ends by the shadow", Easy{Procs: 4}, []trace.Job{asked(0, 10, 10, 3), asked(1, 5, 5, 4), asked(2, 8, 8, 1)}, []int64{0, 10, 2}},
		{"a second too long", Easy{Procs: 4}, []trace.Job{asked(0, 10, 10, 3), asked(1, 5, 5, 4), asked(2, 8, 9, 1)}, []int64{0, 10, 15}},
		{"in the extra processors", Easy{Procs: 4}, []trace.Job{asked(0, 10, 10, 3), asked(1, 5, 5, 3), asked(2, 99, 99, 1)}, []int64{0, 10, 2}},
		{"the extra ones are given once", Easy{Procs: 6}, []trace.Job{asked(0, 10, 10, 4), asked(1, 5, 5, 5), asked(2, 99, 99, 1), asked(3, 99, 99, 1)}, []int64{0, 10, 2, 15}},
		{"ends that are expected together count together", Easy{Procs: 4}, []trace.Job{asked(0, 9, 10, 2), asked(0, 10, 10, 1), asked(1, 5, 5, 3), asked(2, 50, 50, 1)}, []int64{0, 0, 10, 2}},
		{"limits hold back", Easy{Procs: 2}, []trace.Job{asked(0, 10, 100, 1), asked(1, 10, 20, 2), asked(2, 3, 200, 1)}, []int64{0, 10, 20}},
		{"clairvoyant", Easy{Procs: 2, Clairvoyant: true}, []trace.Job{asked(0, 10, 100, 1), asked(1, 10, 20, 2), asked(2, 3, 200, 1)}, []int64{0, 10, 2}},
		{"first come", Easy{Procs: 2}, []trace.Job{asked(0, 10, 10, 1), asked(1, 5, 5, 2), asked(2, 6, 6, 1), asked(2, 3, 3, 1)}, []int64{0, 10, 2, 15}},
		{"shortest first", Easy{Procs: 2, ShortestFirst: true}, []trace.Job{asked(0, 10, 10, 1), asked(1, 5, 5, 2), asked(2, 8, 8, 1), asked(2, 3, 3, 1)}, []int64{0, 10, 15, 2}},
	} {
		if got := starts(c.easy.Run(c.jobs)); !slices.Equal(got, c.want) {
			t.Errorf("%s: starts %v, want %v", c.name, got, c.want)
		}
	}
}

// No schedule holds more processors than there are, or starts a job before its
// submit; with exact estimates none delays the first in the queue: without the
// jobs behind it, it would not start earlier.
func TestEasyIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Easy{Procs: rapid.IntRange(1, 8).Draw(t, "procs"), ShortestFirst: rapid.Bool().Draw(t, "sjbf")}
		var jobs []trace.Job
		at := int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "jobs") {
			at += rapid.Int64Range(0, 5).Draw(t, "gap")
			run := rapid.Int64Range(1, 12).Draw(t, "run")
			jobs = append(jobs, asked(at, run, run+rapid.Int64Range(0, 9).Draw(t, "over"), rapid.IntRange(1, e.Procs).Draw(t, "width")))
		}
		out := e.Run(jobs)
		for i := range out {
			held := int64(0)
			for k := range out {
				if out[k].Start <= out[i].Start && out[i].Start < out[k].End {
					held += out[k].Procs
				}
			}
			if out[i].Start < jobs[i].Submit || out[i].End != out[i].Start+jobs[i].Run || held > int64(e.Procs) {
				t.Fatalf("job %d: %+v with %d processors held of %d", i, out[i], held, e.Procs)
			}
		}
	})
}

func BenchmarkEasy(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	jobs := make([]trace.Job, 28_481)
	at := int64(0)
	for i := range jobs {
		at += int64(r.Intn(2000))
		run := int64(r.ExpFloat64()*8000) + 1
		jobs[i] = asked(at, run, run*int64(1+r.Intn(6)), 1+r.Intn(16))
	}
	e := Easy{Procs: 100}
	for b.Loop() {
		e.Run(jobs)
	}
	b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
}
