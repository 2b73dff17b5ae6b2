package format

import (
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
)

// AcctField is one field of sacct.
type AcctField struct {
	Name  string
	Width int  // negative: set left
	Cut   bool // a text: one that is too long ends in +
	Text  func(dst []byte, x *Context, a *AcctRow) []byte
}

type acctText = func(dst []byte, x *Context, a *AcctRow) []byte

func item(name string, n uint64) gres.Item { return gres.Item{Name: name, Count: n} }

// acctFile shows the name of one of a job's files; steps have none.
func acctFile(path func(r *api.JobRecord, expand bool) string) acctText {
	return func(dst []byte, x *Context, a *AcctRow) []byte {
		if a.Step != nil {
			return dst
		}
		return append(dst, path(a.Job, x.Expand)...)
	}
}

// ofJob shows a text of jobs; steps have none.
func ofJob(get func(*api.JobRecord) string) acctText {
	return func(dst []byte, _ *Context, a *AcctRow) []byte {
		if a.Step != nil {
			return dst
		}
		return append(dst, get(a.Job)...)
	}
}

// ofBoth shows a text of the job in its steps too.
func ofBoth(get func(*api.JobRecord) string) acctText {
	return func(dst []byte, _ *Context, a *AcctRow) []byte { return append(dst, get(a.Job)...) }
}

// ofRequest shows a text of the request in the job's row.
func ofRequest(get func(*job.Request) string) acctText {
	return ofJob(func(r *api.JobRecord) string { return get(request(r)) })
}

// ofStep shows something that only steps have.
func ofStep(put func(dst []byte, x *Context, s *job.Step) []byte) acctText {
	return func(dst []byte, x *Context, a *AcctRow) []byte {
		if a.Step == nil {
			return dst
		}
		return put(dst, x, a.Step)
	}
}

func unsigned[N ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) string {
	return strconv.FormatUint(uint64(n), 10)
}

// AcctFields are the fields of sacct, in the order of sacct --helpformat.
func AcctFields() []AcctField {
	var all []AcctField
	for _, part := range [][]AcctField{acctIdentity(), acctTimes(), acctResources(), acctUsage(), acctConstant(), acctAbsent()} {
		all = append(all, part...)
	}
	return all
}

// acctIdentity: who, which and in what state.
func acctIdentity() []AcctField {
	return []AcctField{
		{"Account", 10, true, ofBoth(func(r *api.JobRecord) string { return r.Account })},
		{"AdminComment", 15, true, ofRequest(func(q *job.Request) string { return q.AdminComment })},
		{"Cluster", 10, true, func(dst []byte, x *Context, _ *AcctRow) []byte { return append(dst, x.Cluster...) }},
		{"Comment", 14, true, ofRequest(func(q *job.Request) string { return q.Comment })},
		{"Constraints", 19, true, ofRequest(func(q *job.Request) string { return q.Place.Constraint })},
		{"DBIndex", -21, false, ofBoth(func(r *api.JobRecord) string { return unsigned(r.SLUID) })},
		{"DerivedExitCode", 15, true, ofJob(func(r *api.JobRecord) string {
			if r.End == nil {
				return "0:0"
			}
			return string(AppendExit(nil, r.End.Derived, r.End.DerivedSig))
		})},
		{"Exclusive", 14, true, ofRequest(Exclusive)},
		{"ExitCode", 8, true, appendAcctExit},
		{"Extra", 14, true, ofRequest(func(q *job.Request) string { return q.Extra })},
		{"FailedNode", 8, true, ofJob(func(r *api.JobRecord) string {
			if r.End == nil {
				return ""
			}
			return r.End.FailedNode
		})},
		{"GID", 6, false, ofJob(func(r *api.JobRecord) string { return unsigned(r.Owner.GID) })},
		{"Group", 9, true, ofJob(func(r *api.JobRecord) string { return r.Owner.Group })},
		{"JobID", -12, true, func(dst []byte, _ *Context, a *AcctRow) []byte { return a.appendID(dst, false) }},
		{"JobIDRaw", -12, true, func(dst []byte, _ *Context, a *AcctRow) []byte { return a.appendID(dst, true) }},
		{"JobName", 10, true, func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return append(dst, a.Step.Name...)
			}
			return append(dst, a.Job.Name...)
		}},
		{"OriginalSLUID", 14, true, ofBoth(func(r *api.JobRecord) string { return string(AppendSLUID(nil, r.SLUID)) })},
		{"OverSubscribe", 14, true, ofRequest(OverSubscribe)},
		{"Partition", 10, true, ofJob(func(r *api.JobRecord) string { return r.Partition })},
		{"Priority", 10, false, ofJob(func(r *api.JobRecord) string { return unsigned(r.Priority) })},
		{"QOS", 10, true, ofJob(func(r *api.JobRecord) string { return r.QOS })},
		{"QOSREQ", 10, true, ofRequest(func(q *job.Request) string { return q.QOS })},
		{"Reason", 22, true, ofJob(acctReason)},
		{"Reservation", 20, true, ofJob(func(r *api.JobRecord) string {
			if r.State == job.Pending {
				return ""
			}
			return r.Reservation
		})},
		{"ReqReservation", 20, true, ofRequest(func(q *job.Request) string { return q.Reservation })},
		{"Restarts", 8, false, ofJob(func(r *api.JobRecord) string { return unsigned(r.Attempt) })},
		{"SLUID", 14, true, ofBoth(func(r *api.JobRecord) string { return string(AppendSLUID(nil, r.SLUID)) })},
		{"State", 10, true, func(dst []byte, _ *Context, a *AcctRow) []byte { return append(dst, a.state()...) }},
		{"StdErr", 20, true, acctFile(StderrPath)},
		{"StdIn", 20, true, acctFile(StdinPath)},
		{"StdOut", 20, true, acctFile(StdoutPath)},
		{"SubmitLine", 20, true, ofRequest(func(q *job.Request) string { return q.SubmitLine })},
		{"UID", 6, false, ofJob(func(r *api.JobRecord) string { return unsigned(r.Owner.UID) })},
		{"User", 9, true, ofJob(func(r *api.JobRecord) string { return r.Owner.User })},
		{"WCKey", 10, true, ofRequest(func(q *job.Request) string { return q.WCKey })},
		{"WorkDir", 20, true, ofRequest(func(q *job.Request) string { return q.Batch.WorkDir })},
	}
}

func appendAcctExit(dst []byte, _ *Context, a *AcctRow) []byte {
	if a.Step != nil {
		return AppendExit(dst, a.Step.ExitCode, a.Step.Signal)
	}
	code, signal := AcctExit(a.Job)
	return AppendExit(dst, code, signal)
}

// AcctExit is the exit code that accounting has of a job. Slurm writes the record
// of a job that it ends itself before the script has returned, so that the code
// stays 0 there; the batch step and scontrol show what the script returned.
func AcctExit(r *api.JobRecord) (code uint32, signal uint8) {
	if r.End == nil || r.State.ByController() {
		return 0, 0
	}
	return r.End.ExitCode, r.End.Signal
}

// acctTimes: moments and spans.
func acctTimes() []AcctField {
	moment := func(get func(*AcctRow) job.Time) acctText {
		return func(dst []byte, x *Context, a *AcctRow) []byte { return x.Times.Append(dst, get(a), "Unknown") }
	}
	ofStepOr := func(step func(*job.Step) job.Time, whole func(*api.JobRecord) job.Time) acctText {
		return moment(func(a *AcctRow) job.Time {
			if a.Step != nil {
				return step(a.Step)
			}
			return whole(a.Job)
		})
	}
	begun := func(s *job.Step) job.Time { return s.Start }
	return []AcctField{
		{"CPUTime", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte {
			return slurm.AppendSpan(dst, a.elapsed(x.Now)*int64(a.cpus()))
		}},
		{"CPUTimeRAW", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte {
			return strconv.AppendInt(dst, a.elapsed(x.Now)*int64(a.cpus()), 10)
		}},
		{"Elapsed", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte { return slurm.AppendSpan(dst, a.elapsed(x.Now)) }},
		{"ElapsedRaw", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte { return strconv.AppendInt(dst, a.elapsed(x.Now), 10) }},
		{"Eligible", 19, false, ofStepOr(begun, func(r *api.JobRecord) job.Time { return r.Times.Eligible })},
		{"End", 19, false, ofStepOr(func(s *job.Step) job.Time { return s.End }, func(r *api.JobRecord) job.Time {
			if !r.State.Ended() {
				return 0
			}
			return r.Times.End
		})},
		{"Planned", 10, false, ofJobSpan(1)},
		{"PlannedCPU", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte { return ofJobSpan(int64(a.Job.Count.CPUs))(dst, x, a) }},
		{"PlannedCPURAW", 13, false, func(dst []byte, x *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return dst
			}
			return strconv.AppendInt(dst, planned(a.Job, x.Now)*int64(a.Job.Count.CPUs), 10)
		}},
		{"Start", 19, false, ofStepOr(begun, func(r *api.JobRecord) job.Time {
			if r.State == job.Pending {
				return 0
			}
			return r.Times.Start
		})},
		{"Submit", 19, false, ofStepOr(begun, func(r *api.JobRecord) job.Time { return r.Times.Submit })},
		{"Suspended", 10, false, func(dst []byte, x *Context, a *AcctRow) []byte { return slurm.AppendSpan(dst, suspended(a, x.Now)) }},
		{"Timelimit", 10, true, func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return dst
			}
			return slurm.AppendLimit(dst, a.Job.Times.Limit)
		}},
		{"TimelimitRaw", 10, true, func(dst []byte, _ *Context, a *AcctRow) []byte {
			switch {
			case a.Step != nil:
				return dst
			case a.Job.Times.Limit == job.Unlimited:
				return append(dst, "UNLIMITED"...)
			}
			return appendUint(dst, a.Job.Times.Limit)
		}},
	}
}

// planned is how long a job waited, or has waited, once it could start.
func planned(r *api.JobRecord, now job.Time) int64 {
	from, to := r.Times.Eligible, r.Times.Start
	if from == 0 {
		return 0
	}
	if to == 0 || r.State == job.Pending {
		if to = now; r.State.Ended() {
			to = r.Times.End
		}
	}
	return max(0, to.Unix()-from.Unix())
}

func ofJobSpan(times int64) acctText {
	return func(dst []byte, x *Context, a *AcctRow) []byte {
		if a.Step != nil {
			return dst
		}
		return slurm.AppendSpan(dst, planned(a.Job, x.Now)*times)
	}
}

// suspended is how long a job was suspended in all.
func suspended(a *AcctRow, now job.Time) int64 {
	t := &a.Job.Times
	if a.Step != nil || t.Suspend == 0 || t.Start == 0 {
		return 0
	}
	end := now
	if a.Job.State.Ended() {
		end = t.End
	}
	return max(0, end.Unix()-t.Start.Unix()-RunSeconds(a.Job, now))
}

// acctResources: counts and sizes.
func acctResources() []AcctField {
	cpus := func(dst []byte, _ *Context, a *AcctRow) []byte { return appendUint(dst, a.cpus()) }
	return []AcctField{
		{"AllocCPUS", 10, false, cpus},
		{"AllocNodes", 10, true, func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step == nil && a.Job.State == job.Pending {
				return append(dst, '0')
			}
			return appendUint(dst, a.nodeCount())
		}},
		{"AllocTRES", 10, true, func(dst []byte, x *Context, a *AcctRow) []byte {
			held := a.held()
			return slurm.AppendSortedTRES(dst, &held, x.Unit)
		}},
		{"Layout", 9, true, ofStep(func(dst []byte, _ *Context, s *job.Step) []byte {
			if s.ID >= job.InteractiveStep {
				return append(dst, "Unknown"...)
			}
			return append(dst, "Block"...)
		})},
		{"Licenses", 10, true, ofRequest(func(q *job.Request) string { return q.Licenses })},
		{"NCPUS", 10, false, cpus},
		{"NNodes", 8, false, func(dst []byte, _ *Context, a *AcctRow) []byte { return appendUint(dst, a.nodeCount()) }},
		{"NodeList", 15, true, func(dst []byte, _ *Context, a *AcctRow) []byte { return append(dst, a.nodes()...) }},
		{"NTasks", 8, false, ofStep(func(dst []byte, _ *Context, s *job.Step) []byte { return appendUint(dst, s.Tasks) })},
		{"ReqCPUS", 8, false, func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return appendUint(dst, a.Step.CPUs)
			}
			return appendUint(dst, a.Job.Asked.CPUs)
		}},
		{"ReqMem", 10, true, func(dst []byte, x *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return dst
			}
			return slurm.AppendSize(dst, a.Job.Asked.MemoryMB, slurm.Mega, x.Unit)
		}},
		{"ReqNodes", 8, true, func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return appendUint(dst, a.nodeCount())
			}
			return appendUint(dst, a.Job.Asked.Nodes)
		}},
		{"ReqTRES", 10, true, func(dst []byte, x *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return dst
			}
			return slurm.AppendSortedTRES(dst, &a.Job.Asked, x.Unit)
		}},
		{"SegmentSize", 11, false, ofRequest(func(q *job.Request) string {
			if q.Place.Segment == 0 {
				return ""
			}
			return unsigned(q.Place.Segment)
		})},
	}
}

// acctUsage: what processes used.
func acctUsage() []AcctField {
	cpu := func(get func(*job.Usage) uint64) acctText {
		return func(dst []byte, _ *Context, a *AcctRow) []byte {
			u := a.usage()
			return slurm.AppendCPUTime(dst, get(&u))
		}
	}
	size := func(in slurm.Unit, get func(*job.Usage) uint64) acctText {
		return ofStep(func(dst []byte, x *Context, s *job.Step) []byte {
			if s.Usage == (job.Usage{}) && s.End == 0 {
				return dst
			}
			unit := x.Unit
			if unit == slurm.Exact && get(&s.Usage) != 0 {
				unit = slurm.Exact
			}
			return slurm.AppendSize(dst, get(&s.Usage), in, unit)
		})
	}
	node := ofStep(func(dst []byte, _ *Context, s *job.Step) []byte { return dst })
	rss := size(slurm.Kilo, func(u *job.Usage) uint64 { return u.MaxRSSKB })
	vm := size(slurm.Kilo, func(u *job.Usage) uint64 { return u.MaxVMKB })
	pages := size(slurm.Plain, func(u *job.Usage) uint64 { return u.MaxPages })
	read := ofStep(func(dst []byte, _ *Context, s *job.Step) []byte { return appendMegabytes(dst, s.Usage.ReadKB) })
	written := ofStep(func(dst []byte, _ *Context, s *job.Step) []byte { return appendMegabytes(dst, s.Usage.WrittenKB) })
	return []AcctField{
		{"AveCPU", 10, true, ofStep(func(dst []byte, _ *Context, s *job.Step) []byte {
			return slurm.AppendSpan(dst, int64((s.Usage.UserUS+s.Usage.SystemUS)/uint64(max(s.Tasks, 1))/1e6))
		})},
		{"AveDiskRead", 14, true, read}, {"AveDiskWrite", 14, true, written},
		{"AvePages", 10, true, pages}, {"AveRSS", 10, true, rss}, {"AveVMSize", 10, true, vm},
		{"MaxDiskRead", 12, true, read}, {"MaxDiskWrite", 12, true, written},
		{"MaxPages", 8, true, pages}, {"MaxRSS", 10, true, rss}, {"MaxVMSize", 10, true, vm},
		{"MaxRSSNode", 10, true, node}, {"MaxVMSizeNode", 14, true, node}, {"MaxPagesNode", 12, true, node},
		{"SystemCPU", 10, true, cpu(func(u *job.Usage) uint64 { return u.SystemUS })},
		{"TotalCPU", 10, true, cpu(func(u *job.Usage) uint64 { return u.UserUS + u.SystemUS })},
		{"UserCPU", 10, true, cpu(func(u *job.Usage) uint64 { return u.UserUS })},
		{"TRESUsageInMax", 14, true, ofStep(appendUsageMax)}, {"TRESUsageInTot", 14, true, ofStep(appendUsageMax)}, {"TRESUsageInAve", 14, true, ofStep(appendUsageMax)},
	}
}

// appendMegabytes writes kilobytes as 1.25M.
func appendMegabytes(dst []byte, kb uint64) []byte {
	return append(appendHundredths(dst, (kb*100+512)/1024), 'M')
}

// appendUsageMax writes what a step used as trackable resources.
func appendUsageMax(dst []byte, _ *Context, s *job.Step) []byte {
	if s.Usage == (job.Usage{}) {
		return dst
	}
	dst = slurm.AppendSpan(append(dst, "cpu="...), int64((s.Usage.UserUS+s.Usage.SystemUS)/1e6))
	dst = slurm.AppendSize(append(dst, ",mem="...), s.Usage.MaxRSSKB, slurm.Kilo, slurm.Exact)
	dst = appendUint(append(dst, ",pages="...), s.Usage.MaxPages)
	return slurm.AppendSize(append(dst, ",vmem="...), s.Usage.MaxVMKB, slurm.Kilo, slurm.Exact)
}

// acctConstant: fields that always show the same, of a job and of a step.
func acctConstant() []AcctField {
	always := func(ofJob, ofStep string) acctText {
		return func(dst []byte, _ *Context, a *AcctRow) []byte {
			if a.Step != nil {
				return append(dst, ofStep...)
			}
			return append(dst, ofJob...)
		}
	}
	// Nothing measures it; what never had resources used none.
	energy := func(dst []byte, _ *Context, a *AcctRow) []byte {
		if a.Step == nil && a.Job.Times.Start != 0 {
			return dst
		}
		return append(dst, '0')
	}
	freq := always("Unknown", "0")
	return []AcctField{
		{"AveCPUFreq", 10, true, always("", "0")},
		{"ConsumedEnergy", 14, true, energy}, {"ConsumedEnergyRaw", 17, true, energy},
		{"Flags", 19, true, ofJob(func(r *api.JobRecord) string {
			if r.State == job.Pending || r.Times.Start == 0 {
				return ""
			}
			return "SchedMain,StartReceived"
		})},
		{"ReqCPUFreq", 10, true, freq}, {"ReqCPUFreqGov", 13, true, freq}, {"ReqCPUFreqMax", 13, true, freq}, {"ReqCPUFreqMin", 13, true, freq},
		{"WCKeyID", 10, true, always("0", "")},
	}
}

// acctAbsent: fields of Slurm for things that Muster does not keep; they are
// empty, as in Slurm where the plug-in for them is not set up.
func acctAbsent() []AcctField {
	widths := "AssocID 7,BlockID 16,Container 19," +
		"MaxDiskReadNode 15,MaxDiskReadTask 15,MaxDiskWriteNode 16,MaxDiskWriteTask 16,MaxPagesTask 14,MaxRSSTask 10," +
		"MaxVMSizeTask 14,McsLabel 12,MinCPU 10,MinCPUNode 10,MinCPUTask 10,QOSRAW 6,ReservationId 8,SystemComment 15,TRESUsageInMaxNode 18,TRESUsageInMaxTask 18," +
		"TRESUsageInMin 14,TRESUsageInMinNode 18,TRESUsageInMinTask 18,TRESUsageOutAve 15,TRESUsageOutMax 15," +
		"TRESUsageOutMaxNode 19,TRESUsageOutMaxTask 19,TRESUsageOutMin 15,TRESUsageOutMinNode 19,TRESUsageOutMinTask 19," +
		"TRESUsageOutTot 15"
	var fields []AcctField
	for entry := range strings.SplitSeq(widths, ",") {
		name, width, _ := strings.Cut(entry, " ")
		n, _ := strconv.Atoi(width)
		fields = append(fields, AcctField{name, n, true, func(dst []byte, _ *Context, _ *AcctRow) []byte { return dst }})
	}
	return fields
}

// AcctNote says how a field of sacct differs from Slurm's; "" for not at all.
func AcctNote(name string) string {
	named := func(f AcctField) bool { return f.Name == name }
	switch {
	case slices.ContainsFunc(acctAbsent(), named):
		return "always empty: it is not measured, or there is none here"
	case slices.ContainsFunc(acctConstant(), named):
		return "always what Slurm shows without plug-ins: it is not measured here"
	case strings.HasSuffix(name, "Node") && slices.ContainsFunc(acctUsage(), named):
		return "always empty: use is summed over the nodes of a step"
	}
	return ""
}
