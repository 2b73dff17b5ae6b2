package sched

import (
	"muster/accounting"
	"muster/job"
	"muster/partition"
)

// Ranker works out the multifactor priorities of a cluster's jobs.
type Ranker struct {
	Weights *partition.Priority
	Book    *accounting.Book

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

// NewRanker makes a ranker from the weights, partitions, number of CPUs and book
// of a cluster.
func NewRanker(weights *partition.Priority, parts []*partition.Partition, cpus uint64, book *accounting.Book) *Ranker {
	r := &Ranker{Weights: weights, Book: book, factor: map[string]uint64{}, totalCPUs: cpus}
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
// share; all others have the whole of it, since past use is not gathered yet.
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
		m.FairShare = One
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
