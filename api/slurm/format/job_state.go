package format

import (
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// jobTimes: moments and spans.
func jobTimes() []jobField {
	return []jobField{
		{Name: "AccrueTime", Head: "ACCRUE_TIME", Text: timeOf(func(r *api.JobRecord) job.Time { return r.Times.Accrue })},
		{Name: "Deadline", Head: "DEADLINE", Needs: needRequest, Text: timeOf(func(r *api.JobRecord) job.Time { return request(r).Timing.Deadline })},
		{Name: "EligibleTime", Head: "ELIGIBLE_TIME", Text: timeOf(func(r *api.JobRecord) job.Time { return r.Times.Eligible })},
		{Name: "EndTime", Letter: 'e', Head: "END_TIME", Needs: needPlanned, Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			if end := EndTime(r); r.Times.Limit != job.Unlimited || end != 0 && end <= x.Now {
				return x.Times.Append(dst, end, "N/A")
			}
			return append(dst, "NONE"...)
		}},
		{Name: "MinTime", Head: "TIME_MIN", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			return slurm.AppendShortSpan(dst, int64(q.Timing.MinLimit)*60)
		})},
		{Name: "PendingTime", Head: "PENDING_TIME", Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			until := x.Now
			if s := r.Times.Start; s != 0 && s < x.Now && r.State != job.Pending {
				until = s
			}
			return strconv.AppendInt(dst, until.Unix()-r.Times.Submit.Unix(), 10)
		}},
		{Name: "StartTime", Letter: 'S', Head: "START_TIME", Needs: needPlanned, Text: timeOf(StartTime)},
		{Name: "SubmitTime", Letter: 'V', Head: "SUBMIT_TIME", Text: timeOf(func(r *api.JobRecord) job.Time { return r.Times.Submit })},
		{Name: "TimeLeft", Letter: 'L', Head: "TIME_LEFT", Over: true, Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			if l := r.Times.Limit; l == job.Unlimited || l == 0 {
				return slurm.AppendShortLimit(dst, l)
			}
			return slurm.AppendShortSpan(dst, int64(r.Times.Limit)*60-RunSeconds(r, x.Now))
		}},
		{Name: "TimeLimit", Letter: 'l', Head: "TIME_LIMIT", Over: true, Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte {
			return slurm.AppendShortLimit(dst, r.Times.Limit)
		}},
		{Name: "TimeUsed", Letter: 'M', Head: "TIME", Over: true, Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			return slurm.AppendShortSpan(dst, RunSeconds(r, x.Now))
		}},
		{Name: "LastSchedEval", Head: "LAST_SCHED_EVAL", Text: timeOf(func(r *api.JobRecord) job.Time {
			if r.State != job.Pending {
				return r.Times.Start
			}
			return max(r.Times.Submit, r.Times.Eligible)
		})},
	}
}

// jobStateFields: how it stands with the job.
func jobStateFields() []jobField {
	return []jobField{
		{Name: "DerivedEC", Head: "DERIVED_EC", Needs: needEnding, Text: ending(func(dst []byte, e *job.Result) []byte { return AppendExit(dst, e.Derived, e.DerivedSig) })},
		{Name: "exit_code", Head: "EXIT_CODE", Needs: needEnding, Text: ending(func(dst []byte, e *job.Result) []byte { return AppendExit(dst, e.ExitCode, e.Signal) })},
		{Name: "Exclusive", Head: "EXCLUSIVE", Needs: needRequest, Text: asked(Exclusive)},
		{Name: "OverSubscribe", Letter: 'h', Head: "OVER_SUBSCRIBE", Needs: needRequest, Text: asked(OverSubscribe)},
		{Name: "Shared", Head: "OVER_SUBSCRIBE", Hidden: true, Needs: needRequest, Text: asked(OverSubscribe)},
		{Name: "Priority", Letter: 'p', Head: "PRIORITY", Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte { return appendPriority(dst, r.Priority) }},
		{Name: "PriorityLong", Letter: 'Q', Head: "PRIORITY", Text: countOf(func(r *api.JobRecord) uint32 { return r.Priority })},
		{Name: "Reason", Letter: 'r', Head: "REASON", Text: textOf(Reason)},
		{Name: "Requeue", Head: "REQUEUE", Needs: needRequest, Text: flag(func(q *job.Request) bool { return q.Requeue })},
		{Name: "RestartCnt", Head: "RESTART_COUNT", Text: countOf(func(r *api.JobRecord) uint32 { return r.Attempt })},
		{Name: "State", Letter: 'T', Head: "STATE", Text: textOf(func(r *api.JobRecord) string { return job.Word(r.State, r.Flags, false) })},
		{Name: "StateCompact", Letter: 't', Head: "ST", Text: textOf(func(r *api.JobRecord) string { return job.Word(r.State, r.Flags, true) })},
	}
}

// ending shows something of the result, of an empty one before the end.
func ending(put func([]byte, *job.Result) []byte) jobText {
	return func(dst []byte, _ *Context, r *api.JobRecord) []byte {
		if r.End == nil {
			return put(dst, new(job.Result))
		}
		return put(dst, r.End)
	}
}

// jobPlaces: nodes.
func jobPlaces() []jobField {
	return []jobField{
		{Name: "BatchHost", Letter: 'B', Head: "EXEC_HOST", Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte { return appendOr(dst, r.BatchHost, "n/a") }},
		{Name: "ExcNodes", Letter: 'x', Head: "EXC_NODES", Over: true, Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return append(dst, NodeNames(q.Place.Exclude)...) })},
		{Name: "NodeList", Letter: 'N', Head: "NODELIST", Over: true, Heavy: true, Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte { return append(dst, r.Nodes...) }},
		{Name: "ReasonList", Letter: 'R', Head: "NODELIST(REASON)", Over: true, Heavy: true, Cut: showsReason, Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte {
			if showsReason(r) {
				return append(append(append(dst, '('), Reason(r)...), ')')
			}
			return append(dst, r.Nodes...)
		}},
		{Name: "ReqNodes", Letter: 'n', Head: "REQ_NODES", Over: true, Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return append(dst, NodeNames(q.Place.Nodes)...) })},
		{Name: "ReqSwitch", Head: "REQ_SWITCH", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendUint(dst, q.Place.Switches) })},
		{Name: "SchedNodes", Letter: 'Y', Head: "SCHEDNODES", Over: true, Heavy: true, Needs: needPlanned, Text: textOf(func(r *api.JobRecord) string { return r.SchedNodes })},
		{Name: "Wait4Switch", Head: "WAIT4SWITCH", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return slurm.AppendShortSpan(dst, int64(q.Place.SwitchWait)) })},
	}
}

// jobAbsent: what there is in Slurm and not here, shown as Slurm does where it is
// not set up.
func jobAbsent() []jobField {
	texts := []struct{ name, head, text string }{
		{"AllocSID", "ALLOC_SID", "0"}, {"AssocId", "ASSOC_ID", "0"}, {"BoardsPerNode", "BOARDS_PER_NODE", "0"},
		{"BurstBuffer", "BURST_BUFFER", null}, {"BurstBufferState", "BURST_BUFFER_STATE", null},
		{"ClusterFeature", "CLUSTER_FEATURES", null}, {"Container", "CONTAINER", null},
		{"ContainerId", "CONTAINERID", null}, {"ContainerType", "CONTAINERTYPE", null},
		{"DelayBoot", "DELAY_BOOT", "0:00"}, {"MCSLabel", "MCSLABEL", null},
		{"Network", "NETWORK", null}, {"NTPerBoard", "NTASKS_PER_BOARD", "0"}, {"Origin", "ORIGIN", "NA"},
		{"OriginRaw", "ORIGIN_RAW", "NA"}, {"PreemptTime", "PREEMPT_TIME", "N/A"}, {"Profile", "PROFILE", "NotSet"},
		{"Reboot", "REBOOT", "0"}, {"ResizeTime", "RESIZE_TIME", "N/A"}, {"SiblingsActive", "ACTIVE_SIBLINGS", "NA"},
		{"SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", "NA"}, {"SiblingsViable", "VIABLE_SIBLINGS", "NA"},
		{"SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW", "NA"}, {"SPerBoard", "SOCKETS_PER_BOARD", "0"},
		{"system_comment", "SYSTEM_COMMENT", null},
	}
	fields := make([]jobField, 0, len(texts))
	for _, t := range texts {
		fields = append(fields, jobField{Name: t.name, Head: t.head, Note: "always " + t.text + ": there is none here", Text: fixed(t.text)})
	}
	return fields
}
