package query

import (
	"context"
	"fmt"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
)

// why explains what holds a waiting job.
func why(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.WhyRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	v := newView(core, root, 0)
	found := v.find(&q.Job)
	if uid := visible(root, r); len(found) == 0 || uid >= 0 && int64(found[0].Owner.UID) != uid {
		return errNoJob()
	}
	j := found[0]
	for _, other := range found { // of an array, what still waits
		if other.State == job.Pending {
			j = other
		}
	}
	reply := api.WhyReply{Job: named(j), State: j.State, Zone: v.cluster.TimeZone}
	if j.State != job.Pending {
		return send(r, &reply)
	}
	x, ok, err := core.Explain(ctx, j.ID)
	if err != nil {
		return err
	}
	if !ok {
		return api.Errorf(api.ErrState, "job %s does not wait any more, or not all components of its heterogeneous job do", reply.Job)
	}
	reply.Ahead, reply.Planned, reply.Nodes = uint32(x.Ahead), x.Planned, v.nodeNames(x.Nodes)
	for _, w := range x.Reasons {
		reply.Reasons = append(reply.Reasons, api.WhyReason{Reason: w.Reason, Detail: w.Detail})
	}
	for _, b := range x.Before {
		reply.Before = append(reply.Before, api.WhyBefore{Job: b.Job, Start: b.Start, Nodes: uint32(b.Nodes)})
	}
	for _, c := range x.Sooner {
		reply.Sooner = append(reply.Sooner, api.WhyChange{What: c.What, Start: c.Start})
	}
	return send(r, &reply)
}

// named writes a job as squeue does, without the list of an array's waiting tasks.
func named(j *job.Job) string {
	switch {
	case j.Array.JobID != 0 && !j.IsArrayRest():
		return fmt.Sprintf("%d_%d", j.Array.JobID, j.Array.Task)
	case j.Array.JobID != 0:
		return fmt.Sprintf("%d_[%s]", j.Array.JobID, j.Array.Range)
	}
	return fmt.Sprint(j.ID)
}
