package ctld

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/job"
	"muster/state"
)

// What root of a compute node may change: it looks after its own machine, so it
// may drain, resume and annotate that node, and annotate jobs on it. Nothing
// else, since its key may be stolen.

// annotations are the fields of a job that only tell people something.
var annotations = [...]string{"Comment", "AdminComment"}

// ownStates are the states that root of a node may ask for it.
var ownStates = [...]string{"DRAIN", "RESUME", "UNDRAIN"}

// ownBusiness tells whether a call changes no more than root of a compute node
// may change.
func ownBusiness(root *state.Root, node string, call *api.Call) bool {
	var req api.UpdateRequest
	if call.Method != api.MethodUpdateNode && call.Method != api.MethodUpdateJob {
		return false
	}
	if wire.Decode(call.Body, &req) != nil || req.Action != "" && req.Action != "update" {
		return false
	}
	named := false
	for _, p := range req.Pairs {
		isTarget, ok := false, false
		if call.Method == api.MethodUpdateNode {
			isTarget, ok = p.Name == "NodeName", mayAnnotateNode(node, p)
		} else {
			isTarget, ok = p.Name == "JobId", mayAnnotateJob(root, node, p)
		}
		if !ok || p.Op != "" {
			return false
		}
		named = named || isTarget
	}
	return named
}

func mayAnnotateNode(node string, p api.Pair) bool {
	switch p.Name {
	case "NodeName":
		return p.Value == node
	case "Reason", "Comment":
		return true
	case "State":
		word := strings.ToUpper(p.Value)
		return len(word) >= 3 && slices.ContainsFunc(ownStates[:], func(s string) bool { return strings.HasPrefix(s, word) })
	}
	return false
}

func mayAnnotateJob(root *state.Root, node string, p api.Pair) bool {
	if p.Name != "JobId" {
		return slices.Contains(annotations[:], p.Name)
	}
	for name := range strings.SplitSeq(p.Value, ",") {
		if j := oneJob(root, name); j == nil || !holdsOn(root, j, node) {
			return false
		}
	}
	return true
}

// oneJob finds the one record that a name means: a plain job by its number, a
// task of an array as job_task. Whole arrays and heterogeneous jobs are on other
// nodes too, so their names mean none here.
func oneJob(root *state.Root, name string) *job.Job {
	id, index, isTask := strings.Cut(name, "_")
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return nil
	}
	if isTask {
		task, err := strconv.ParseUint(index, 10, 32)
		if err != nil || uint32(task) == job.NoTask {
			return nil
		}
		return root.ArrayTask(job.ID(n), uint32(task))
	}
	if j := root.Job(job.ID(n)); j != nil && j.Array.JobID == 0 && j.Het.Leader == 0 {
		return j
	}
	return nil
}

// holdsOn tells whether a job runs, or is being cleaned up, on a node.
func holdsOn(root *state.Root, j *job.Job, node string) bool {
	n := root.NodeNamed(node)
	if n == nil {
		return false
	}
	for other := range root.OnNode(n.ID) {
		if other.ID == j.ID {
			return j.State.Active() || j.Flags&job.Completing != 0
		}
	}
	return false
}

// ownRoot is authorize for a write by root of a compute node.
func (c *Controller) ownRoot(ctx context.Context, node string, r *service.Request) *api.Error {
	if c.holds(ctx, func() bool { return ownBusiness(c.store.Root(), node, &r.Call) }) {
		return nil
	}
	return &api.Error{Kind: api.ErrDenied, Text: "Access/permission denied",
		Hint: "root of compute node " + node + " may drain, resume and annotate that node and comment on single jobs that run there; " +
			"act from a controller's host for anything else"}
}
