package sched

import (
	"muster/accounting"
	"muster/job"
)

// Accounts holds jobs to the limits of associations and QOS: the Limits of a
// cluster that enforces them.
type Accounts struct {
	Rules *accounting.Rules
	Uses  accounting.Uses // at the beginning of the cycle
}

// Begin implements Limits.
func (a *Accounts) Begin(job.Time) Ledger {
	l := &accountLedger{Accounts: a, started: map[accounting.Holder]accounting.Use{}, gates: map[gateKey]*gate{}, below: map[string]accounting.Use{}}
	for _, x := range a.Rules.Book.Assocs {
		l.byPartition = l.byPartition || x.Partition != ""
	}
	return l
}

// accountLedger counts the starts of one cycle on top of what is held already.
type accountLedger struct {
	*Accounts
	started     map[accounting.Holder]accounting.Use
	total       accounting.Use // of all starts
	starts      int
	below       map[string]accounting.Use // by account, as far as asked
	gates       map[gateKey]*gate
	byPartition bool // some associations are for one partition
}

// Use implements accounting.Uses.
func (l *accountLedger) Use(h accounting.Holder) accounting.Use {
	use := l.Uses.Use(h)
	if more, ok := l.started[h]; ok {
		return use.Plus(&more)
	}
	return use
}

// Below implements accounting.Totals.
func (l *accountLedger) Below(account string) accounting.Use {
	sum, known := l.below[account]
	if !known {
		sum = l.Rules.Book.SumOf(l, account)
		l.below[account] = sum
	}
	return sum
}

// Bars implements Ledger, by the least that the job can come to.
func (l *accountLedger) Bars(j *job.Job, partition string, limit job.Minutes) Why {
	size := &j.Request.Size
	least := accounting.Use{Jobs: 1, CPUs: uint64(max(1, size.MinCPUs)), Nodes: uint64(max(1, size.MinNodes))}
	for _, d := range j.Request.Gres.PerJob {
		least.Others = leastOf(least.Others, d.Name, d.Type, d.Count)
	}
	for _, d := range j.Request.Gres.PerNode {
		least.Others = leastOf(least.Others, d.Name, d.Type, d.Count*least.Nodes)
	}
	k := l.ask(j, partition, limit)
	// What the job does not ask for by itself is not known before it is placed:
	// that there is too little of something is judged then.
	k.Want = least
	return l.bars(&k)
}

func leastOf(list accounting.Amounts, name, typ string, n uint64) accounting.Amounts {
	list = list.With("gres/"+name, n)
	if typ != "" {
		list = list.With("gres/"+name+":"+typ, n)
	}
	return list
}

// Holds implements Ledger.
func (l *accountLedger) Holds(j *job.Job, a *job.Allocation, limit job.Minutes) Why {
	k := l.ask(j, a.Partition, limit)
	k.Want = accounting.UseOf(a)
	return l.why(&k)
}

// Started implements Ledger.
func (l *accountLedger) Started(j *job.Job, a *job.Allocation, _ job.Minutes) {
	use := accounting.UseOf(a)
	use.Submitted = 0 // it is in the queue already
	l.total = l.total.Plus(&use)
	l.starts++
	for _, a := range l.Rules.Book.Accounts {
		if sum, known := l.below[a.Name]; known && l.Rules.Book.Within(j.Account, a.Name) {
			l.below[a.Name] = sum.Plus(&use)
		}
	}
	for _, h := range accounting.Holders(j.Account, user(j), a.Partition, j.QOS) {
		have := l.started[h]
		l.started[h] = have.Plus(&use)
	}
}

func (l *accountLedger) ask(j *job.Job, partition string, limit job.Minutes) accounting.Ask {
	return accounting.Ask{Account: j.Account, User: user(j), Partition: partition, QOS: j.QOS, Wall: limit}
}

func (l *accountLedger) why(k *accounting.Ask) Why {
	no := l.Rules.Start(l, k)
	return Why{no.Reason, no.Detail}
}

// whyAtLeast judges a member by the limits, by the least that its job comes to.
func (l *accountLedger) whyAtLeast(k *accounting.Ask) Why {
	no := l.Rules.LimitsAtLeast(l, k)
	return Why{no.Reason, no.Detail}
}

func user(j *job.Job) string {
	if j.Owner == nil {
		return ""
	}
	return j.Owner.User
}
