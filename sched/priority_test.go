package sched

import (
	"math"
	"testing"

	"muster/partition"
)

func TestBasicPriorityFollowsSubmission(t *testing.T) {
	for seq, want := range map[uint64]uint32{0: 4294901759, 1: 4294901758, 4294901757: 2, 4294901758: 1, math.MaxUint64: 1} {
		if got := Basic(seq); got != want {
			t.Errorf("job number %d has priority %d, want %d", seq, got, want)
		}
	}
}

func TestMultifactor(t *testing.T) {
	weights := &partition.Priority{Age: 1000, FairShare: 10000, JobSize: 100, Partition: 10, QOS: 1000, Assoc: 1, MaxAge: 100}
	cases := []struct {
		name string
		m    Measure
		site uint32
		nice int32
		want uint32
	}{
		{"nothing", Measure{}, 0, 0, 1},
		{"half the age", Measure{Eligible: 1000, Now: 51000}, 0, 0, 500},
		{"older than counts", Measure{Eligible: 1000, Now: 999000}, 0, 0, 1000},
		{"not yet eligible", Measure{Eligible: 0, Now: 999000}, 0, 0, 1},
		{"fair share", Measure{FairShare: 250000}, 0, 0, 2500},
		{"size", Measure{CPUs: 8, TotalCPUs: 32}, 0, 0, 25},
		{"QOS", Measure{QOSPriority: 50, MaxQOS: 100}, 0, 0, 500},
		{"partition and association", Measure{PartFactor: 3, MaxPart: 3, AssocPriority: 2, MaxAssoc: 2}, 0, 0, 11},
		{"nice takes away", Measure{FairShare: One}, 0, 10, 9990},
		{"nice never holds", Measure{}, 0, math.MaxInt32, 1},
		{"negative nice and site add", Measure{}, 7, -5, 12},
		{"no overflow", Measure{}, math.MaxUint32, math.MinInt32, 4294901759},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := FactorsOf(&c.m, weights)
			if got := Multifactor(&f, weights, c.site, c.nice); got != c.want {
				t.Errorf("priority %d, want %d (%+v)", got, c.want, f)
			}
		})
	}
	small := *weights
	small.FavorSmall = true
	if f := FactorsOf(&Measure{CPUs: 8, TotalCPUs: 32}, &small); f.JobSize != 750000 {
		t.Errorf("small jobs are favoured by %d", f.JobSize)
	}
}
