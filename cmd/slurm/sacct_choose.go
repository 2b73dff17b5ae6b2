package main

import (
	"slices"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/job"
)

// acctChoice holds the selections of sacct that are made here, since the cluster
// has no index for them.
type acctChoice struct {
	constraints  []string // --constraints: the job asked for one of these
	reasons      []string // --reason: it waited last for one of these
	limit, upTo  job.Minutes
	limitGiven   bool
	upToGiven    bool
	truncate     bool // --truncate: times are cut to the window
	expandPaths  bool // --expand-patterns
	windowStarts job.Time
	windowEnds   job.Time
}

// take acts on one option; false if it is none of these, or with a complaint.
func (a *acctChoice) take(in *invocation, g *slurm.Given) (taken bool, code int, stop bool) {
	switch g.Flag.Name {
	case "constraints":
		a.constraints = append(a.constraints, words(g.Value)...)
	case "reason":
		a.reasons = append(a.reasons, words(g.Value)...)
	case "timelimit-min", "timelimit-max":
		m, err := slurm.ParseTimeLimit(g.Value)
		if err != nil {
			code, stop = in.fatal("Invalid time limit specification")
			return true, code, stop
		}
		if g.Flag.Name == "timelimit-min" {
			a.limit, a.limitGiven = m, true
		} else {
			a.upTo, a.upToGiven = m, true
		}
	case "truncate":
		a.truncate = true
	case "expand-patterns":
		a.expandPaths = true
	default:
		return false, 0, false
	}
	return true, 0, false
}

// keeps tells whether a job is chosen. A lower limit alone means exactly it.
func (a *acctChoice) keeps(r *api.JobRecord) bool {
	limit := r.Times.Limit
	switch {
	case a.limitGiven && !a.upToGiven && limit != a.limit:
		return false
	case a.limitGiven && a.upToGiven && (limit < a.limit || limit > a.upTo):
		return false
	case a.constraints != nil && (r.Request == nil || !slices.Contains(a.constraints, r.Request.Place.Constraint)):
		return false
	case a.reasons != nil && !slices.ContainsFunc(a.reasons, func(w string) bool { return strings.EqualFold(w, format.Reason(r)) }):
		return false
	}
	return true
}

// cut applies --truncate: what lies outside the window that was asked for is not
// counted.
func (a *acctChoice) cut(r *api.JobRecord) {
	if !a.truncate {
		return
	}
	t := &r.Times
	if t.Start != 0 && t.Start < a.windowStarts {
		t.Start = a.windowStarts
	}
	if a.windowEnds != 0 && t.End > a.windowEnds {
		t.End = a.windowEnds
	}
}

// choose applies the selections to an answer.
func (a *acctChoice) choose(list *api.JobList) {
	list.Jobs = slices.DeleteFunc(list.Jobs, func(r api.JobRecord) bool { return !a.keeps(&r) })
	for i := range list.Jobs {
		a.cut(&list.Jobs[i])
	}
}
