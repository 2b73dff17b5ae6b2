package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"muster/api"
	"muster/ctld/service"
	"muster/internal/hostlist"
	"muster/job"
)

// ping says who the controllers are.
func ping(_ context.Context, core service.Core, r *service.Request) error {
	root := core.Root()
	r.Index = root.Index()
	reply := api.PingReply{Cluster: root.Cluster().Name}
	for _, c := range core.Controllers() {
		reply.Controllers = append(reply.Controllers, api.ControllerRecord{Name: c.Name, Address: c.Address, Leader: c.Leader, Up: c.Up, Votes: c.Votes, Index: c.Index})
	}
	return send(r, &reply)
}

// partitions answers scontrol show partition.
func partitions(_ context.Context, core service.Core, r *service.Request) error {
	var q api.PartitionQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	if keptFrom(root, r, "partitions") {
		return errPrivate()
	}
	n := newNodeView(core, root)
	list := api.PartitionList{Cluster: root.Cluster().Name}
	for p := range root.Partitions() {
		if len(q.Names) == 0 || slices.Contains(q.Names, p.Name) {
			list.Partitions = append(list.Partitions, n.partition(p, false))
		}
	}
	return send(r, &list)
}

// reservations answers scontrol show reservation and sinfo -T.
func reservations(_ context.Context, core service.Core, r *service.Request) error {
	var q api.NameQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	list := api.ReservationList{Now: core.Now(), Cluster: root.Cluster().Name}
	private := keptFrom(root, r, "reservations")
	for res := range root.Reservations() {
		if private && !service.MayUseReservation(root, r, res.Name) {
			continue
		}
		if len(q.Names) > 0 && !slices.Contains(q.Names, res.Name) {
			continue
		}
		rec := api.ReservationRecord{
			Name: res.Name, Start: res.Start, End: res.End, Users: res.Users, Accounts: res.Accounts,
			Partition: res.Partition, Flags: res.Flags, Features: res.Features, Licenses: res.Licenses, Comment: res.Comment,
		}
		var names []string
		for _, id := range res.Nodes {
			if n := root.Node(id); n != nil {
				names = append(names, n.Name)
				rec.CPUs += n.Declared.CPUs
				rec.Cores += uint32(n.Declared.Cores())
			}
		}
		hostlist.Sort(names)
		rec.NodeCount, rec.Nodes = uint32(len(names)), hostlist.Compress(names)
		if res.CoreCount != 0 {
			rec.Cores = res.CoreCount
		}
		list.Reservations = append(list.Reservations, rec)
	}
	return send(r, &list)
}

// licenses answers scontrol show licenses.
func licenses(_ context.Context, core service.Core, r *service.Request) error {
	var q api.NameQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	list := api.LicenseList{Cluster: root.Cluster().Name}
	for _, l := range root.Cluster().Licenses {
		if len(q.Names) == 0 || slices.Contains(q.Names, l.Name) {
			list.Licenses = append(list.Licenses, api.LicenseRecord{Name: l.Name, Total: l.Total, Used: root.LicenseUse(l.Name)})
		}
	}
	slices.SortFunc(list.Licenses, func(a, b api.LicenseRecord) int { return strings.Compare(a.Name, b.Name) })
	return send(r, &list)
}

// script gives a job's script or environment to its owner and to root.
func script(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.ScriptRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	j, err := scriptJob(ctx, core, newView(core, root, 0), &q.Job)
	if err != nil {
		return err
	}
	if r.Caller.UID != j.Owner.UID && !r.Operates(root) {
		return api.Errorf(api.ErrDenied, "Invalid user id")
	}
	hash := j.Request.Batch.Script
	if q.Environment {
		hash = j.Request.Batch.Environment
	}
	if hash == (job.Hash{}) {
		return api.Errorf(api.ErrNotFound, "job script retrieval failed: Requested operation not supported on this system")
	}
	data, err := core.Blob(ctx, hash)
	if err != nil {
		return api.Errorf(api.ErrNotFound, "job %d: the script is not kept any more", j.ID)
	}
	return send(r, &api.ScriptReply{ID: j.ID, Data: data})
}

// scriptJob finds a job in the root or, if it has left memory, in the ledger.
func scriptJob(ctx context.Context, core service.Core, v *view, ref *api.JobRef) (*job.Job, error) {
	if found := v.find(ref); len(found) > 0 {
		return found[0], nil
	}
	var last *job.Job
	err := core.Ledger().Jobs(ctx, 0, 0, []job.ID{ref.ID}, nil, func(j *job.Job) bool {
		if !ref.HasTask || j.Array.Task == ref.Task {
			last = j
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, errNoJob()
	}
	return last, nil
}

// stats answers sdiag.
func stats(_ context.Context, core service.Core, r *service.Request) error {
	root := core.Root()
	r.Index = root.Index()
	c := core.Counters()
	reply := api.StatsReply{
		Now: core.Now(), Started: c.Started, Backfilled: c.Backfilled, Threads: c.Threads,
		Jobs:   api.StatsJobs{Submitted: c.Submitted, Started: c.JobsStarted, Completed: c.Completed, Cancelled: c.Cancelled, Failed: c.Failed},
		Cycles: api.StatsCycles{Count: c.Cycles, Last: c.CyclesLastUS, Max: c.CyclesMaxUS, Sum: c.CyclesSumUS, QueueLen: c.QueueLen, LastDepth: c.LastDepth, DepthSum: c.DepthSum},
	}
	for range root.Waiting() {
		reply.Jobs.Pending++
	}
	for range root.Holding() {
		reply.Jobs.Running++
	}
	for name, n := range c.Calls {
		reply.Calls = append(reply.Calls, api.StatsCall{Method: name, Count: n.Count, Sum: n.SumUS})
	}
	for uid, n := range c.Users {
		reply.Users = append(reply.Users, api.StatsUser{UID: uid, User: n.User, Count: n.Count, Sum: n.SumUS})
	}
	slices.SortFunc(reply.Users, func(a, b api.StatsUser) int {
		if a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return cmp.Compare(a.UID, b.UID)
	})
	slices.SortFunc(reply.Calls, func(a, b api.StatsCall) int {
		if a.Count != b.Count {
			return int(int64(b.Count) - int64(a.Count))
		}
		return strings.Compare(a.Method, b.Method)
	})
	return send(r, &reply)
}
