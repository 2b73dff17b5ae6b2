package accounting

import (
	"testing"

	"muster/job"
	"muster/partition"
)

func TestBill(t *testing.T) {
	const unit = partition.BillingUnit
	weights := []partition.TRESWeight{{TRES: "cpu", Weight: unit}, {TRES: "mem", Weight: unit / 4 / 1024}, {TRES: "gres/gpu", Weight: 2*unit + unit/2}, {TRES: "license/x", Weight: 3 * unit}}
	a := job.Allocation{CPUs: 3, MemoryMB: 1000, Licenses: []job.License{{Name: "x", Count: 2}},
		Nodes: []job.Share{{Devices: []job.DeviceShare{{Name: "gpu", Count: 1}}}, {Devices: []job.DeviceShare{{Name: "gpu", Count: 2}}}}}
	// cpu 3, mem 0.244140625, gpu 7.5, licence 6
	for _, c := range []struct {
		name    string
		weights []partition.TRESWeight
		rule    partition.BillingRule
		whole   uint64
		rest    uint64 // in parts of 1/unit
	}{
		{"no weights: CPUs", nil, partition.BillMax, 3, 0},
		{"sum", weights, partition.BillSum, 16, unit*3/4 - 6144000},
		{"highest of the nodes', and the rest", weights, partition.BillMax, 13, unit / 2},
		{"gres added to the highest", weights, partition.BillMaxAndGres, 16, unit / 2},
	} {
		b := a
		Bill(&b, c.weights, c.rule)
		if b.Billing != c.whole || b.BillingRest != c.rest {
			t.Errorf("%s: got %d and %d parts, want %d and %d", c.name, b.Billing, b.BillingRest, c.whole, c.rest)
		}
	}
}

func TestUsageAddsUp(t *testing.T) {
	a := UsageOver(alloc(2), 10)
	if a.Raw != (Spent{}) || a.Get("cpu") != Over(2, 10) || a.Get("mem") != Over(100, 10) || a.Get("gres/gpu:a") != Over(1, 10) || a.Wall != Over(1, 10) {
		t.Errorf("got %+v", a)
	}
	b := a.Clone()
	b.Add(&Usage{Raw: Over(1, 1), TRES: []TRESSpent{{"aaa", Over(5, 1)}, {"cpu", Over(1, 1)}}})
	if b.Get("cpu") != Over(21, 1) || b.Get("aaa") != Over(5, 1) || b.Get("billing") != Over(1, 1) {
		t.Errorf("got %+v", b)
	}
	if a.Get("cpu") != Over(2, 10) {
		t.Error("a copy shares its list")
	}
	b.Sub(&Usage{Raw: Over(1, 1), TRES: []TRESSpent{{"aaa", Over(9, 1)}, {"cpu", Over(1, 1)}}})
	b.Sub(&a)
	if !b.Empty() {
		t.Errorf("left %+v", b)
	}
}
