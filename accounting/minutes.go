package accounting

import (
	"fmt"
	"strings"

	"muster/job"
)

// minutes judges the limits on resource-minutes: of one job (MaxTRESMins), and with
// past, on what was used so far (GrpTRESMins, GrpWall). The QOS hides the same limit
// of associations. With safe limits a job starts only if it can run to its time limit.
func (c *check) minutes(past bool) Refusal {
	q := c.qos
	who := "QOS " + q.Name
	if no := c.jobMinutes(q.Limits.MaxTRESMins, nil, qosJobMinutes, who); no.Is() {
		return no
	}
	if past && (q.Limits.GrpWall != 0 || len(q.Limits.GrpTRESMins) > 0) {
		used := c.rules.Used.Usage("", "", "", q.Name)
		if no := c.usedUp(&q.Limits, &Limits{}, used, [2]int{qosMinutes, qosWall}, who); no.Is() {
			return no
		}
	}
	nearest := Amounts(nil)
	own := c.rules.Book.Of(c.ask.Account, c.ask.User, c.ask.Partition)
	for a := own; a != nil; a = c.rules.Book.Above(a) {
		for _, x := range a.Limits.MaxTRESMins {
			if _, nearer := nearest.Get(x.Name); !nearer {
				nearest = nearest.With(x.Name, x.Count)
			}
		}
		if past && (a.Limits.GrpWall != 0 || len(a.Limits.GrpTRESMins) > 0) {
			used := c.usedBelow(a)
			if no := c.usedUp(&a.Limits, &q.Limits, used, [2]int{assocMinutes, assocWall}, a.String()); no.Is() {
				return no
			}
		}
	}
	if own == nil {
		return Refusal{}
	}
	return c.jobMinutes(nearest, q.Limits.MaxTRESMins, assocJobMinutes, own.String())
}

// jobMinutes judges what the job would use by its time limit; those in hidden are
// limited by the QOS.
func (c *check) jobMinutes(list, hidden Amounts, kind int, who string) Refusal {
	for _, a := range list {
		if _, ok := hidden.Get(a.Name); ok {
			continue
		}
		if want := c.wouldUse(a.Name); want.Compare(Over(a.Count, 60)) > 0 {
			return Refusal{minuteReason(a.Name)[kind], fmt.Sprintf("%s: a job is limited to %d minutes of %s, this one may use %d", who, a.Count, a.Name, want.Whole()/60)}
		}
	}
	return Refusal{}
}

// usedUp judges what was used by the limits of its owner; what hidden limits as well
// is left out.
func (c *check) usedUp(l, hidden *Limits, used *Usage, kinds [2]int, who string) Refusal {
	full := func(have, want, limit Spent) bool {
		return have.Compare(limit) >= 0 || c.rules.Safe && have.Plus(c.counted(want)).Compare(limit) > 0
	}
	for _, a := range l.GrpTRESMins {
		if _, ok := hidden.GrpTRESMins.Get(a.Name); ok || c.ask.Want.Get(a.Name) == 0 {
			continue
		}
		if have := used.Get(a.Name); full(have, c.wouldUse(a.Name), Over(a.Count, 60)) {
			return Refusal{minuteReason(a.Name)[kinds[0]], fmt.Sprintf("%s: %d of %d minutes of %s are used", who, have.Whole()/60, a.Count, a.Name)}
		}
	}
	if n, ok := l.GrpWall.Get(); ok && hidden.GrpWall == 0 && full(used.Wall, Over(uint64(c.ask.Wall), 60), Over(n, 60)) {
		return Refusal{minuteReason("")[kinds[1]], fmt.Sprintf("%s: %d of %d minutes are used (GrpWall)", who, used.Wall.Whole()/60, n)}
	}
	return Refusal{}
}

// counted is what of a use would be added to what was used: with UsageFactorSafe the
// QOS's UsageFactor counts before the job starts, as it does after its end
// (sacctmgr(1), Flags).
func (c *check) counted(want Spent) Spent {
	if factor, ok := c.qos.UsageFactor.Get(); ok && c.qos.Flags.Has(UsageFactorSafe) {
		return want.Thousandths(factor)
	}
	return want
}

// wouldUse is what the job uses of a resource if it runs to its time limit.
func (c *check) wouldUse(name string) Spent {
	return Over(c.ask.Want.Get(name), 60).Times(uint64(c.ask.Wall))
}

// usedBelow is what an association has used: of an account's own, all below it.
func (c *check) usedBelow(a *Association) *Usage {
	if a.User != "" {
		return c.rules.Used.Usage(a.Account, a.User, a.Partition, "")
	}
	sum := &Usage{}
	for _, x := range c.rules.Book.Assocs {
		if x.User != "" && c.rules.Book.Within(x.Account, a.Account) {
			sum.Add(c.rules.Used.Usage(x.Account, x.User, x.Partition, ""))
		}
	}
	return sum
}

// The kinds of limit on minutes, as places in a row of reasons.
const (
	qosMinutes = iota
	qosJobMinutes
	assocMinutes
	assocJobMinutes
	qosWall
	assocWall
)

// minuteReason is the row of reasons of a resource, by kind of limit.
func minuteReason(name string) [6]job.Reason {
	row := func(qosGroup, qosJob, assocGroup, assocJob job.Reason) [6]job.Reason {
		return [6]job.Reason{qosMinutes: qosGroup, qosJobMinutes: qosJob, assocMinutes: assocGroup, assocJobMinutes: assocJob,
			qosWall: job.ReasonQOSGrpWallLimit, assocWall: job.ReasonAssocGrpWallLimit}
	}
	family, _, _ := strings.Cut(name, "/")
	switch family {
	case "cpu":
		return row(job.ReasonQOSGrpCPUMinutesLimit, job.ReasonQOSMaxCpuMinutesPerJobLimit,
			job.ReasonAssocGrpCPUMinutesLimit, job.ReasonAssocMaxCpuMinutesPerJobLimit)
	case "mem":
		return row(job.ReasonQOSGrpMemoryMinutes, job.ReasonQOSMaxMemoryMinutesPerJob,
			job.ReasonAssocGrpMemMinutes, job.ReasonAssocMaxMemMinutesPerJob)
	case "node":
		return row(job.ReasonQOSGrpNodeMinutes, job.ReasonQOSMaxNodeMinutesPerJob,
			job.ReasonAssocGrpNodeMinutes, job.ReasonAssocMaxNodeMinutesPerJob)
	case "license":
		return row(job.ReasonQOSGrpLicenseMinutes, job.ReasonQOSMaxLicenseMinutesPerJob,
			job.ReasonAssocGrpLicenseMinutes, job.ReasonAssocMaxLicenseMinutesPerJob)
	case "billing":
		return row(job.ReasonQOSGrpBillingMinutes, job.ReasonQOSMaxBillingMinutesPerJob,
			job.ReasonAssocGrpBillingMinutes, job.ReasonAssocMaxBillingMinutesPerJob)
	}
	return row(job.ReasonQOSGrpGRESMinutes, job.ReasonQOSMaxGRESMinutesPerJob,
		job.ReasonAssocGrpGRESMinutes, job.ReasonAssocMaxGRESMinutesPerJob)
}
