package accounting

import (
	"fmt"
	"strings"

	"muster/job"
)

// check judges one job by its QOS and by its association with all above it. A
// limit that the QOS sets hides the same limit of associations
// (resource_limits of Slurm's documents).
type check struct {
	rules *Rules
	uses  Uses
	ask   *Ask
	qos   *QOS
	early bool // the job is not placed yet
}

// start judges all that keeps a job from starting.
func (c *check) start() Refusal {
	for _, part := range []func() Refusal{c.qosJobs, c.qosSize, c.assocJobs, c.assocSize, func() Refusal { return c.minutes(true) }} {
		if no := part(); no.Is() {
			return no
		}
	}
	return Refusal{}
}

// over makes the refusal of a count that would pass a limit.
func over(r job.Reason, who, what string, limit, held uint64) Refusal {
	return Refusal{r, fmt.Sprintf("%s: %s is limited to %d, %d are held", who, what, limit, held)}
}

// qosJobs judges the limits of the QOS on the number of jobs.
func (c *check) qosJobs() Refusal {
	q := c.qos
	for _, l := range []struct {
		bound  Bound
		holder Holder
		reason job.Reason
		what   string
	}{
		{q.Limits.GrpJobs, c.holder(HeldByQOS), job.ReasonQOSGrpJobsLimit, "GrpJobs"},
		{q.PerAccount.Jobs, c.holder(HeldByQOSAccount), job.ReasonMaxJobsPerAccount, "MaxJobsPerAccount"},
		{q.PerUser.Jobs, c.holder(HeldByQOSUser), job.ReasonQOSMaxJobsPerUserLimit, "MaxJobsPerUser"},
	} {
		if n, ok := l.bound.Get(); ok {
			if use := c.uses.Use(l.holder); use.Jobs+1 > n {
				return over(l.reason, "QOS "+q.Name, l.what, n, use.Jobs)
			}
		}
	}
	return Refusal{}
}

// qosSize judges the limits of the QOS on time and resources.
func (c *check) qosSize() Refusal {
	q, who := c.qos, "QOS "+c.qos.Name
	if no := c.wall(q.Limits.MaxWall, job.ReasonQOSMaxWallDurationPerJobLimit, who); no.Is() {
		return no
	}
	for _, l := range []struct {
		list   Amounts
		kind   int
		holder Holder
	}{
		{q.Limits.MaxTRES, perJob, Holder{}}, {q.Limits.GrpTRES, group, c.holder(HeldByQOS)},
		{q.PerAccount.TRES, perAccount, c.holder(HeldByQOSAccount)}, {q.PerUser.TRES, perUser, c.holder(HeldByQOSUser)},
	} {
		var use Use
		if len(l.list) > 0 && l.holder.Kind != 0 {
			use = c.uses.Use(l.holder)
		}
		if no := c.amounts(l.list, &use, l.kind, who, nil); no.Is() {
			return no
		}
	}
	if c.early {
		return Refusal{}
	}
	for _, a := range q.MinTRES {
		if n := c.ask.Want.Get(a.Name); n < a.Count {
			return Refusal{resourceReason(a.Name)[least], fmt.Sprintf("%s: at least %d of %s are to be asked for, not %d", who, a.Count, a.Name, n)}
		}
	}
	return Refusal{}
}

// assocJobs judges the limits of associations on the number of jobs.
func (c *check) assocJobs() Refusal {
	own := c.rules.Book.Of(c.ask.Account, c.ask.User, c.ask.Partition)
	maxJobs := Bound(0)
	for a := own; a != nil; a = c.rules.Book.Above(a) {
		if n, ok := a.Limits.GrpJobs.Get(); ok && c.qos.Limits.GrpJobs == 0 {
			if use := c.useOf(a); use.Jobs+1 > n {
				return over(job.ReasonAssocGrpJobsLimit, a.String(), "GrpJobs", n, use.Jobs)
			}
		}
		if maxJobs == 0 {
			maxJobs = a.Limits.MaxJobs
		}
	}
	if n, ok := maxJobs.Get(); ok && c.qos.PerUser.Jobs == 0 && own != nil {
		if use := c.useOf(own); use.Jobs+1 > n {
			return over(job.ReasonAssocMaxJobsLimit, own.String(), "MaxJobs", n, use.Jobs)
		}
	}
	return Refusal{}
}

// assocSize judges the limits of associations on time and resources.
func (c *check) assocSize() Refusal {
	wall, most := Bound(0), Amounts(nil)
	own := c.rules.Book.Of(c.ask.Account, c.ask.User, c.ask.Partition)
	for a := own; a != nil; a = c.rules.Book.Above(a) {
		if len(a.Limits.GrpTRES) > 0 {
			use := c.useOf(a)
			if no := c.amounts(a.Limits.GrpTRES, &use, assocGroup, a.String(), c.qos.Limits.GrpTRES); no.Is() {
				return no
			}
		}
		if wall == 0 {
			wall = a.Limits.MaxWall
		}
		for _, x := range a.Limits.MaxTRES {
			if _, nearer := most.Get(x.Name); !nearer {
				most = most.With(x.Name, x.Count)
			}
		}
	}
	if own == nil {
		return Refusal{}
	}
	if c.qos.Limits.MaxWall == 0 {
		if no := c.wall(wall, job.ReasonAssocMaxWallDurationPerJobLimit, own.String()); no.Is() {
			return no
		}
	}
	return c.amounts(most, &Use{}, assocJob, own.String(), c.qos.Limits.MaxTRES)
}

// submits judges the limits on the number of jobs in the queue.
func (c *check) submits() Refusal {
	want := max(c.ask.Want.Submitted, 1)
	passed := func(b Bound, use Use) bool { return b.Passed(use.Submitted + want) }
	q := c.qos
	switch {
	case q.Limits.GrpSubmit != 0 && passed(q.Limits.GrpSubmit, c.uses.Use(c.holder(HeldByQOS))):
		return Refusal{job.ReasonQOSGrpSubmitJobsLimit, "QOS " + q.Name + ": GrpSubmitJobs"}
	case q.PerAccount.Submit != 0 && passed(q.PerAccount.Submit, c.uses.Use(c.holder(HeldByQOSAccount))):
		return Refusal{job.ReasonMaxSubmitJobsPerAccount, "QOS " + q.Name + ": MaxSubmitJobsPerAccount"}
	case q.PerUser.Submit != 0 && passed(q.PerUser.Submit, c.uses.Use(c.holder(HeldByQOSUser))):
		return Refusal{job.ReasonQOSMaxSubmitJobPerUserLimit, "QOS " + q.Name + ": MaxSubmitJobsPerUser"}
	}
	own := c.rules.Book.Of(c.ask.Account, c.ask.User, c.ask.Partition)
	most := Bound(0)
	for a := own; a != nil; a = c.rules.Book.Above(a) {
		if a.Limits.GrpSubmit != 0 && q.Limits.GrpSubmit == 0 && passed(a.Limits.GrpSubmit, c.useOf(a)) {
			return Refusal{job.ReasonAssocGrpSubmitJobsLimit, a.String() + ": GrpSubmitJobs"}
		}
		if most == 0 {
			most = a.Limits.MaxSubmit
		}
	}
	if most != 0 && own != nil && q.PerUser.Submit == 0 && passed(most, c.useOf(own)) {
		return Refusal{job.ReasonAssocMaxSubmitJobLimit, own.String() + ": MaxSubmitJobs"}
	}
	return Refusal{}
}

// wall judges the time limit of the job.
func (c *check) wall(b Bound, r job.Reason, who string) Refusal {
	n, ok := b.Get()
	if !ok || c.ask.Wall == 0 || uint64(c.ask.Wall) <= n && c.ask.Wall != job.Unlimited {
		return Refusal{}
	}
	return Refusal{r, fmt.Sprintf("%s: MaxWall is %d minutes", who, n)}
}

// amounts judges limits on resources; those in hidden are set by the QOS.
func (c *check) amounts(list Amounts, use *Use, kind int, who string, hidden Amounts) Refusal {
	for _, a := range list {
		if _, ok := hidden.Get(a.Name); ok {
			continue
		}
		if held, want := use.Get(a.Name), c.ask.Want.Get(a.Name); want > 0 && held+want > a.Count {
			return over(resourceReason(a.Name)[kind], who, a.Name, a.Count, held)
		}
	}
	return Refusal{}
}

// holder names a count that the job belongs to.
func (c *check) holder(kind HolderKind) Holder {
	for _, h := range Holders(c.ask.Account, c.ask.User, c.ask.Partition, c.ask.QOS) {
		if h.Kind == kind {
			return h
		}
	}
	return Holder{}
}

// useOf is what all jobs of an association hold: of an account's own, all below.
func (c *check) useOf(a *Association) Use {
	switch {
	case a.User != "" && a.Partition != "":
		return c.uses.Use(Holder{Kind: HeldByPart, Account: a.Account, User: a.User, Partition: a.Partition})
	case a.User != "":
		return c.uses.Use(Holder{Kind: HeldByAssoc, Account: a.Account, User: a.User})
	}
	if known, ok := c.uses.(Totals); ok {
		return known.Below(a.Account)
	}
	return c.rules.Book.SumOf(c.uses, a.Account)
}

// String names an association for people.
func (a *Association) String() string {
	switch {
	case a.User == "":
		return "account " + a.Account
	case a.Partition != "":
		return fmt.Sprintf("user %s in account %s, partition %s", a.User, a.Account, a.Partition)
	}
	return fmt.Sprintf("user %s in account %s", a.User, a.Account)
}

// The kinds of limit on resources, as places in a row of reasons.
const (
	perJob = iota
	group
	perAccount
	perUser
	least
	assocGroup
	assocJob
)

// resourceReason is the row of reasons of a resource, by kind of limit.
func resourceReason(name string) [7]job.Reason {
	family, _, _ := strings.Cut(name, "/")
	switch family {
	case "cpu":
		return [7]job.Reason{job.ReasonQOSMaxCpuPerJobLimit, job.ReasonQOSGrpCpuLimit, job.ReasonMaxCpuPerAccount, job.ReasonQOSMaxCpuPerUserLimit,
			job.ReasonQOSMinCpuNotSatisfied, job.ReasonAssocGrpCpuLimit, job.ReasonAssocMaxCpuPerJobLimit}
	case "mem":
		return [7]job.Reason{job.ReasonQOSMaxMemoryPerJob, job.ReasonQOSGrpMemLimit, job.ReasonMaxMemoryPerAccount, job.ReasonQOSMaxMemoryPerUser,
			job.ReasonQOSMinMemory, job.ReasonAssocGrpMemLimit, job.ReasonAssocMaxMemPerJob}
	case "node":
		return [7]job.Reason{job.ReasonQOSMaxNodePerJobLimit, job.ReasonQOSGrpNodeLimit, job.ReasonMaxNodePerAccount, job.ReasonQOSMaxNodePerUserLimit,
			job.ReasonQOSMinNode, job.ReasonAssocGrpNodeLimit, job.ReasonAssocMaxNodePerJobLimit}
	case "license":
		return [7]job.Reason{job.ReasonQOSMaxLicensePerJob, job.ReasonQOSGrpLicense, job.ReasonMaxLicensePerAccount, job.ReasonQOSMaxLicensePerUser,
			job.ReasonQOSMinLicense, job.ReasonAssocGrpLicense, job.ReasonAssocMaxLicensePerJob}
	case "billing":
		return [7]job.Reason{job.ReasonQOSMaxBillingPerJob, job.ReasonQOSGrpBilling, job.ReasonMaxBillingPerAccount, job.ReasonQOSMaxBillingPerUser,
			job.ReasonQOSMinBilling, job.ReasonAssocGrpBilling, job.ReasonAssocMaxBillingPerJob}
	}
	return [7]job.Reason{job.ReasonQOSMaxGRESPerJob, job.ReasonQOSGrpGRES, job.ReasonMaxGRESPerAccount, job.ReasonQOSMaxGRESPerUser,
		job.ReasonQOSMinGRES, job.ReasonAssocGrpGRES, job.ReasonAssocMaxGRESPerJob}
}
