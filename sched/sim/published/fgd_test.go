package published

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/sched/sim/trace"
)

// smallOpenb is two nodes of two GPUs, of models A and B, and pods of three kinds.
func smallOpenb() *Openb {
	nodes := []trace.GPUNode{{Name: "n1", CPU: 8000, MiB: 100, GPUs: 2, Model: "A"}, {Name: "n2", CPU: 8000, MiB: 100, GPUs: 2, Model: "B"}}
	var pods []trace.GPUPod
	for range 6 {
		pods = append(pods, trace.GPUPod{CPU: 1000, MiB: 1, GPUs: 1, Milli: 500})
	}
	for range 3 {
		pods = append(pods, trace.GPUPod{CPU: 1000, MiB: 1, GPUs: 1, Milli: 1000, Models: "B"})
	}
	return NewOpenb(nodes, append(pods, trace.GPUPod{CPU: 2000, MiB: 1}))
}

func TestKinds(t *testing.T) {
	o := smallOpenb()
	if o.capacity != 4000 || len(o.kinds) != 3 || o.typical != 3 {
		t.Fatalf("capacity %d, %d kinds, %d typical", o.capacity, len(o.kinds), o.typical)
	}
	if o.kinds[0].count != 6 || o.kinds[0].milli != 500 || o.kinds[1].models != 2 || o.kinds[2].num != 0 {
		t.Errorf("kinds %+v", o.kinds)
	}
}

func TestArrivals(t *testing.T) {
	o := smallOpenb()
	a, b := o.arrivals(42, 200), o.arrivals(43, 200)
	if slices.Equal(a, b) || !slices.Equal(a, o.arrivals(42, 200)) {
		t.Error("the order must depend on the seed, and on nothing else")
	}
	count := map[gpuPod]int{}
	total := int64(0)
	for i := range a {
		if i < len(o.pods) {
			count[a[i]]++
		}
		total += o.demand(&a[i])
	}
	if count[o.pods[0]] != 6 || count[o.pods[6]] != 3 || count[o.pods[9]] != 1 {
		t.Errorf("the list as a whole does not come first: %v", count)
	}
	if total > 8000 || total <= 6000 {
		t.Errorf("%d are asked for, want at most 8000 and nearly as much", total)
	}
}

func TestFragments(t *testing.T) {
	p := &placing{Openb: smallOpenb()}
	for _, c := range []struct {
		name string
		node gpuNode
		want float64
	}{
		// Six of ten pods want half a GPU, three a whole one of model B, one none.
		{"all is used", gpuNode{cpu: 8000, free: []int64{0, 0}, model: 2}, 0},
		{"empty, of model B", gpuNode{cpu: 8000, free: []int64{1000, 1000}, model: 2}, 200},
		{"empty, of model A", gpuNode{cpu: 8000, free: []int64{1000, 1000}, model: 1}, 800},
		{"a half of model B", gpuNode{cpu: 8000, free: []int64{500, 0}, model: 2}, 200},
		{"half and whole of model B", gpuNode{cpu: 8000, free: []int64{500, 1000}, model: 2}, 0.3*500 + 150},
		{"no CPU left", gpuNode{cpu: 0, free: []int64{1000, 1000}, model: 2}, 2000},
	} {
		if got := p.fragments(c.node.cpu, &c.node); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// Scores that are kept between pods are those that would be worked out anew.
func TestKeptScoresAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := smallOpenb()
		p := &placing{Openb: o, nodes: o.empty(rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))))}
		p.scores(p.gradient)
		for range rapid.IntRange(1, 30).Draw(t, "pods") {
			pod := rapid.SampledFrom(o.pods).Draw(t, "pod")
			at := p.pick(&pod)
			fresh := &placing{Openb: o, nodes: p.nodes}
			fresh.scores(fresh.gradient)
			if want := fresh.pick(&pod); at != want || at >= 0 && p.gpu != fresh.gpu {
				t.Fatalf("node %d, GPU %d; worked out anew %d, %d", at, p.gpu, want, fresh.gpu)
			}
			if at < 0 {
				continue
			}
			p.place(at, &o.kinds[pod.kind], pod.mib)
			if n := &p.nodes[at]; n.cpu < 0 || n.mib < 0 || slices.Min(n.free) < 0 {
				t.Fatalf("more is given than there is: %+v", n)
			}
		}
	})
}

func TestFGDCurve(t *testing.T) {
	o := smallOpenb()
	for _, policy := range FGDPolicies() {
		m, err := o.FGDMean(policy, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Mean) != 131 || !slices.IsSorted(m.Mean) || m.Mean[130] > 100 || m.Mean[100] < 50 {
			t.Errorf("%s: %v", policy, m.Mean)
		}
	}
	if _, err := o.FGDMean("nice", 1); err == nil {
		t.Error("there is no policy nice")
	}
}

// Our own allocator gives away no more than there is, and with a queue, of which
// it can choose, not less than one by one.
func TestMusterAllocator(t *testing.T) {
	m := smallOpenb().Muster(3)
	if len(m.OneByOne) != 131 || !slices.IsSorted(m.OneByOne) || m.OneByOne[130] > 100 {
		t.Errorf("one by one: %v", m.OneByOne)
	}
	if m.Queue > 100 || m.Queue < m.OneByOne[100] || m.Spread < 0 {
		t.Errorf("with a queue %g, spread %g; one by one %g", m.Queue, m.Spread, m.OneByOne[100])
	}
}
