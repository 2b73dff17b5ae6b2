package accounting

import (
	"fmt"
	"slices"

	"muster/job"
)

// Rules judge jobs by a book, as far as the cluster enforces it (policy.enforce,
// AccountingStorageEnforce in slurm.conf(5)).
type Rules struct {
	Book         *Book
	Associations bool // jobs need an association
	QOS          bool // and a QOS that it may use
	Limits       bool
	Safe         bool // a job starts only if its limits let it run to its end
	Used         Used // what was used so far; needed for limits
}

// RulesOf reads the words of policy.enforce: limits, qos and safe each need
// associations, and safe needs limits.
func RulesOf(b *Book, enforce []string) *Rules {
	r := &Rules{Book: b, Used: unused{}}
	for _, w := range enforce {
		r.Associations = true
		r.QOS = r.QOS || w == "qos"
		r.Limits = r.Limits || w == "limits" || w == "safe"
		r.Safe = r.Safe || w == "safe"
	}
	return r
}

// Ask is what a job wants: to be submitted, or to start.
type Ask struct {
	Account, User, Partition, QOS string
	Want                          Use         // Submitted: of how many tasks it is
	Wall                          job.Minutes // its time limit, Unlimited included; 0: not known yet
}

// Uses tells what is held at present.
type Uses interface {
	Use(h Holder) Use
}

// Totals are uses that know what an account and all below it hold, so that it need
// not be added up for each job.
type Totals interface {
	Uses
	Below(account string) Use
}

// SumOf adds up what an account and all below it hold.
func (b *Book) SumOf(uses Uses, account string) Use {
	var sum Use
	for _, name := range b.Accounts {
		if b.Within(name.Name, account) {
			use := uses.Use(Holder{Kind: HeldByAccount, Account: name.Name})
			sum = sum.Plus(&use)
		}
	}
	return sum
}

// Refusal is why a job may not start, or not be submitted. The zero value is
// consent.
type Refusal struct {
	Reason job.Reason
	Detail string
}

// Is tells whether anything is refused.
func (r Refusal) Is() bool { return r.Reason != job.ReasonNone }

// Member tells whether a job belongs: it has an association, and may use its QOS.
func (r *Rules) Member(k *Ask) Refusal {
	if !r.Associations {
		return Refusal{}
	}
	a := r.Book.Of(k.Account, k.User, k.Partition)
	if a == nil {
		return Refusal{job.ReasonInvalidAccount, fmt.Sprintf("user %s is not in account %q", k.User, k.Account)}
	}
	if r.QOS && (r.Book.QOSNamed(k.QOS) == nil || !slices.Contains(r.Book.Allowed(a), k.QOS)) {
		return Refusal{job.ReasonInvalidQOS, fmt.Sprintf("user %s in account %s may not use QOS %q", k.User, k.Account, k.QOS)}
	}
	return Refusal{}
}

// Start tells whether a job may start, by what others of the same account, user
// and QOS hold.
func (r *Rules) Start(uses Uses, k *Ask) Refusal {
	if no := r.Member(k); no.Is() || !r.Limits {
		return no
	}
	return r.check(uses, k).start()
}

// StartAtLeast is Start for a job that is not placed yet: Want is the least that
// it can come to, so what asks for a least amount is not judged.
func (r *Rules) StartAtLeast(uses Uses, k *Ask) Refusal {
	if no := r.Member(k); no.Is() {
		return no
	}
	return r.LimitsAtLeast(uses, k)
}

// LimitsAtLeast is StartAtLeast for a job that is known to belong.
func (r *Rules) LimitsAtLeast(uses Uses, k *Ask) Refusal {
	if !r.Limits {
		return Refusal{}
	}
	c := r.check(uses, k)
	c.early = true
	return c.start()
}

// Queue tells whether a job may be in the queue: that no submit limit is passed.
func (r *Rules) Queue(uses Uses, k *Ask) Refusal {
	if !r.Limits {
		return Refusal{}
	}
	return r.check(uses, k).submits()
}

// Possible tells, for a QOS with DenyOnLimit, whether a job could ever start: that
// it passes no limit even when nobody else has a job.
func (r *Rules) Possible(k *Ask) Refusal {
	c := r.check(nobody{}, k)
	if !r.Limits || !c.qos.Flags.Has(DenyOnLimit) {
		return Refusal{}
	}
	if no := c.qosSize(); no.Is() {
		return no
	}
	if no := c.assocSize(); no.Is() {
		return no
	}
	return c.minutes(false)
}

func (r *Rules) check(uses Uses, k *Ask) *check {
	c := &check{rules: r, uses: uses, ask: k, qos: r.Book.QOSNamed(k.QOS)}
	if c.qos == nil {
		c.qos = &QOS{}
	}
	return c
}

// nobody holds anything: what is refused even so can never start.
type nobody struct{}

// Use implements Uses.
func (nobody) Use(Holder) Use { return Use{} }

// unused is a cluster in which nothing was used so far.
type unused struct{}

// Usage implements Used.
func (unused) Usage(string, string, string, string) *Usage { return &Usage{} }
