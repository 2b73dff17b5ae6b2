package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/gres"
	"muster/job"
)

// Sacct reads what sacct -P prints (fields separated by |, with a header). Needed
// are JobID and Submit, and Start and End or ElapsedRaw. What else is there is
// used: User, Account, QOS, Partition, Constraints, NCPUS or ReqCPUS, NNodes or
// ReqNodes, ReqTRES or AllocTRES (memory, GPUs), TimelimitRaw or Timelimit.
// Steps, and jobs that never started, are left out. Tasks of one array that were
// submitted together and ask for the same are one job with an Array; what throttled
// them is not in that output. An error names the line.
func Sacct(data []byte) (*Workload, error) {
	w := &Workload{}
	var r *row
	arrays := map[string]int{} // places of arrays in w.Jobs
	err := lines(data, func(n int, line []byte) error {
		fields := strings.Split(string(line), "|")
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			return nil
		case r == nil:
			r = &row{columns: map[string]int{}}
			for i, name := range fields {
				r.columns[name] = i
			}
			return needColumns(r, "JobID", "Submit")
		}
		r.values, r.err = fields, nil
		if strings.Contains(r.text("JobID"), ".") {
			return nil // a step
		}
		j, ran, err := sacctJob(r)
		if err != nil {
			return fmt.Errorf("line %d: job %s: %w", n, r.text("JobID"), err)
		}
		if ran && !joined(w, arrays, r, &j) {
			w.Jobs = append(w.Jobs, j)
		}
		return nil
	})
	if err == nil && r == nil {
		err = fmt.Errorf("it is empty, want the header of sacct -P")
	}
	return w, err
}

func needColumns(r *row, names ...string) error {
	for _, name := range names {
		if _, ok := r.columns[name]; !ok {
			return fmt.Errorf("the header has no field %s", name)
		}
	}
	return nil
}

// either is the first of some fields that says something.
func (r *row) either(names ...string) string {
	for _, name := range names {
		switch text := r.text(name); text {
		case "", "Unknown", "None", "N/A", "INVALID":
		default:
			return text
		}
	}
	return ""
}

// sacctJob makes a job of a line; false if it never started.
func sacctJob(r *row) (Job, bool, error) {
	j := Job{User: r.text("User"), Account: r.text("Account"), QOS: r.text("QOS"), Limit: -1}
	id, _, _ := strings.Cut(r.text("JobID"), "_")
	id, _, _ = strings.Cut(id, "+")
	j.ID, _ = strconv.ParseInt(id, 10, 64) // only shown
	submit, err := sacctTime(r.text("Submit"))
	if err != nil {
		return j, false, err
	}
	j.Submit = submit
	if j.Run, err = sacctRun(r); err != nil || j.Run <= 0 {
		return j, false, err
	}
	if j.Limit, err = sacctLimit(r); err != nil {
		return j, false, err
	}
	q := &job.Request{}
	j.Request = q
	if p := r.text("Partition"); p != "" {
		q.Partitions = strings.Split(p, ",")
	}
	if c := r.either("Constraints"); c != "" {
		q.Place.Constraint = c
	}
	cpus, err := sacctNumber(r, "ReqCPUS", "NCPUS", "AllocCPUS")
	if err != nil {
		return j, false, err
	}
	nodes, err := sacctNumber(r, "ReqNodes", "NNodes", "AllocNodes")
	if err != nil {
		return j, false, err
	}
	j.Procs, j.Held = int(max(1, cpus)), int(max(1, cpus))
	q.Size = job.Size{Tasks: uint32(j.Procs), CPUsPerTask: 1, MinCPUs: uint32(j.Procs), MinNodes: uint32(nodes)}
	if err := sacctTRES(r.either("ReqTRES", "AllocTRES"), max(1, uint64(nodes)), q); err != nil {
		return j, false, err
	}
	if untracked(r.either("AllocTRES")) {
		q.Memory = job.Memory{Per: job.MemoryPerNode, MB: 1}
	}
	return j, true, nil
}

// untracked tells from what a job held that its cluster does not give memory away.
// ReqTRES of Slurm 26.05 then names all of a node's, which no job waited for.
func untracked(held string) bool {
	return held != "" && !strings.HasPrefix(held, "mem=") && !strings.Contains(held, ",mem=")
}

// sacctTime reads a time as sacct writes it, in seconds.
func sacctTime(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil // SLURM_TIME_FORMAT=%s
	}
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fmt.Errorf("time %q, want 2006-01-02T15:04:05 or seconds", text)
	}
	return t.Unix(), nil
}

// sacctRun is how long a job ran, in seconds; 0 if it did not start.
func sacctRun(r *row) (int64, error) {
	if text := r.either("ElapsedRaw"); text != "" {
		return strconv.ParseInt(text, 10, 64)
	}
	from, to := r.either("Start"), r.either("End")
	if from == "" || to == "" {
		return 0, nil
	}
	start, err := sacctTime(from)
	if err != nil {
		return 0, err
	}
	end, err := sacctTime(to)
	return end - start, err
}

// sacctLimit is the time limit in seconds, -1 if there is none.
func sacctLimit(r *row) (int64, error) {
	if text := r.either("TimelimitRaw"); text != "" && text != "UNLIMITED" && text != "Partition_Limit" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("TimelimitRaw is %q, want minutes", text)
		}
		return n * 60, nil
	}
	text := r.either("Timelimit")
	if text == "" || text == "UNLIMITED" || text == "Partition_Limit" {
		return -1, nil
	}
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	var d, h, m, s int64
	if _, err := fmt.Sscanf(days+" "+rest, "%d %d:%d:%d", &d, &h, &m, &s); err != nil {
		return 0, fmt.Errorf("Timelimit is %q, want days-hours:minutes:seconds", text)
	}
	return ((d*24+h)*60+m)*60 + s, nil
}

func sacctNumber(r *row, names ...string) (int64, error) {
	text := r.either(names...)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q, want a whole number", strings.Join(names, " or "), text)
	}
	return n, nil
}

// sacctTRES takes memory and GPUs, which it counts over all nodes, from a list
// such as cpu=4,mem=16G,node=2,gres/gpu=2,gres/gpu:a100=2.
func sacctTRES(text string, nodes uint64, q *job.Request) error {
	gpus, typed := uint64(0), uint64(0)
	kind := ""
	for item := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			continue
		}
		switch {
		case name == "mem":
			mb, err := megabytes(value)
			if err != nil {
				return err
			}
			q.Memory = job.Memory{Per: job.MemoryPerNode, MB: max(1, mb/nodes)}
		case name == "gres/gpu", strings.HasPrefix(name, "gres/gpu:"):
			n, err := strconv.ParseUint(value, 10, 32)
			if err != nil {
				return fmt.Errorf("%s is %q, want a whole number", name, value)
			}
			if t := strings.TrimPrefix(name, "gres/gpu:"); t != name {
				kind, typed = t, n
			} else {
				gpus = n
			}
		}
	}
	if gpus = max(gpus, typed); gpus > 0 {
		if typed != gpus {
			kind = "" // of several types
		}
		q.Gres.PerJob = gres.Spec{{Name: "gpu", Type: kind, Count: gpus}}
	}
	return nil
}

// megabytes reads a size such as 4000M, 1.5G or 16T.
func megabytes(text string) (uint64, error) {
	unit := uint64(1)
	number := text
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'K':
			number, unit = text[:n-1], 0
		case 'M':
			number = text[:n-1]
		case 'G':
			number, unit = text[:n-1], 1<<10
		case 'T':
			number, unit = text[:n-1], 1<<20
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || x < 0 || x > 1<<40 {
		return 0, fmt.Errorf("mem is %q, want a size such as 4000M or 16G", text)
	}
	if unit == 0 {
		return uint64(x / 1024), nil
	}
	return uint64(x * float64(unit)), nil
}
