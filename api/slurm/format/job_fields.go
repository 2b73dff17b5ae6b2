package format

import (
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// The parts of a record that fields need, short for the tables.
const (
	needRequest   = uint32(api.JobRequest)
	needResources = uint32(api.JobResources)
	needPlanned   = uint32(api.JobPlanned)
	needEnding    = uint32(api.JobEnding)
)

// jobField is a field of squeue.
type jobField = Field[api.JobRecord]

// jobText is how a field of squeue makes its text.
type jobText = func(dst []byte, x *Context, r *api.JobRecord) []byte

// fixed is the text of a thing that this workload manager does not have.
func fixed(s string) jobText {
	return func(dst []byte, _ *Context, _ *api.JobRecord) []byte { return append(dst, s...) }
}

// textOf shows a text of the record, or (null).
func textOf(get func(*api.JobRecord) string) jobText {
	return func(dst []byte, _ *Context, r *api.JobRecord) []byte { return appendOr(dst, get(r), null) }
}

// fileOf shows the name of one of the job's files, or (null).
func fileOf(path func(r *api.JobRecord, expand bool) string) jobText {
	return func(dst []byte, x *Context, r *api.JobRecord) []byte { return appendOr(dst, path(r, x.Expand), null) }
}

// timeOf shows a moment of the record, or N/A.
func timeOf(get func(*api.JobRecord) job.Time) jobText {
	return func(dst []byte, x *Context, r *api.JobRecord) []byte { return x.Times.Append(dst, get(r), "N/A") }
}

// countOf shows a number of the record.
func countOf(get func(*api.JobRecord) uint32) jobText {
	return func(dst []byte, _ *Context, r *api.JobRecord) []byte { return appendUint(dst, get(r)) }
}

// requestOf shows something of the request.
func requestOf(put func(dst []byte, q *job.Request) []byte) jobText {
	return func(dst []byte, _ *Context, r *api.JobRecord) []byte { return put(dst, request(r)) }
}

// asked shows a text of the request, or (null).
func asked(get func(*job.Request) string) jobText {
	return requestOf(func(dst []byte, q *job.Request) []byte { return appendOr(dst, get(q), null) })
}

// flag shows 1 or 0.
func flag(get func(*job.Request) bool) jobText {
	return requestOf(func(dst []byte, q *job.Request) []byte {
		if get(q) {
			return append(dst, '1')
		}
		return append(dst, '0')
	})
}

// JobFields are the fields of squeue, in the order of its manual.
func JobFields() []Field[api.JobRecord] {
	var all []jobField
	for _, part := range [][]jobField{
		jobIdentity(), jobRequestTexts(), jobShape(), jobTimes(), jobStateFields(), jobPlaces(), jobAbsent(),
	} {
		all = append(all, part...)
	}
	return all
}

// jobIdentity: who and which.
func jobIdentity() []jobField {
	return []jobField{
		{Name: "Account", Letter: 'a', Head: "ACCOUNT", Text: textOf(func(r *api.JobRecord) string { return r.Account })},
		{Name: "ArrayJobId", Letter: 'F', Head: "ARRAY_JOB_ID", Text: countOf(func(r *api.JobRecord) uint32 {
			if r.Array.JobID != 0 {
				return uint32(r.Array.JobID)
			}
			return uint32(r.ID)
		})},
		{Name: "ArrayTaskId", Letter: 'K', Head: "ARRAY_TASK_ID", Text: appendTask},
		{Name: "BatchFlag", Head: "BATCH_FLAG", Needs: needRequest, Text: flag(func(q *job.Request) bool { return !q.Interactive })},
		{Name: "Cluster", Head: "CLUSTER", Text: func(dst []byte, x *Context, _ *api.JobRecord) []byte { return appendOr(dst, x.Cluster, null) }},
		{Name: "CronJob", Head: "CRON_JOB", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			if q.Cron.Spec != "" {
				return append(dst, "Yes"...)
			}
			return append(dst, "No"...)
		})},
		{Name: "GroupId", Letter: 'G', Head: "GROUP", Text: countOf(func(r *api.JobRecord) uint32 { return r.Owner.GID })},
		{Name: "GroupName", Letter: 'g', Head: "GROUP", Text: textOf(func(r *api.JobRecord) string { return r.Owner.Group })},
		{Name: "HetJobId", Head: "HET_JOB_ID", Text: het(func(dst []byte, h *api.JobHet) []byte { return appendUint(dst, h.Leader) })},
		{Name: "HetJobIdSet", Head: "HET_JOB_ID_SET", Text: het(func(dst []byte, h *api.JobHet) []byte { return append(dst, HetIDs(h)...) })},
		{Name: "HetJobOffset", Head: "HET_JOB_OFFSET", Text: het(func(dst []byte, h *api.JobHet) []byte { return appendUint(dst, h.Offset) })},
		{Name: "JobArrayId", Letter: 'i', Head: "JOBID", Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte { return AppendJobID(dst, r) }},
		{Name: "JobId", Letter: 'A', Head: "JOBID", Text: countOf(func(r *api.JobRecord) uint32 { return uint32(r.ID) })},
		{Name: "Name", Letter: 'j', Head: "NAME", Text: textOf(func(r *api.JobRecord) string { return r.Name })},
		{Name: "Partition", Letter: 'P', Head: "PARTITION", Text: textOf(func(r *api.JobRecord) string { return r.Partition })},
		{Name: "QOS", Letter: 'q', Head: "QOS", Text: textOf(func(r *api.JobRecord) string { return r.QOS })},
		{Name: "Reservation", Letter: 'v', Head: "RESERVATION", Text: textOf(func(r *api.JobRecord) string { return r.Reservation })},
		{Name: "SLUID", Letter: 's', Head: "SLUID", Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte { return AppendSLUID(dst, r.SLUID) }},
		{Name: "UserId", Letter: 'U', Head: "UID", Text: countOf(func(r *api.JobRecord) uint32 { return r.Owner.UID })},
		{Name: "UserName", Letter: 'u', Head: "USER", Text: textOf(func(r *api.JobRecord) string { return r.Owner.User })},
	}
}

// appendTask writes the index of a task, or the indices of those that wait.
func appendTask(dst []byte, _ *Context, r *api.JobRecord) []byte {
	switch {
	case r.Array.Waiting != "":
		return append(dst, WaitingList(r, false)...)
	case r.Array.JobID != 0:
		return appendUint(dst, r.Array.Task)
	}
	return append(dst, "N/A"...)
}

// het shows something of a heterogeneous job, N/A for other jobs.
func het(put func([]byte, *api.JobHet) []byte) jobText {
	return func(dst []byte, _ *Context, r *api.JobRecord) []byte {
		if r.Het.Leader == 0 {
			return append(dst, "N/A"...)
		}
		return put(dst, &r.Het)
	}
}

// HetIDs lists the ids of a heterogeneous job's components: 32-33.
func HetIDs(h *api.JobHet) string {
	var dst []byte
	for i := 0; i < len(h.IDs); {
		k := i
		for k+1 < len(h.IDs) && h.IDs[k+1] == h.IDs[k]+1 {
			k++
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendUint(dst, h.IDs[i])
		if k > i {
			dst = appendUint(append(dst, '-'), h.IDs[k])
		}
		i = k + 1
	}
	return string(dst)
}

// jobRequestTexts: what was asked for, in words.
func jobRequestTexts() []jobField {
	return []jobField{
		{Name: "admin_comment", Head: "ADMIN_COMMENT", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.AdminComment })},
		{Name: "AllocNodes", Head: "ALLOC_NODES", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Batch.SubmitHost })},
		{Name: "Command", Letter: 'o', Head: "COMMAND", Needs: needRequest, Text: asked(Command)},
		{Name: "Comment", Letter: 'k', Head: "COMMENT", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Comment })},
		{Name: "Dependency", Letter: 'E', Head: "DEPENDENCY", Needs: needRequest, Text: textOf(func(r *api.JobRecord) string { return r.Deps })},
		{Name: "Feature", Letter: 'f', Head: "FEATURES", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Place.Constraint })},
		{Name: "Licenses", Letter: 'W', Head: "LICENSES", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Licenses })},
		{Name: "LicensesAlloc", Head: "LICENSES_ALLOC", Needs: needResources, Text: textOf(func(r *api.JobRecord) string { return Licenses(r.Used.Licenses) })},
		{Name: "Prefer", Head: "PREFER", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Place.Prefer })},
		{Name: "StdErr", Head: "STDERR", Needs: needRequest, Text: fileOf(StderrPath)},
		{Name: "StdIn", Head: "STDIN", Needs: needRequest, Text: fileOf(StdinPath)},
		{Name: "StdOut", Head: "STDOUT", Needs: needRequest, Text: fileOf(StdoutPath)},
		{Name: "WCKey", Letter: 'w', Head: "WCKEY", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.WCKey })},
		{Name: "WorkDir", Letter: 'Z', Head: "WORK_DIR", Needs: needRequest, Text: asked(func(q *job.Request) string { return q.Batch.WorkDir })},
	}
}

// Bind is how tasks are bound to devices, as --tres-bind has it. GPUs by task and
// tasks by GPU bind them too.
func Bind(q *job.Request) string {
	const gpus = "gres/gpu:"
	if q.Gres.Bind != "" {
		return gpus + q.Gres.Bind
	}
	for _, it := range q.Gres.PerTask {
		if it.Name == "gpu" {
			return gpus + "per_task:" + decimal(it.Count)
		}
	}
	return ""
}

// Licenses writes counts of licences: foo:2,bar:1.
func Licenses(list []job.License) string {
	var dst []byte
	for i, l := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendUint(append(append(dst, l.Name...), ':'), l.Count)
	}
	return string(dst)
}

// jobShape: counts and sizes.
func jobShape() []jobField {
	return []jobField{
		{Name: "Contiguous", Letter: 'O', Head: "CONTIGUOUS", Needs: needRequest, Text: flag(func(q *job.Request) bool { return q.Place.Contiguous })},
		{Name: "Cores", Letter: 'I', Head: "CORES_PER_SOCKET", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return AppendStar(dst, q.Size.CoresPerSocket) })},
		{Name: "CoreSpec", Letter: 'X', Head: "CORE_SPEC", Needs: needRequest, Text: requestOf(appendCoreSpec)},
		{Name: "CPUsPerTask", Head: "CPUS_PER_TASK", Needs: needRequest, Text: requestOf(appendCPUsPerTask)},
		{Name: "cpus-per-task", Head: "CPUS_PER_TASK", Needs: needRequest, Text: requestOf(appendCPUsPerTask)},
		{Name: "cpus-per-tres", Head: "CPUS_PER_TRES", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			if q.Gres.CPUsPerGPU == 0 {
				return append(dst, "N/A"...)
			}
			return appendUint(append(dst, "gres/gpu:"...), q.Gres.CPUsPerGPU)
		})},
		{Name: "MaxCPUs", Head: "MAX_CPUS", Text: countOf(func(r *api.JobRecord) uint32 { return r.Count.CPUs })},
		{Name: "MaxNodes", Head: "MAX_NODES", Text: countOf(func(r *api.JobRecord) uint32 { return max(r.Count.MaxNodes, min(r.Count.Nodes, 1)) })},
		{Name: "mem-per-tres", Head: "MEM_PER_TRES", Text: func(dst []byte, _ *Context, r *api.JobRecord) []byte {
			if r.Memory.Per != job.MemoryPerGPU {
				return append(dst, "N/A"...)
			}
			return appendUint(append(dst, "gres/gpu:"...), r.Memory.MB)
		}},
		{Name: "MinCPUs", Letter: 'c', Head: "MIN_CPUS", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendUint(dst, MinCPUs(q)) })},
		{Name: "MinMemory", Letter: 'm', Head: "MIN_MEMORY", Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			return slurm.AppendSize(dst, r.Memory.MB, slurm.Mega, x.Unit)
		}},
		{Name: "MinTmpDisk", Letter: 'd', Head: "MIN_TMP_DISK", Needs: needRequest, Text: func(dst []byte, x *Context, r *api.JobRecord) []byte {
			return slurm.AppendSize(dst, request(r).Place.TmpDiskMB, slurm.Mega, x.Unit)
		}},
		{Name: "Nice", Letter: 'y', Head: "NICE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return strconv.AppendInt(dst, int64(q.Nice), 10) })},
		{Name: "NTPerCore", Head: "NTASKS_PER_CORE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendNA(dst, q.Size.TasksPerCore) })},
		{Name: "NTPerNode", Head: "NTASKS_PER_NODE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendUint(dst, q.Size.TasksPerNode) })},
		{Name: "NTPerSocket", Head: "NTASKS_PER_SOCKET", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendNA(dst, q.Size.TasksPerSocket) })},
		{Name: "NumCPUs", Letter: 'C', Head: "CPUS", Text: countOf(func(r *api.JobRecord) uint32 { return r.Count.CPUs })},
		{Name: "NumNodes", Letter: 'D', Head: "NODES", Text: countOf(func(r *api.JobRecord) uint32 { return r.Count.Nodes })},
		{Name: "NumTasks", Head: "TASKS", Text: countOf(func(r *api.JobRecord) uint32 { return r.Count.Tasks })},
		{Name: "SCT", Letter: 'z', Head: "S:C:T", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			dst = append(AppendStar(dst, q.Size.SocketsPerNode), ':')
			dst = append(AppendStar(dst, q.Size.CoresPerSocket), ':')
			return AppendStar(dst, q.Size.ThreadsPerCore)
		})},
		{Name: "SegmentSize", Head: "SEGMENT_SIZE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendNA(dst, uint16(q.Place.Segment)) })},
		{Name: "Sockets", Letter: 'H', Head: "SOCKETS_PER_NODE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return AppendStar(dst, q.Size.SocketsPerNode) })},
		{Name: "Threads", Letter: 'J', Head: "THREADS_PER_CORE", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return AppendStar(dst, q.Size.ThreadsPerCore) })},
		{Name: "Tres", Head: "TRES_ALLOC", Hidden: true, Needs: needResources, Text: appendJobTRES},
		{Name: "tres-alloc", Head: "TRES_ALLOC", Needs: needResources, Text: appendJobTRES},
		{Name: "tres-bind", Head: "TRES_BIND", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendOr(dst, Bind(q), "N/A") })},
		{Name: "tres-freq", Head: "TRES_FREQ", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendOr(dst, q.Gres.Freq, "N/A") })},
		{Name: "tres-per-job", Head: "TRES_PER_JOB", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			return appendOr(dst, string(AppendSpec(nil, q.Gres.PerJob)), "N/A")
		})},
		{Name: "tres-per-node", Letter: 'b', Head: "TRES_PER_NODE", Hidden: true, Needs: needRequest, Text: requestOf(appendPerNode)},
		{Name: "Gres", Head: "TRES_PER_NODE", Hidden: true, Needs: needRequest, Text: requestOf(appendPerNode)},
		{Name: "tres-per-socket", Head: "TRES_PER_SOCKET", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte {
			return appendOr(dst, string(AppendSpec(nil, q.Gres.PerSocket)), "N/A")
		})},
		{Name: "tres-per-task", Head: "TRES_PER_TASK", Needs: needRequest, Text: requestOf(func(dst []byte, q *job.Request) []byte { return appendOr(dst, string(AppendPerTask(nil, q)), "N/A") })},
	}
}

func appendPerNode(dst []byte, q *job.Request) []byte {
	return appendOr(dst, string(AppendSpec(nil, q.Gres.PerNode)), "N/A")
}

func appendCPUsPerTask(dst []byte, q *job.Request) []byte {
	return appendUint(dst, max(q.Size.CPUsPerTask, 1))
}

func appendCoreSpec(dst []byte, q *job.Request) []byte {
	switch {
	case q.Size.ThreadSpec != 0:
		return append(appendUint(dst, q.Size.ThreadSpec), " Threads"...)
	case q.Size.CoreSpec != 0:
		return appendUint(dst, q.Size.CoreSpec)
	}
	return append(dst, "N/A"...)
}

// appendJobTRES writes what a job holds, or asks for while it waits.
func appendJobTRES(dst []byte, x *Context, r *api.JobRecord) []byte {
	at, held := len(dst), &r.Used
	if held.CPUs == 0 {
		held = &r.Asked
	}
	if dst = slurm.AppendTRES(dst, held, x.Unit); len(dst) == at {
		return append(dst, "N/A"...)
	}
	return dst
}
