package format

import (
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/internal/hostlist"
	"muster/job"
)

// null is what Slurm prints for a text that is not set.
const null = "(null)"

// appendOr writes s, or instead if it is empty.
func appendOr(dst []byte, s, instead string) []byte {
	if s == "" {
		s = instead
	}
	return append(dst, s...)
}

func appendUint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, n T) []byte {
	return strconv.AppendUint(dst, uint64(n), 10)
}

// request is the request of a record, an empty one if it was not sent.
func request(r *api.JobRecord) *job.Request {
	if r.Request == nil {
		return new(job.Request)
	}
	return r.Request
}

// listLength is how much of an array's index list is shown (SLURM_BITSTR_LEN).
const listLength = 64

// WaitingList is the index list of an array's tasks not started with its
// throttle, cut to 64 bytes unless whole is set.
func WaitingList(r *api.JobRecord, whole bool) string {
	s := r.Array.Waiting
	if r.Array.Limit != 0 {
		s += "%" + strconv.FormatUint(uint64(r.Array.Limit), 10)
	}
	if len(s) <= listLength || whole {
		return s
	}
	cut := strings.LastIndexByte(s[:listLength-4], ',')
	return s[:cut+1] + "..."
}

// AppendJobID writes a job's name: 12, 12_3, 12_[4-9%2] or 12+1.
func AppendJobID(dst []byte, r *api.JobRecord) []byte {
	switch {
	case r.Array.Waiting != "":
		dst = append(appendUint(dst, r.Array.JobID), "_["...)
		return append(append(dst, WaitingList(r, false)...), ']')
	case r.Array.JobID != 0:
		return appendUint(append(appendUint(dst, r.Array.JobID), '_'), r.Array.Task)
	case r.Het.Leader != 0:
		return appendUint(append(appendUint(dst, r.Het.Leader), '+'), r.Het.Offset)
	}
	return appendUint(dst, r.ID)
}

// Reason is the word or text for why a job waits or how it ended.
func Reason(r *api.JobRecord) string {
	if r.Detail != "" {
		return r.Detail
	}
	return r.Reason.String()
}

// acctReason is why a job waited last. What ended it is no such reason.
func acctReason(r *api.JobRecord) string {
	if r.Reason == job.ReasonNonZeroExitCode || r.State.Ended() && r.Detail != "" {
		return job.ReasonNone.String()
	}
	return Reason(r)
}

// showsReason tells whether NODELIST(REASON) is the reason.
func showsReason(r *api.JobRecord) bool {
	if r.Flags&job.Completing != 0 {
		return false
	}
	switch r.State {
	case job.Pending, job.Timeout, job.OutOfMemory, job.Deadline, job.Failed:
		return true
	}
	return r.Flags&job.StageOut != 0
}

// RunSeconds is how long a job ran, or has run by now, suspended time left out.
func RunSeconds(r *api.JobRecord, now job.Time) int64 {
	t := &r.Times
	if t.Start == 0 || r.State == job.Pending {
		return 0
	}
	if r.State == job.Suspended {
		return int64(t.PreSusp) / 1000
	}
	end := t.End
	if r.State == job.Running || end == 0 {
		end = now
	}
	if t.Suspend != 0 {
		return end.Unix() - t.Suspend.Unix() + int64(t.PreSusp)/1000
	}
	return end.Unix() - t.Start.Unix()
}

// StartTime is the start, or the planned one of a job that waits.
func StartTime(r *api.JobRecord) job.Time {
	if r.State == job.Pending {
		return max(r.Times.Planned, beginTime(r))
	}
	return r.Times.Start
}

// beginTime is the time before which a waiting job does not start.
func beginTime(r *api.JobRecord) job.Time {
	if q := r.Request; q != nil && q.Timing.Begin > r.Times.Submit && r.Times.Eligible == q.Timing.Begin {
		return r.Times.Eligible
	}
	if r.Reason == job.ReasonBeginTime {
		return r.Times.Eligible
	}
	return 0
}

// EndTime is the end, or the latest one of a job that has not ended.
func EndTime(r *api.JobRecord) job.Time {
	switch {
	case r.State != job.Pending && r.Times.End != 0:
		return r.Times.End
	case r.State != job.Pending:
		return r.Times.LimitEnd
	}
	start := StartTime(r)
	if start == 0 || r.Times.Limit == job.Unlimited {
		return 0
	}
	return start.Add(r.Times.Limit.Duration())
}

// AppendStar writes a count, or * if none was asked for.
func AppendStar(dst []byte, n uint16) []byte {
	if n == 0 {
		return append(dst, '*')
	}
	return appendUint(dst, n)
}

// appendNA writes a count, or N/A if none was asked for.
func appendNA(dst []byte, n uint16) []byte {
	if n == 0 {
		return append(dst, "N/A"...)
	}
	return appendUint(dst, n)
}

// AppendSpec writes generic resources as TresPerNode shows them: gres/gpu:2.
func AppendSpec(dst []byte, spec gres.Spec) []byte {
	for i, g := range spec {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, "gres/"...), g.Name...)
		if g.Type != "" {
			dst = append(append(dst, ':'), g.Type...)
		}
		dst = appendUint(append(dst, ':'), g.Count)
	}
	return dst
}

// AppendPerTask writes what each task asked for: cpu=2,gres/gpu=1.
func AppendPerTask(dst []byte, q *job.Request) []byte {
	at := len(dst)
	if q.Size.CPUsPerTask != 0 {
		dst = appendUint(append(dst, "cpu="...), q.Size.CPUsPerTask)
	}
	if len(q.Gres.PerTask) > 0 {
		if len(dst) > at {
			dst = append(dst, ',')
		}
		for i, g := range q.Gres.PerTask {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, "gres/"...), g.Name...)
			if g.Type != "" {
				dst = append(append(dst, ':'), g.Type...)
			}
			dst = appendUint(append(dst, '='), g.Count)
		}
	}
	return dst
}

// OverSubscribe is the word for who else may be on the job's cores.
func OverSubscribe(q *job.Request) string {
	if q.Place.Sharing == job.Oversubscribe {
		return "YES"
	}
	return "NO"
}

// Exclusive is the word for who else may be on the job's nodes.
func Exclusive(q *job.Request) string {
	switch q.Place.Sharing {
	case job.Exclusive:
		return "NODE"
	case job.ExclusiveUser:
		return "USER"
	case job.ExclusiveMCS:
		return "MCS"
	case job.ExclusiveTopo:
		return "TOPO"
	}
	return "NO"
}

// Command is the script with its arguments, "" if it came from standard input.
func Command(q *job.Request) string {
	if q.Batch.Command == "" || len(q.Batch.Args) == 0 {
		return q.Batch.Command
	}
	return q.Batch.Command + " " + strings.Join(q.Batch.Args, " ")
}

// MinCPUs is the least number of CPUs on each node.
func MinCPUs(q *job.Request) uint32 {
	s := &q.Size
	perNode := uint32(max(s.CPUsPerTask, 1))
	if !s.Overcommit {
		perNode *= uint32(max(s.TasksPerNode, 1))
	}
	return max(uint32(s.MinCPUsPerNode), perNode)
}

// NodeNames writes names of nodes as a host list in their order by number.
func NodeNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	sorted := append([]string(nil), names...)
	hostlist.Sort(sorted)
	return hostlist.Compress(sorted)
}

// crockford are the digits of a SLUID.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// AppendSLUID writes a SLUID: s and 13 digits to base 32.
func AppendSLUID(dst []byte, id uint64) []byte {
	dst = append(dst, 's')
	for shift := 60; shift >= 0; shift -= 5 {
		dst = append(dst, crockford[id>>shift&31])
	}
	return dst
}

// AppendExit writes code:signal.
func AppendExit(dst []byte, code uint32, signal uint8) []byte {
	return appendUint(append(appendUint(dst, code), ':'), signal)
}

// appendPriority writes a priority as a fraction of 2^32-1, with 14 decimals.
func appendPriority(dst []byte, p uint32) []byte {
	return strconv.AppendFloat(dst, float64(p)/float64(1<<32-1), 'f', 14, 64)
}

// names fills in file name patterns.
func names(r *api.JobRecord) *slurm.Names {
	n := &slurm.Names{
		Job: r.ID, ArrayTask: job.NoTask, Name: r.Name, User: r.Owner.User, Node: r.BatchHost,
		Restarts: r.Attempt, SLUID: string(AppendSLUID(nil, r.SLUID)), Step: "batch",
	}
	if r.Array.JobID != 0 {
		n.ArrayJob = r.Array.JobID
		if r.Array.Waiting == "" {
			n.ArrayTask = r.Array.Task
		}
	}
	return n
}

// StdinPath, StdoutPath and StderrPath are where the batch script's streams go,
// with patterns filled in if expand is set; "" if there is no script.
func StdinPath(r *api.JobRecord, expand bool) string {
	q := request(r)
	if q.Interactive {
		return ""
	}
	if q.Batch.Stdin == "" {
		return "/dev/null"
	}
	return path(r, q.Batch.Stdin, expand)
}

// StdoutPath is the file that the batch script writes to; see StdinPath.
func StdoutPath(r *api.JobRecord, expand bool) string {
	q := request(r)
	switch {
	case q.Interactive:
		return ""
	case q.Batch.Stdout != "":
		return path(r, q.Batch.Stdout, expand)
	}
	name := "slurm-%j.out"
	if r.Array.JobID != 0 {
		name = "slurm-%A_%a.out"
	}
	if !expand {
		return name // Slurm keeps no directory with the default
	}
	return path(r, name, true)
}

// StderrPath is the file for errors, "" if it is that of the output.
func StderrPath(r *api.JobRecord, expand bool) string {
	q := request(r)
	if q.Batch.Stderr == "" || q.Interactive {
		return ""
	}
	return path(r, q.Batch.Stderr, expand)
}

func path(r *api.JobRecord, name string, expand bool) string {
	if expand {
		name = slurm.ExpandPattern(name, names(r))
	}
	if !strings.HasPrefix(name, "/") {
		name = strings.TrimSuffix(request(r).Batch.WorkDir, "/") + "/" + name
	}
	return name
}
