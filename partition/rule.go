package partition

import (
	"slices"

	"muster/gres"
	"muster/internal/wire"
	"muster/job"
)

// SubmitRule is a rule of the site for jobs that are submitted or changed: what
// job_submit plug-ins are for (slurm.conf(5), JobSubmitPlugins). A job must meet every
// condition that is set; of a list, one entry is enough. Either Refuse is set or what
// the job is to get.
type SubmitRule struct {
	Name       string
	Users      []string
	Groups     []string
	Accounts   []string
	Partitions []string
	QOS        []string
	Device     string      // kind of device that the job asks for
	NodesOver  uint32      // it asks for more nodes than this; 0: no condition
	TimeOver   job.Minutes // its time limit is longer; 0: no condition

	Refuse        string   // the user gets this text, and the job is not taken
	SetPartitions []string // replaces the job's; so do the next two
	SetAccount    string
	SetQOS        string
}

// Asked is what rules look at of a job.
type Asked struct {
	User       string
	Groups     []string
	Account    string
	Partitions []string
	QOS        string
	Devices    []string // kinds
	Nodes      uint32
	Limit      job.Minutes // the longest that it could get; job.Unlimited if there is none
}

// Judge goes through the rules in their order; each sees what those before it have
// set in a. It returns the rule that refuses the job, nil if none does.
func Judge(rules []SubmitRule, a *Asked) *SubmitRule {
	for i := range rules {
		r := &rules[i]
		if !r.meets(a) {
			continue
		}
		if r.Refuse != "" {
			return r
		}
		if len(r.SetPartitions) > 0 {
			a.Partitions = slices.Clone(r.SetPartitions)
		}
		if r.SetAccount != "" {
			a.Account = r.SetAccount
		}
		if r.SetQOS != "" {
			a.QOS = r.SetQOS
		}
	}
	return nil
}

// meets tells whether a job meets all conditions.
func (r *SubmitRule) meets(a *Asked) bool {
	return oneIn(r.Users, a.User) && oneIn(r.Groups, a.Groups...) && oneIn(r.Accounts, a.Account) &&
		oneIn(r.Partitions, a.Partitions...) && oneIn(r.QOS, a.QOS) &&
		(r.Device == "" || slices.Contains(a.Devices, r.Device)) &&
		(r.NodesOver == 0 || a.Nodes > r.NodesOver) &&
		(r.TimeOver == 0 || a.Limit > r.TimeOver)
}

// oneIn tells whether one of the values is in the list. An empty list is no condition.
func oneIn(list []string, values ...string) bool {
	return len(list) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(list, v) })
}

// DevicesAsked lists the kinds of devices that a request names, each once, in order.
func DevicesAsked(g *job.GresRequest) []string {
	var kinds []string
	for _, spec := range []gres.Spec{g.PerNode, g.PerJob, g.PerSocket, g.PerTask} {
		for _, item := range spec {
			if item.Count > 0 && !slices.Contains(kinds, item.Name) {
				kinds = append(kinds, item.Name)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// NodesAsked is the most nodes that a request names, by a count, by a list or by tasks of
// each node. Where only a number of tasks is given it is 1: on how many nodes those run
// is known when they start.
func NodesAsked(q *job.Request) uint32 {
	s := &q.Size
	nodes := max(1, s.MinNodes, s.MaxNodes, uint32(len(q.Place.Nodes)))
	if per := uint32(s.TasksPerNode); per > 0 && s.Tasks > 0 {
		nodes = max(nodes, (s.Tasks-1)/per+1)
	}
	return nodes
}

// Code implements wire.Message.
func (r *SubmitRule) Code(c *wire.Coder) {
	c.String(1, &r.Name)
	wire.Texts(c, 2, &r.Users)
	wire.Texts(c, 3, &r.Groups)
	wire.Texts(c, 4, &r.Accounts)
	wire.Texts(c, 5, &r.Partitions)
	wire.Texts(c, 6, &r.QOS)
	c.String(7, &r.Device)
	wire.Uint(c, 8, &r.NodesOver)
	wire.Uint(c, 9, &r.TimeOver)
	c.String(10, &r.Refuse)
	wire.Texts(c, 11, &r.SetPartitions)
	c.String(12, &r.SetAccount)
	c.String(13, &r.SetQOS)
}
