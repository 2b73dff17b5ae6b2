package main

import (
	"errors"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/job"
)

// sstatDefault are the fields that sstat shows by itself.
const sstatDefault = "JobID,AllocTRES,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS," +
	"MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks," +
	"AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ConsumedEnergy," +
	"MaxDiskRead,MaxDiskReadNode,MaxDiskReadTask,AveDiskRead%12,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite%12," +
	"TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot," +
	"TRESUsageOutAve,TRESUsageOutMax,TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutMin,TRESUsageOutMinNode,TRESUsageOutMinTask,TRESUsageOutTot"

func sstatFlags() []slurm.Flag {
	const r, n = slurm.RequiredArg, slurm.NoArg
	return []slurm.Flag{
		{Name: "allsteps", Short: 'a', Arg: n}, {Name: "fields", Arg: r}, {Name: "format", Short: 'o', Arg: r}, {Name: "help", Short: 'h', Arg: n},
		{Name: "helpformat", Short: 'e', Arg: n}, {Name: "jobs", Short: 'j', Arg: r}, {Name: "noheader", Short: 'n', Arg: n},
		{Name: "parsable", Short: 'p', Arg: n}, {Name: "parsable2", Short: 'P', Arg: n}, {Name: "usage", Arg: n}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy},
		{Name: "version", Short: 'V', Arg: n}, {Name: "noconvert", Arg: n}, {Name: "pidformat", Short: 'i', Arg: n, Refuse: "processes of steps are not listed; look on the node"},
	}
}

// statOptions says which steps sstat shows, and how.
type statOptions struct {
	jobs                     string
	noHeader, all, keepUnits bool
}

// sstat shows what running steps use: sstat(1).
func sstat(in *invocation) int {
	given, rest, ok, code := in.options(sstatFlags(), 1)
	if !ok {
		return code
	}
	table := format.AcctTable{Delimiter: "|"}
	fields, o := sstatDefault, statOptions{jobs: strings.Join(rest, ",")}
	for _, g := range given {
		switch g.Flag.Name {
		case "format", "fields":
			fields = g.Value
		case "jobs":
			o.jobs = g.Value
		case "noheader":
			o.noHeader = true
		case "allsteps":
			o.all = true
		case "noconvert":
			o.keepUnits = true
		case "parsable":
			table.Parsable = format.DelimiterAfter
		case "parsable2":
			table.Parsable = format.DelimiterBetween
		case "helpformat":
			in.stdout.Write(format.StepUseHelp())
			return 0
		case "help", "usage":
			printFlags(in, "sstat [OPTIONS...] -j job[.step]", sstatFlags())
			return 0
		case "version":
			return printVersion(in)
		}
	}
	if o.jobs == "" {
		in.errorf("You didn't give me any jobs to stat.")
		return 1
	}
	var err error
	if table.Columns, err = format.AcctColumns(fields); err != nil {
		in.errorf("%v", err)
		return 1
	}
	return in.statSteps(&table, &o)
}

// statSteps prints the running steps of some jobs. Without a step's number it
// is the step that began first, unless all are asked for.
func (in *invocation) statSteps(table *format.AcctTable, o *statOptions) int {
	q := &api.JobQuery{Fields: api.JobAll &^ api.JobPlanned, States: 1<<job.Running | 1<<job.Suspended}
	for _, word := range strings.Split(o.jobs, ",") {
		refs, err := slurm.ParseJobRefs(word)
		if err != nil {
			in.errorf("Bad job/step specified: %s", word)
			return 1
		}
		q.Jobs = append(q.Jobs, refs...)
	}
	var list api.JobList
	err := in.fetch(api.MethodJobs, q, &list)
	var refused *api.Error
	if err != nil && !(errors.As(err, &refused) && refused.Text == slurm.TextNoSuchJob) {
		return in.loadFailed("slurm_job_step_stat", err)
	}
	x := in.context(list.Now, list.Cluster, o.keepUnits)
	var buf []byte
	if !o.noHeader {
		buf = table.AppendHead(buf)
	}
	shown := 0
	for i := range list.Jobs {
		r := &list.Jobs[i]
		for _, s := range format.Steps(r) {
			if !s.Active() || !wantsStep(q.Jobs, r, s.ID, o.all) {
				continue
			}
			buf = table.AppendRow(buf, x, &format.AcctRow{Job: r, Step: &s})
			shown++
			if !o.all && !namesStep(q.Jobs, r) {
				break
			}
		}
	}
	in.stdout.Write(buf)
	if shown == 0 {
		in.errorf("couldn't get steps for JobId=%s", o.jobs) // Slurm ends with 0, too
	}
	return 0
}

// wantsStep tells whether a step is one of those that were named.
func wantsStep(refs []api.JobRef, r *api.JobRecord, id job.StepID, all bool) bool {
	for i := range refs {
		if !refers(&refs[i], r) {
			continue
		}
		switch {
		case refs[i].HasStep && refs[i].Step == id, all:
			return true
		case !refs[i].HasStep && id < job.InteractiveStep:
			return true
		}
	}
	return false
}

// namesStep tells whether a step of the job was named.
func namesStep(refs []api.JobRef, r *api.JobRecord) bool {
	for i := range refs {
		if refs[i].HasStep && refers(&refs[i], r) {
			return true
		}
	}
	return false
}
