package sched

import (
	"math/bits"

	"muster/job"
	"muster/partition"
)

const (
	// TopPriority is what the first job gets without multifactor priority; each
	// later one gets one less, as with Slurm's priority/basic.
	TopPriority uint32 = 4294901759
	// MinPriority is the lowest priority of a job that is not held.
	MinPriority uint32 = 1
	// One is a factor of 1: factors are in millionths.
	One uint64 = 1_000_000
)

// Basic is the priority by order of submission: seq counts the jobs from 0.
func Basic(seq uint64) uint32 {
	if seq >= uint64(TopPriority)-uint64(MinPriority) {
		return MinPriority
	}
	return TopPriority - uint32(seq)
}

// Factors are the parts of a multifactor priority, each from 0 to One
// (priority/multifactor).
type Factors struct {
	Age, FairShare, JobSize, Partition, QOS, Assoc uint64
}

// Measure is what the factors of a job come from.
type Measure struct {
	Eligible, Now           job.Time
	CPUs, TotalCPUs         uint64 // asked for, and of the cluster
	PartFactor, MaxPart     uint64 // PriorityJobFactor: of the job's partition, and the highest of all
	QOSPriority, MaxQOS     uint64
	AssocPriority, MaxAssoc uint64
	FairShare               uint64 // in millionths
}

// FactorsOf works out the factors of a job.
func FactorsOf(m *Measure, p *partition.Priority) Factors {
	f := Factors{
		FairShare: min(m.FairShare, One), Partition: ratio(m.PartFactor, m.MaxPart),
		QOS: ratio(m.QOSPriority, m.MaxQOS), Assoc: ratio(m.AssocPriority, m.MaxAssoc), JobSize: ratio(m.CPUs, m.TotalCPUs),
	}
	if p.FavorSmall {
		f.JobSize = One - f.JobSize
	}
	if m.Eligible > 0 && m.Now > m.Eligible && p.MaxAge > 0 {
		f.Age = ratio(uint64(m.Now-m.Eligible), uint64(p.MaxAge)*1000)
	}
	return f
}

// Multifactor is the priority of a job by the weights of the cluster: the sum of
// factor times weight, plus the site's part, less nice. It is never 0, which is
// a hold.
func Multifactor(f *Factors, p *partition.Priority, site uint32, nice int32) uint32 {
	sum := weigh(f.Age, p.Age) + weigh(f.FairShare, p.FairShare) + weigh(f.JobSize, p.JobSize) +
		weigh(f.Partition, p.Partition) + weigh(f.QOS, p.QOS) + weigh(f.Assoc, p.Assoc) + int64(site) - int64(nice)
	return uint32(max(int64(MinPriority), min(sum, int64(TopPriority))))
}

// weigh is factor times weight, rounded down.
func weigh(factor uint64, weight uint32) int64 { return int64(factor * uint64(weight) / One) }

// ratio is a/b in millionths, at most One; 0 if b is 0.
func ratio(a, b uint64) uint64 {
	if b == 0 {
		return 0
	}
	if a >= b {
		return One
	}
	hi, lo := bits.Mul64(a, One)
	q, _ := bits.Div64(hi, lo, b)
	return q
}
