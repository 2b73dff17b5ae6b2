package measure

import (
	"math"
	"testing"
)

func TestBoundedSlowdown(t *testing.T) {
	for _, c := range []struct {
		submit, start, end int64
		want               float64
	}{
		{0, 0, 100, 1},   // no wait
		{0, 100, 200, 2}, // waits as long as it runs
		{0, 50, 51, 5.1}, // shorter than 10 s: in units of 10 s
		{0, 1, 2, 1},     // never below 1
		{7, 27, 37, 3},
		{0, 30, 30, 3}, // runs for no time at all
	} {
		o := Outcome{Submit: c.submit, Start: c.start, End: c.end}
		if got := o.BoundedSlowdown(); got != c.want {
			t.Errorf("%+v: %g, want %g", o, got, c.want)
		}
	}
}

func TestOf(t *testing.T) {
	s := Of([]Outcome{
		{Submit: 10, Start: 10, End: 110, Procs: 2},
		{Submit: 20, Start: 110, End: 120, Procs: 4}, // slowdown 10
	})
	if s.Jobs != 2 || s.MeanWait != 45 || s.MaxWait != 90 || s.MeanSlowdown != 5.5 || s.MaxSlowdown != 10 ||
		s.MeanTurnaround != 100 || s.MaxTurnaround != 100 || s.Makespan != 110 || s.Area != 240 {
		t.Errorf("%+v", s)
	}
	if want := math.Sqrt(101.0 / 2); s.RMSSlowdown != want {
		t.Errorf("root of the mean square %g, want %g", s.RMSSlowdown, want)
	}
	if got := s.Utilization(4); got != 240.0/(4*110) {
		t.Errorf("utilization %g", got)
	}
	if got := s.UtilizationToLastStart(4); got != 240.0/(4*100) {
		t.Errorf("utilization to the last start %g", got)
	}
	if s = Of(nil); s.Jobs != 0 || s.Utilization(4) != 0 || s.MeanSlowdown != 0 {
		t.Errorf("of nothing: %+v", s)
	}
}
