package format

import (
	"muster/api/slurm"
	"muster/job"
)

// AppendStep writes one running step as scontrol show step does.
func AppendStep(dst []byte, x *Context, a *AcctRow, oneLine bool) []byte {
	w := newRecord(dst, oneLine)
	s := a.Step
	w.first("StepId", string(a.appendID(nil, false))).and("UserId", decimal(a.Job.Owner.UID)).and("StartTime", moment(x, s.Start, "Unknown")).and("TimeLimit", "UNLIMITED")
	w.next("State", s.State.String()).and("Partition", a.Job.Partition).and("NodeList", orNull(a.nodes()))
	w.next("Nodes", decimal(a.nodeCount())).and("CPUs", stepCPUs(s)).and("Tasks", decimal(s.Tasks)).and("Name", s.Name).and("Network", null)
	tres := null
	if s.ID < job.InteractiveStep {
		held := a.held()
		tres = string(slurm.AppendTRES(nil, &held, x.Unit))
	}
	w.next("TRES", tres)
	w.next("ResvPorts", null)
	w.next("CPUFreqReq", "Default")
	w.next("SrunHost:Pid", "(null):0")
	return w.end()
}

// stepCPUs is a step's CPUs; Slurm gives none for the batch script.
func stepCPUs(s *job.Step) string {
	if s.ID >= job.InteractiveStep {
		return "0"
	}
	return decimal(s.CPUs)
}

// StepFields are the fields of squeue --steps.
func StepFields() []Field[AcctRow] {
	text := func(get func(*AcctRow) string) func([]byte, *Context, *AcctRow) []byte {
		return func(dst []byte, _ *Context, a *AcctRow) []byte { return append(dst, get(a)...) }
	}
	return []Field[AcctRow]{
		{Name: "ArrayJobId", Head: "ARRAY_JOB_ID", Text: text(func(a *AcctRow) string {
			if a.Job.Array.JobID == 0 {
				return decimal(a.Job.ID)
			}
			return decimal(a.Job.Array.JobID)
		})},
		{Name: "CPUFreq", Head: "CPU_FREQ", Note: "always n/a: frequencies are left to the node", Text: text(func(*AcctRow) string { return "n/a-n/a:n/a" })},
		{Name: "JobId", Head: "JOBID", Text: text(func(a *AcctRow) string { return decimal(a.Job.ID) })},
		{Name: "Nodes", Letter: 'N', Head: "NODELIST", Over: true, Heavy: true, Text: text((*AcctRow).nodes)},
		{Name: "NumCPUs", Head: "CPUS", Text: text(func(a *AcctRow) string { return decimal(a.Step.CPUs) })},
		{Name: "NumTasks", Letter: 'A', Head: "TASKS", Text: text(func(a *AcctRow) string { return decimal(a.Step.Tasks) })},
		{Name: "Partition", Letter: 'P', Head: "PARTITION", Text: text(func(a *AcctRow) string { return a.Job.Partition })},
		{Name: "ResvPort", Head: "RESERVED_PORTS", Note: "always (null): ports are not reserved", Text: text(func(*AcctRow) string { return null })},
		{Name: "ResvPorts", Head: "RESERVED_PORTS", Hidden: true, Text: text(func(*AcctRow) string { return null })},
		{Name: "StartTime", Letter: 'S', Head: "START_TIME", Text: func(dst []byte, x *Context, a *AcctRow) []byte {
			return x.Times.Append(dst, a.Step.Start, "N/A")
		}},
		{Name: "StepId", Letter: 'i', Head: "STEPID", Text: func(dst []byte, _ *Context, a *AcctRow) []byte { return a.appendID(dst, false) }},
		{Name: "StepName", Letter: 'j', Head: "NAME", Text: text(func(a *AcctRow) string { return a.Step.Name })},
		{Name: "StepState", Head: "STATE", Text: text(func(a *AcctRow) string { return a.Step.State.String() })},
		{Name: "TimeLimit", Letter: 'l', Head: "TIME_LIMIT", Text: text(func(*AcctRow) string { return "UNLIMITED" })},
		{Name: "TimeUsed", Letter: 'M', Head: "TIME", Over: true, Text: func(dst []byte, x *Context, a *AcctRow) []byte {
			return slurm.AppendShortSpan(dst, a.elapsed(x.Now))
		}},
		{Name: "tres-per-job", Letter: 'b', Head: "TRES_PER_JOB", Text: text(func(*AcctRow) string { return null })},
		{Name: "tres-per-step", Head: "TRES_PER_STEP", Note: "always (null)", Text: text(func(*AcctRow) string { return null })},
		{Name: "UserId", Letter: 'U', Head: "USER", Text: text(func(a *AcctRow) string { return decimal(a.Job.Owner.UID) })},
		{Name: "UserName", Letter: 'u', Head: "USER", Text: text(func(a *AcctRow) string { return a.Job.Owner.User })},
	}
}
