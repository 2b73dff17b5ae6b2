package trace

import (
	"strconv"
	"strings"

	"muster/internal/bitset"
	"muster/job"
)

// joined puts a task of an array to those that are in the workload, or makes it
// the first task of one. False: it is a job of its own.
func joined(w *Workload, arrays map[string]int, r *row, j *Job) bool {
	array, index, ok := strings.Cut(r.text("JobID"), "_")
	n, err := strconv.ParseUint(index, 10, 31)
	if !ok || err != nil {
		return false
	}
	// All that makes the request: tasks that were changed, or requeued and are
	// listed again, are apart.
	key := strings.Join([]string{array, r.text("Submit"), r.text("Partition"), r.text("QOS"), strconv.FormatInt(j.Limit, 10),
		strconv.Itoa(j.Procs), r.either("ReqNodes", "NNodes", "AllocNodes"), r.either("ReqTRES", "AllocTRES"), r.either("Constraints")}, "|")
	at, found := arrays[key]
	if found && w.Jobs[at].Array.Tasks.Has(int(n)) {
		return false
	}
	if !found {
		at = len(w.Jobs)
		arrays[key] = at
		j.Array = &Array{Tasks: new(bitset.Set), Runs: map[uint32]int64{}}
		w.Jobs = append(w.Jobs, *j)
	}
	first := &w.Jobs[at]
	first.Run = max(first.Run, j.Run)
	first.Array.add(uint32(n), j.Run)
	return true
}

// add adds a task that ran so many seconds.
func (a *Array) add(index uint32, run int64) {
	a.Tasks.Add(int(index))
	a.Runs[index] = run
	a.Bounds = job.ArrayBounds{Count: uint32(a.Tasks.Len()), Min: uint32(a.Tasks.Next(0)), Max: uint32(a.Tasks.Max()), Step: 1}
}
