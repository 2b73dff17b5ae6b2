package query

import (
	"cmp"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/hostlist"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// view turns jobs of one root into records.
type view struct {
	core    service.Core
	root    *state.Root
	cluster *partition.Cluster
	fields  api.JobFields
	now     job.Time
	shape   map[string]partitionShape // by name, filled in when first asked for
}

// partitionShape is what the records of waiting jobs need to know of a partition.
type partitionShape struct {
	cpus     uint32 // of its largest node
	memoryMB uint64
}

func newView(core service.Core, root *state.Root, fields api.JobFields) *view {
	return &view{core: core, root: root, cluster: root.Cluster(), fields: fields, now: core.Now(), shape: map[string]partitionShape{}}
}

// has tells whether a part of the record was asked for.
func (v *view) has(f api.JobFields) bool { return v.fields&f != 0 }

// fill turns a job into a record.
func (v *view) fill(r *api.JobRecord, j *job.Job) {
	q := j.Request
	r.ID, r.State, r.Flags, r.Priority = j.ID, j.State, j.Flags, j.Priority
	r.Name, r.Account, r.QOS = q.Name, j.Account, j.QOS
	r.Owner = api.JobOwner{User: j.Owner.User, Group: j.Owner.Group, UID: j.Owner.UID, GID: j.Owner.GID}
	r.Attempt, r.SLUID, r.Held = j.Attempt, j.SLUID, j.Held
	r.Times, r.Reservation = j.Times, reservation(j)
	v.place(r, j)
	v.array(r, j)
	v.reason(r, j)
	v.begin(r, j)
	p := v.root.Partition(first(r.Partition))
	r.Memory = v.memory(q, p)
	r.Times.Limit = v.limit(j, p)
	r.Count = v.count(j, p)
	v.parts(r, j, p)
}

// parts fills in the parts that were asked for.
func (v *view) parts(r *api.JobRecord, j *job.Job, p *partition.Partition) {
	if v.has(api.JobRequest) {
		r.Request = j.Request
		if open := j.OpenDeps(); len(open) > 0 {
			r.Deps = slurm.FormatDependency(open, j.AnyDep, v.isArray)
		}
	}
	if v.has(api.JobAllocated) && j.State != job.Pending {
		r.Alloc = j.Alloc
	}
	if v.has(api.JobSteps) {
		r.Steps = j.Steps
	}
	if v.has(api.JobResources) {
		r.Asked = v.asked(j, &r.Count, r.Memory, p)
		if j.State != job.Pending && j.Alloc != nil {
			r.Used = held(j.Alloc)
		}
	}
	if v.has(api.JobEnding) {
		r.End = v.ending(j)
	}
}

// ending is the result, with what is known so far of a running attempt.
func (v *view) ending(j *job.Job) *job.Result {
	if !j.State.Active() {
		return &j.End
	}
	end := j.End
	if u, ok := v.core.Usage(j.ID); ok {
		end.Usage = u
	}
	return &end
}

func (v *view) isArray(id job.ID) bool {
	for range v.root.Array(id) {
		return true
	}
	return false
}

// place fills in partition and nodes: those held, or the partitions asked for.
func (v *view) place(r *api.JobRecord, j *job.Job) {
	if j.State == job.Pending || j.Alloc == nil {
		r.Partition = strings.Join(j.Request.Partitions, ",")
		return
	}
	r.Partition = j.Alloc.Partition
	r.Nodes = shareNames(j.Alloc)
	for i := range j.Alloc.Nodes {
		if s := &j.Alloc.Nodes[i]; s.Node == j.Alloc.BatchNode || i == 0 {
			r.BatchHost = s.Name
		}
	}
}

// shareNames writes the nodes of an allocation as a host list.
func shareNames(a *job.Allocation) string {
	switch len(a.Nodes) {
	case 0:
		return ""
	case 1:
		return a.Nodes[0].Name
	}
	names := make([]string, len(a.Nodes))
	for i := range a.Nodes {
		names[i] = a.Nodes[i].Name
	}
	hostlist.Sort(names)
	return hostlist.Compress(names)
}

// array fills in the places in an array and in a heterogeneous job.
func (v *view) array(r *api.JobRecord, j *job.Job) {
	if a := &j.Array; a.JobID != 0 {
		r.Array = api.JobArray{JobID: a.JobID, Limit: a.Limit}
		if a.Waiting != nil {
			r.Array.Waiting = slurm.FormatIndices(a.Waiting)
		} else {
			r.Array.Task = a.Task
		}
	}
	if h := &j.Het; h.Leader != 0 {
		r.Het = api.JobHet{Leader: h.Leader, Offset: h.Offset, IDs: h.IDs}
		if lead := v.root.Job(h.Leader); lead != nil {
			r.Het.IDs = lead.Het.IDs
		}
	}
}

// reason fills in why a job waits or how it ended, and its planned start.
func (v *view) reason(r *api.JobRecord, j *job.Job) {
	r.Reason = j.Reason
	if j.State != job.Pending {
		if j.Reason == job.ReasonRaisedSignal && j.End.Signal != 0 {
			r.Detail = "RaisedSignal:" + strconv.Itoa(int(j.End.Signal)) + "(" + signalText(j.End.Signal) + ")"
		}
		return
	}
	switch {
	case j.Held == job.HeldByUser:
		r.Reason, r.Detail = job.ReasonJobHeldUser, j.Detail // as: job requeued in held state
		return
	case j.Held == job.HeldByAdmin:
		r.Reason = job.ReasonJobHeldAdmin
		return
	}
	verdict, ok := v.core.Verdict(j.ID)
	if !ok {
		return
	}
	if j.Reason == job.ReasonNone || len(verdict.Reasons) > 0 && verdict.Reasons[0].Reason != job.ReasonNone {
		v.verdictReason(r, verdict.Reasons)
	}
	if verdict.Planned != 0 {
		r.Times.Planned = verdict.Planned
	}
	if v.has(api.JobPlanned) {
		r.SchedNodes = v.nodeNames(verdict.Nodes)
	}
}

// begin fills in when a waiting job may run at the earliest, whatever else holds
// it back.
func (v *view) begin(r *api.JobRecord, j *job.Job) {
	if t := j.Request.Timing.Begin; j.State == job.Pending && t > v.now {
		r.Times.Eligible, r.Times.Planned = t, max(r.Times.Planned, t)
	}
}

// nodeNames writes nodes as a host list.
func (v *view) nodeNames(ids []job.NodeID) string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if n := v.root.Node(id); n != nil {
			names = append(names, n.Name)
		}
	}
	hostlist.Sort(names)
	return hostlist.Compress(names)
}

func first(list string) string {
	name, _, _ := strings.Cut(list, ",")
	return name
}

// longest is the longest of the default limits of the partitions of a job that
// may start in several.
func (v *view) longest(q *job.Request) (limit job.Minutes) {
	for _, name := range q.Partitions {
		p := v.root.Partition(name)
		if p == nil || p.State != partition.PartitionUp {
			continue
		}
		l := cmp.Or(p.DefaultTime, p.MaxTime, job.Unlimited)
		limit = max(limit, l)
	}
	return cmp.Or(limit, job.Unlimited)
}

// limit is the time limit with the defaults of the partition.
func (v *view) limit(j *job.Job, p *partition.Partition) job.Minutes {
	switch {
	case j.Times.Limit != 0:
		return j.Times.Limit
	case j.Request.Timing.Limit != 0:
		return j.Request.Timing.Limit
	case j.State == job.Pending && len(j.Request.Partitions) > 1:
		return v.longest(j.Request)
	case p != nil && p.DefaultTime != 0:
		return p.DefaultTime
	case p != nil && p.MaxTime != 0:
		return p.MaxTime
	}
	return job.Unlimited
}
