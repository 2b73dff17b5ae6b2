package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// Order is the order of lines that squeue -S asks for.
type Order struct {
	Needs uint32 // parts of the record that it compares
	keys  []orderKey
}

type orderKey struct {
	reverse bool
	compare func(x *Context, a, b *api.JobRecord) int
}

// defaultOrder is by partition, state and falling priority.
const defaultOrder = "P,t,-p"

// JobOrder reads what squeue -S takes: letters of -o with - for the reverse
// order, commas between them are optional. "" is the default.
func JobOrder(text string) (*Order, error) {
	if text == "" {
		text = defaultOrder
	}
	o := new(Order)
	reverse := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ',' || c == '+':
			reverse = false
			continue
		case c == '-':
			reverse = true
			continue
		case len(text)-i >= 7 && strings.EqualFold(text[i:i+7], "cluster"):
			i += 6 // one cluster: nothing to compare
			continue
		}
		compare := jobCompare(c)
		if compare == nil {
			return nil, fmt.Errorf("Invalid sort specification: %c", c) //lint:ignore ST1005 Slurm's text
		}
		o.keys = append(o.keys, orderKey{reverse, compare})
		reverse = false
		if f := byLetter(JobFields(), c); f != nil {
			o.Needs |= f.Needs
		}
	}
	return o, nil
}

// Sort puts jobs into order, in place. Equal ones are by falling start, those
// without one last, as squeue leaves them.
func (o *Order) Sort(jobs []*api.JobRecord, x *Context) {
	slices.SortStableFunc(jobs, func(a, b *api.JobRecord) int {
		for i := range o.keys {
			k := &o.keys[i]
			if d := k.compare(x, a, b); d != 0 {
				if k.reverse {
					return -d
				}
				return d
			}
		}
		return startCompare(b, a, true)
	})
}

// startCompare compares start times; jobs without one come last, also where the
// order is reversed.
func startCompare(a, b *api.JobRecord, reversed bool) int {
	s, t := StartTime(a), StartTime(b)
	if s == 0 || t == 0 {
		d := cmp.Compare(boolInt(s == 0), boolInt(t == 0))
		if reversed {
			return -d
		}
		return d
	}
	return cmp.Compare(s/1000, t/1000) // Slurm counts seconds: those of one second stay by number
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number makes a comparison of numbers or texts.
func number[N cmp.Ordered](get func(*api.JobRecord) N) func(*Context, *api.JobRecord, *api.JobRecord) int {
	return func(_ *Context, a, b *api.JobRecord) int { return cmp.Compare(get(a), get(b)) }
}

// jobCompare compares jobs by the field of a letter; nil if none can be sorted by.
func jobCompare(letter byte) func(x *Context, a, b *api.JobRecord) int {
	switch letter {
	case 'i':
		return func(_ *Context, a, b *api.JobRecord) int { return idCompare(a, b) }
	case 'c':
		return number(func(r *api.JobRecord) uint32 { return MinCPUs(request(r)) })
	case 'C':
		return number(func(r *api.JobRecord) uint32 { return r.Count.CPUs })
	case 'd':
		return number(func(r *api.JobRecord) uint64 { return request(r).Place.TmpDiskMB })
	case 'D':
		return number(func(r *api.JobRecord) uint32 { return r.Count.Nodes })
	case 'e':
		return number(EndTime)
	case 'G':
		return number(func(r *api.JobRecord) uint32 { return r.Owner.GID })
	case 'U':
		return number(func(r *api.JobRecord) uint32 { return r.Owner.UID })
	case 'l':
		return number(func(r *api.JobRecord) job.Minutes { return r.Times.Limit })
	case 'L':
		return func(x *Context, a, b *api.JobRecord) int { return cmp.Compare(timeLeft(a, x.Now), timeLeft(b, x.Now)) }
	case 'm':
		return number(func(r *api.JobRecord) uint64 { return r.Memory.MB })
	case 'M':
		return func(x *Context, a, b *api.JobRecord) int {
			return cmp.Compare(RunSeconds(a, x.Now), RunSeconds(b, x.Now))
		}
	case 'P':
		return number(func(r *api.JobRecord) string { return r.Partition })
	case 't', 'T':
		return number(func(r *api.JobRecord) string { return job.Word(r.State, r.Flags, letter == 't') })
	case 'u':
		return number(func(r *api.JobRecord) string { return r.Owner.User })
	case 'p', 'Q':
		return number(func(r *api.JobRecord) uint32 { return r.Priority })
	case 'S':
		return func(_ *Context, a, b *api.JobRecord) int { return startCompare(a, b, false) }
	case 'V':
		return number(func(r *api.JobRecord) job.Time { return r.Times.Submit })
	case 'H', 'I', 'J':
		return number(func(r *api.JobRecord) uint16 { return shapeOf(request(r), letter) })
	case 'n', 'O':
		return func(*Context, *api.JobRecord, *api.JobRecord) int { return 0 } // as in Slurm
	case 'b', 'B', 'f', 'g', 'h', 'j', 'N', 'v', 'z':
		return textCompare(letter)
	}
	return nil
}

// textCompare compares what the field of a letter prints.
func textCompare(letter byte) func(x *Context, a, b *api.JobRecord) int {
	f := byLetter(JobFields(), letter)
	return func(x *Context, a, b *api.JobRecord) int {
		return strings.Compare(string(f.Text(nil, x, a)), string(f.Text(nil, x, b)))
	}
}

func shapeOf(q *job.Request, letter byte) uint16 {
	switch letter {
	case 'H':
		return q.Size.SocketsPerNode
	case 'I':
		return q.Size.CoresPerSocket
	}
	return q.Size.ThreadsPerCore
}

func timeLeft(r *api.JobRecord, now job.Time) int64 {
	return int64(r.Times.Limit)*60 - RunSeconds(r, now)
}

// idCompare orders by job, tasks of an array by index, components by offset.
func idCompare(a, b *api.JobRecord) int {
	if d := cmp.Compare(family(a), family(b)); d != 0 {
		return d
	}
	if d := cmp.Compare(a.Het.Offset, b.Het.Offset); d != 0 {
		return d
	}
	return cmp.Compare(firstTask(a), firstTask(b))
}

// family is the id of the array or heterogeneous job that a job belongs to, or
// its own.
func family(r *api.JobRecord) job.ID {
	switch {
	case r.Het.Leader != 0:
		return r.Het.Leader
	case r.Array.JobID != 0:
		return r.Array.JobID
	}
	return r.ID
}

// firstTask is a task's index; the tasks that wait come last.
func firstTask(r *api.JobRecord) uint32 {
	if r.Array.Waiting != "" {
		return job.NoTask
	}
	return r.Array.Task
}

// SplitArrays gives each task that waits a record of its own (squeue --array).
func SplitArrays(jobs []*api.JobRecord) []*api.JobRecord {
	out := make([]*api.JobRecord, 0, len(jobs))
	for _, r := range jobs {
		if r.Array.Waiting == "" {
			out = append(out, r)
			continue
		}
		a, err := slurm.ParseArray(r.Array.Waiting, slurm.MaxArrayIndex+1)
		if err != nil { // not what a controller sends; show it unsplit
			out = append(out, r)
			continue
		}
		for task := range a.Tasks.All {
			one := *r
			one.Array.Waiting, one.Array.Task = "", uint32(task)
			out = append(out, &one)
		}
	}
	return out
}

// JoinArrays puts the tasks of an array that wait as records of their own, since
// they were changed or held singly, together with the rest of the array.
func JoinArrays(jobs []*api.JobRecord) []*api.JobRecord {
	rest := map[job.ID]*api.JobRecord{}
	for _, r := range jobs {
		if r.Array.Waiting != "" && r.State == job.Pending {
			rest[r.Array.JobID] = r
		}
	}
	if len(rest) == 0 {
		return jobs
	}
	out := make([]*api.JobRecord, 0, len(jobs))
	joined := map[job.ID][]string{}
	for _, r := range jobs {
		with := rest[r.Array.JobID]
		if with == nil || r == with || r.State != job.Pending || r.Array.JobID == 0 || r.Name != with.Name || r.Partition != with.Partition {
			out = append(out, r)
			continue
		}
		joined[r.Array.JobID] = append(joined[r.Array.JobID], string(appendUint(nil, r.Array.Task)))
		if why := Reason(r); !strings.Contains(Reason(with), why) {
			with.Detail = Reason(with) + "," + why
		}
	}
	for id, tasks := range joined {
		list := strings.Join(append(tasks, rest[id].Array.Waiting), ",")
		if a, err := slurm.ParseArray(list, slurm.MaxArrayIndex+1); err == nil {
			rest[id].Array.Waiting = slurm.FormatIndices(a.Tasks)
		}
	}
	return out
}

// SplitPartitions gives a job that waits for one of several partitions a record
// for each (squeue --priority); only those in the list, if there is one.
func SplitPartitions(jobs []*api.JobRecord, only []string) []*api.JobRecord {
	out := make([]*api.JobRecord, 0, len(jobs))
	for _, r := range jobs {
		if r.State != job.Pending || !strings.Contains(r.Partition, ",") {
			out = append(out, r)
			continue
		}
		for p := range strings.SplitSeq(r.Partition, ",") {
			if len(only) > 0 && !slices.Contains(only, p) {
				continue
			}
			one := *r
			one.Partition = p
			out = append(out, &one)
		}
	}
	return out
}
