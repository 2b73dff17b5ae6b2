package sched

import (
	"math/bits"

	"muster/accounting"
	"muster/job"
	"muster/partition"
)

// Ranker works out the multifactor priorities of a cluster's jobs.
type Ranker struct {
	Weights *partition.Priority
	Book    *accounting.Book
	Fair    Fair

	factor    map[string]uint64 // PriorityJobFactor by partition
	maxPart   uint64
	maxQOS    uint64
	maxAssoc  uint64
	totalCPUs uint64
}

// Rank is the priority of a job with what it is made of.
type Rank struct {
	Factors  Factors
	Priority uint32
}

// Fair tells the fair-share factor of a user's association.
type Fair interface {
	FairShare(a *accounting.Association) accounting.Fraction
}

// NewRanker makes a ranker from the weights, partitions, number of CPUs and book
// of a cluster.
func NewRanker(weights *partition.Priority, parts []*partition.Partition, cpus uint64, book *accounting.Book, fair Fair) *Ranker {
	r := &Ranker{Weights: weights, Book: book, Fair: fair, factor: map[string]uint64{}, totalCPUs: cpus}
	for _, p := range parts {
		r.factor[p.Name] = uint64(p.JobFactor)
		r.maxPart = max(r.maxPart, uint64(p.JobFactor))
	}
	for _, q := range book.QOS {
		r.maxQOS = max(r.maxQOS, uint64(q.Priority))
	}
	for _, a := range book.Assocs {
		if n, ok := a.Priority.Get(); ok {
			r.maxAssoc = max(r.maxAssoc, n)
		}
	}
	return r
}

// Rank works out the priority of a job. A job without an association has no fair
// share.
func (r *Ranker) Rank(j *job.Job, now job.Time) Rank {
	m := Measure{Eligible: j.Times.Eligible, Now: now, CPUs: uint64(j.Request.Size.MinCPUs), TotalCPUs: r.totalCPUs, MaxPart: r.maxPart, MaxQOS: r.maxQOS, MaxAssoc: r.maxAssoc}
	part := ""
	for _, name := range j.Request.Partitions {
		if f := r.factor[name]; part == "" || f > m.PartFactor {
			part, m.PartFactor = name, f
		}
	}
	if q := r.Book.QOSNamed(j.QOS); q != nil {
		m.QOSPriority = uint64(q.Priority)
	}
	if own := r.Book.Of(j.Account, user(j), part); own != nil {
		if r.Weights.FairShare > 0 {
			hi, lo := bits.Mul64(uint64(r.Fair.FairShare(own)), One)
			m.FairShare, _ = bits.Div64(hi, lo, uint64(accounting.One))
		}
		for a := own; a != nil; a = r.Book.Above(a) {
			if n, ok := a.Priority.Get(); ok {
				m.AssocPriority = n
				break
			}
		}
	}
	f := FactorsOf(&m, r.Weights)
	return Rank{Factors: f, Priority: Multifactor(&f, r.Weights, j.Request.SitePriority, j.Request.Nice)}
}
