package admit

import (
	"reflect"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/partition"
)

func TestSetPreempt(t *testing.T) {
	for _, c := range []struct {
		pairs []api.Pair
		want  accounting.QOS // "" in Name: an error is wanted
	}{
		{[]api.Pair{{Name: "preempt", Value: "low,Mid"}}, accounting.QOS{Name: "q", Preempt: []string{"low", "mid"}}},
		{[]api.Pair{{Name: "preempt", Value: "low,mid"}, {Name: "preempt", Op: "-", Value: "low"}, {Name: "preempt", Op: "+", Value: "x"}},
			accounting.QOS{Name: "q", Preempt: []string{"mid", "x"}}},
		{[]api.Pair{{Name: "preempt", Value: "low"}, {Name: "preempt", Value: "-1"}}, accounting.QOS{Name: "q"}},
		{[]api.Pair{{Name: "preemptmode", Value: "requeue"}}, accounting.QOS{Name: "q", PreemptMode: partition.PreemptRequeue}},
		{[]api.Pair{{Name: "preemptmode", Value: "off"}, {Name: "preemptmode", Value: "cluster"}}, accounting.QOS{Name: "q"}},
		{[]api.Pair{{Name: "gracetime", Value: "90"}, {Name: "preemptexempttime", Value: "00:10:00"}}, accounting.QOS{Name: "q", GraceTime: 90, Exempt: accounting.AtMost(600)}},
		{[]api.Pair{{Name: "gracetime", Value: "90"}, {Name: "gracetime", Value: "-1"}}, accounting.QOS{Name: "q"}},
		{[]api.Pair{{Name: "preempt", Value: "q"}}, accounting.QOS{}},
		{[]api.Pair{{Name: "preemptmode", Value: "suspend"}}, accounting.QOS{}},
		{[]api.Pair{{Name: "gracetime", Value: "soon"}}, accounting.QOS{}},
	} {
		q := accounting.QOS{Name: "q"}
		var err error
		for _, p := range c.pairs {
			if err == nil {
				err = setQOSField(&q, p)
			}
		}
		if (err != nil) != (c.want.Name == "") {
			t.Errorf("%v: error %v", c.pairs, err)
		} else if q.Preempt = append([]string(nil), q.Preempt...); err == nil && !reflect.DeepEqual(q, c.want) {
			t.Errorf("%v: %+v, want %+v", c.pairs, q, c.want)
		}
	}
}
