package format

import (
	"cmp"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/bitset"
	"muster/job"
)

// record builds the text of one record of scontrol show: lines of Key=value.
type record struct {
	dst  []byte
	line string // what begins a new line
}

// newRecord begins a record: one line in all, or several.
func newRecord(dst []byte, oneLine bool) *record {
	if oneLine {
		return &record{dst, " "}
	}
	return &record{dst, "\n   "}
}

// next begins a new line with the first of its pairs.
func (w *record) next(key, value string) *record {
	w.dst = append(w.dst, w.line...)
	return w.first(key, value)
}

// first writes a pair without anything before it.
func (w *record) first(key, value string) *record {
	w.dst = append(append(append(w.dst, key...), '='), value...)
	return w
}

// and writes a pair on the same line.
func (w *record) and(key, value string) *record {
	w.dst = append(w.dst, ' ')
	return w.first(key, value)
}

// end ends the record: with an empty line, or just the line.
func (w *record) end() []byte {
	if w.line == " " {
		return append(w.dst, '\n')
	}
	return append(w.dst, "\n\n"...)
}

func decimal[N ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) string { return unsigned(n) }

// orNull is s, or (null).
func orNull(s string) string { return appendText(s, null) }

// digit is 1 or 0.
func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// moment writes a time for scontrol.
func moment(x *Context, t job.Time, none string) string { return string(x.Times.Append(nil, t, none)) }

// AppendJob writes one job as scontrol show job does (scontrol(1)); details adds
// what it holds on each node.
func AppendJob(dst []byte, x *Context, r *api.JobRecord, oneLine, details bool) []byte {
	w := newRecord(dst, oneLine)
	q := request(r)
	jobHead(w, r)
	if details {
		w.next("SLUID", string(AppendSLUID(nil, r.SLUID)))
	}
	w.next("UserId", r.Owner.User+"("+decimal(r.Owner.UID)+")").and("GroupId", r.Owner.Group+"("+decimal(r.Owner.GID)+")").and("MCS_label", "N/A")
	w.next("Priority", decimal(r.Priority)).and("Nice", strconv.Itoa(int(q.Nice))).and("Account", r.Account).and("QOS", r.QOS)
	if q.WCKey != "" {
		w.and("WCKey", q.WCKey)
	}
	w.next("JobState", job.Word(r.State, r.Flags, false)).and("Reason", strings.ReplaceAll(Reason(r), " ", "_")).and("Dependency", orNull(r.Deps))
	end := r.End
	if end == nil {
		end = new(job.Result)
	}
	w.next("Requeue", digit(q.Requeue)).and("Restarts", decimal(r.Attempt)).and("BatchFlag", digit(!q.Interactive)).and("Reboot", "0").and("ExitCode", string(AppendExit(nil, end.ExitCode, end.Signal)))
	if details {
		w.next("DerivedExitCode", string(AppendExit(nil, end.Derived, end.DerivedSig)))
	}
	jobMoments(w, x, r, q)
	jobNodes(w, r, q)
	jobSizes(w, x, r, q, details)
	jobScript(w, r, q)
	return w.end()
}

// jobHead writes who the job is.
func jobHead(w *record, r *api.JobRecord) {
	w.first("JobId", decimal(r.ID))
	switch {
	case r.Array.JobID != 0:
		w.and("ArrayJobId", decimal(r.Array.JobID))
		if r.Array.Waiting != "" {
			w.and("ArrayTaskId", WaitingList(r, false))
		} else {
			w.and("ArrayTaskId", decimal(r.Array.Task))
		}
		if r.Array.Limit != 0 {
			w.and("ArrayTaskThrottle", decimal(r.Array.Limit))
		}
	case r.Het.Leader != 0:
		w.and("HetJobId", decimal(r.Het.Leader)).and("HetJobOffset", decimal(r.Het.Offset))
	}
	w.and("JobName", r.Name)
	if r.Het.Leader != 0 {
		w.next("HetJobIdSet", HetIDs(&r.Het))
	}
}

// jobMoments writes times and spans.
func jobMoments(w *record, x *Context, r *api.JobRecord, q *job.Request) {
	t := &r.Times
	least := "N/A"
	if q.Timing.MinLimit != 0 {
		least = string(slurm.AppendLimit(nil, q.Timing.MinLimit))
	}
	w.next("RunTime", string(slurm.AppendSpan(nil, RunSeconds(r, x.Now)))).and("TimeLimit", string(slurm.AppendLimit(nil, t.Limit))).and("TimeMin", least)
	w.next("SubmitTime", moment(x, t.Submit, "Unknown")).and("EligibleTime", moment(x, t.Eligible, "Unknown"))
	w.next("AccrueTime", moment(x, t.Accrue, "Unknown"))
	w.next("StartTime", moment(x, StartTime(r), "Unknown")).and("EndTime", moment(x, EndTime(r), "Unknown")).and("Deadline", moment(x, q.Timing.Deadline, "N/A"))
	if q.Cron.Spec != "" {
		w.next("CronJob", "Yes").and("CrontabSpec", `"`+q.Cron.Spec+`"`)
	}
	looked, who := t.Start, "Main"
	if r.State == job.Pending {
		looked, who = max(t.Submit, t.Eligible), "Main"
	}
	w.next("SuspendTime", moment(x, t.Suspend, "None")).and("SecsPreSuspend", strconv.FormatInt(int64(t.PreSusp)/1000, 10)).
		and("LastSchedEval", moment(x, looked, "Unknown")).and("Scheduler", who)
}

// jobNodes writes where it runs.
func jobNodes(w *record, r *api.JobRecord, q *job.Request) {
	w.next("Partition", r.Partition).and("AllocNode:Sid", q.Batch.SubmitHost+":0")
	w.next("ReqNodeList", orNull(NodeNames(q.Place.Nodes))).and("ExcNodeList", orNull(NodeNames(q.Place.Exclude)))
	w.next("NodeList", r.Nodes)
	if r.SchedNodes != "" {
		w.and("SchedNodeList", r.SchedNodes)
	}
	if r.BatchHost != "" {
		w.next("BatchHost", r.BatchHost)
	}
}

// askedNodes is how many nodes a job that waits asks for: a number, a range, or
// sizes.
func askedNodes(r *api.JobRecord, q *job.Request) string {
	least, most := r.Count.Nodes, r.Count.MaxNodes
	switch {
	case len(q.Size.NodeCounts) > 0:
		sizes := new(bitset.Set)
		for _, n := range q.Size.NodeCounts {
			sizes.Add(int(n))
		}
		return slurm.FormatIndices(sizes)
	case most == 0:
		return decimal(least)
	}
	return decimal(min(least, most)) + "-" + decimal(most)
}

// jobSizes writes counts and resources.
func jobSizes(w *record, x *Context, r *api.JobRecord, q *job.Request, details bool) {
	nodes := decimal(r.Count.Nodes)
	if r.State == job.Pending {
		nodes = askedNodes(r, q)
	}
	s := &q.Size
	w.next("NumNodes", nodes).and("NumCPUs", decimal(r.Count.CPUs)).and("NumTasks", decimal(r.Count.Tasks)).and("CPUs/Task", decimal(max(s.CPUsPerTask, 1))).
		and("ReqB:S:C:T", "0:0:"+star(s.CoresPerSocket)+":"+star(s.ThreadsPerCore))
	w.next("ReqTRES", orNull(string(slurm.AppendTRES(nil, &r.Asked, x.Unit))))
	w.next("AllocTRES", orNull(string(slurm.AppendTRES(nil, &r.Used, x.Unit))))
	w.next("Socks/Node", star(s.SocketsPerNode)).and("NtasksPerN:B:S:C", decimal(s.TasksPerNode)+":0:"+star(s.TasksPerSocket)+":"+star(s.TasksPerCore)).and("CoreSpec", coreSpec(s))
	if details && r.Alloc != nil {
		jobShares(w, r.Alloc)
	}
	memory, key := string(slurm.AppendSize(nil, r.Memory.MB, slurm.Mega, x.Unit)), "MinMemoryNode"
	switch r.Memory.Per {
	case job.MemoryPerCPU:
		key = "MinMemoryCPU"
	case job.MemoryPerGPU:
		key = "MinMemoryTRES"
	}
	w.next("MinCPUsNode", decimal(MinCPUs(q))).and(key, memory).and("MinTmpDiskNode", string(slurm.AppendSize(nil, q.Place.TmpDiskMB, slurm.Mega, x.Unit)))
	w.next("Features", orNull(q.Place.Constraint)).and("DelayBoot", "00:00:00")
	if q.Place.Prefer != "" {
		w.next("Prefer", q.Place.Prefer)
	}
	if r.Reservation != "" {
		w.next("Reservation", r.Reservation)
	}
	w.next("OverSubscribe", OverSubscribe(q)).and("Exclusive", Exclusive(q)).and("Contiguous", digit(q.Place.Contiguous)).
		and("Licenses", orNull(q.Licenses)).and("LicensesAlloc", orNull(Licenses(r.Used.Licenses))).and("Network", null)
}

func star(n uint16) string { return string(AppendStar(nil, n)) }

func coreSpec(s *job.Size) string {
	switch {
	case s.ThreadSpec != 0:
		return decimal(s.ThreadSpec) + "T"
	case s.CoreSpec != 0:
		return decimal(s.CoreSpec)
	}
	return "*"
}

// jobShares writes what a job holds on each node.
func jobShares(w *record, a *job.Allocation) {
	var total []string
	counts := map[string]uint64{}
	for i := range a.Nodes {
		for _, d := range a.Nodes[i].Devices {
			name := deviceName(&d)
			if counts[name] == 0 {
				total = append(total, name)
			}
			counts[name] += d.Count
		}
	}
	for i, name := range total {
		total[i] = name + ":" + decimal(counts[name])
	}
	w.next("JOB_GRES", orNull(strings.Join(total, ",")))
	for i := range a.Nodes {
		n := &a.Nodes[i]
		var devices []string
		for k := range n.Devices {
			d := &n.Devices[k]
			text := deviceName(d) + ":" + decimal(d.Count)
			if d.Index != nil {
				text += "(IDX:" + slurm.FormatIndices(d.Index) + ")"
			}
			devices = append(devices, text)
		}
		w.dst = append(w.dst, w.line...)
		if w.line != " " {
			w.dst = append(w.dst, ' ', ' ')
		}
		w.first("Nodes", n.Name).and("CPU_IDs", cpuIDs(n)).and("Mem", decimal(n.MemoryMB)).and("GRES", strings.Join(devices, ","))
	}
}

func deviceName(d *job.DeviceShare) string {
	if d.Type == "" {
		return d.Name
	}
	return d.Name + ":" + d.Type
}

// cpuIDs are the numbers of the CPUs that a share holds.
func cpuIDs(n *job.Share) string {
	if n.Cores == nil || n.Cores.Empty() {
		return ""
	}
	threads := int(n.CPUs) / n.Cores.Len()
	if threads <= 1 {
		return slurm.FormatIndices(n.Cores)
	}
	all := new(bitset.Set)
	for c := range n.Cores.All {
		all.AddRange(c*threads, (c+1)*threads)
	}
	return slurm.FormatIndices(all)
}

// jobScript writes the script, its files, and what else was asked for.
func jobScript(w *record, r *api.JobRecord, q *job.Request) {
	w.next("Command", orNull(Command(q)))
	w.next("SubmitLine", orNull(q.SubmitLine))
	w.next("WorkDir", q.Batch.WorkDir)
	for _, p := range [][2]string{{"AdminComment", q.AdminComment}, {"Comment", q.Comment}, {"Extra", q.Extra}} {
		if p[1] != "" {
			w.next(p[0], p[1])
		}
	}
	if !q.Interactive {
		w.next("StdErr", StderrPath(r, true))
		w.next("StdIn", StdinPath(r, true))
		w.next("StdOut", StdoutPath(r, true))
	}
	if q.Place.Segment != 0 {
		w.next("SegmentSize", decimal(q.Place.Segment))
	}
	if n := q.Place.Switches; n != 0 {
		w.next("Switches", decimal(n)+"@"+string(slurm.AppendSpan(nil, int64(cmp.Or(q.Place.SwitchWait, maxSwitchWait)))))
	}
	jobFlags(w, q)
	if q.Gres.CPUsPerGPU != 0 {
		w.next("CpusPerTres", "gres/gpu:"+decimal(q.Gres.CPUsPerGPU))
	}
	if r.Memory.Per == job.MemoryPerGPU {
		w.next("MemPerTres", "gres/gpu:"+decimal(r.Memory.MB))
	}
	for _, p := range [][2]string{
		{"TresBind", Bind(q)}, {"TresFreq", q.Gres.Freq},
		{"TresPerJob", string(AppendSpec(nil, q.Gres.PerJob))}, {"TresPerNode", string(AppendSpec(nil, q.Gres.PerNode))},
		{"TresPerSocket", string(AppendSpec(nil, q.Gres.PerSocket))}, {"TresPerTask", string(AppendPerTask(nil, q))},
	} {
		if p[1] != "" {
			w.next(p[0], p[1])
		}
	}
	if q.Mail.Types != 0 {
		w.next("MailUser", appendText(q.Mail.User, r.Owner.User)).and("MailType", slurm.FormatMailTypes(q.Mail.Types))
	}
	if q.Size.TasksPerGPU != 0 {
		w.next("NtasksPerTRES", decimal(q.Size.TasksPerGPU))
	}
}

// maxSwitchWait is Slurm's default for how long a job waits for its switches
// (slurm.conf(5), max_switch_wait), in seconds.
const maxSwitchWait = 300

// jobFlags writes the choices that are named only if they were made, on one line.
func jobFlags(w *record, q *job.Request) {
	var words []string
	for _, f := range strings.Split(strings.ToLower(q.Gres.Flags), ",") {
		switch f {
		case "disable-binding":
			words = append(words, "GresEnforceBind=No")
		case "enforce-binding":
			words = append(words, "GresEnforceBind=Yes")
		case "multiple-tasks-per-sharing":
			words = append(words, "GresOneTaskPerSharing=No")
		}
	}
	switch q.KillOnDep {
	case job.Yes:
		words = append(words, "KillOnInvalidDependent=Yes")
	case job.No:
		words = append(words, "KillOnInvalidDependent=No")
	}
	if q.Place.Spread {
		words = append(words, "SpreadJob=Yes")
	}
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if i == 0 {
			w.next(key, value)
		} else {
			w.and(key, value)
		}
	}
}
