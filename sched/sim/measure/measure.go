// Package measure works out from what became of each job how well a schedule was.
package measure

import "math"

// Tau is the run time in seconds below which a job's slowdown is not counted as
// worse (Feitelson, "Metrics for parallel job scheduling and their convergence",
// JSSPP 2001).
const Tau = 10

// Outcome is what became of one job. Times are in seconds.
type Outcome struct {
	Submit, Start, End int64
	Procs              int64
}

// Wait is the time in the queue, in seconds.
func (o *Outcome) Wait() int64 { return o.Start - o.Submit }

// Turnaround is the time from the submit to the end, in seconds.
func (o *Outcome) Turnaround() int64 { return o.End - o.Submit }

// BoundedSlowdown is the turnaround in units of the run time, at least 1; of a
// job shorter than Tau, in units of Tau.
func (o *Outcome) BoundedSlowdown() float64 {
	return max(1, float64(o.Turnaround())/float64(max(o.End-o.Start, Tau)))
}

// Summary is what can be said of a schedule as a whole.
type Summary struct {
	Jobs             int     `json:"jobs"`
	MeanWait         float64 `json:"mean_wait_s"`
	MaxWait          int64   `json:"max_wait_s"`
	MeanSlowdown     float64 `json:"mean_bounded_slowdown"`
	MaxSlowdown      float64 `json:"max_bounded_slowdown"`
	RMSSlowdown      float64 `json:"rms_bounded_slowdown"`
	MeanTurnaround   float64 `json:"mean_turnaround_s"`
	MaxTurnaround    int64   `json:"max_turnaround_s"`
	Makespan         int64   `json:"makespan_s"` // from the first submit to the last end
	Area             int64   `json:"-"`          // processor-seconds that the jobs held
	FirstSubmit      int64   `json:"-"`
	LastStart        int64   `json:"-"`
	sum, squares     float64
	waits, turnround int64
}

// Of sums up outcomes. Sums of slowdowns are made in the order given.
func Of(list []Outcome) Summary {
	s := Summary{Jobs: len(list)}
	if len(list) == 0 {
		return s
	}
	s.FirstSubmit, s.LastStart = math.MaxInt64, math.MinInt64
	lastEnd := int64(math.MinInt64)
	for i := range list {
		o := &list[i]
		slow := o.BoundedSlowdown()
		s.sum += slow
		s.squares += slow * slow
		s.MaxSlowdown = max(s.MaxSlowdown, slow)
		s.waits += o.Wait()
		s.MaxWait = max(s.MaxWait, o.Wait())
		s.turnround += o.Turnaround()
		s.MaxTurnaround = max(s.MaxTurnaround, o.Turnaround())
		s.Area += (o.End - o.Start) * o.Procs
		s.FirstSubmit = min(s.FirstSubmit, o.Submit)
		s.LastStart = max(s.LastStart, o.Start)
		lastEnd = max(lastEnd, o.End)
	}
	n := float64(len(list))
	s.MeanSlowdown, s.RMSSlowdown = s.sum/n, math.Sqrt(s.squares/n)
	s.MeanWait, s.MeanTurnaround = float64(s.waits)/n, float64(s.turnround)/n
	s.Makespan = lastEnd - s.FirstSubmit
	return s
}

// Utilization is the share of the processors' time, from the first submit to the
// last end, that jobs held: from 0 to 1.
func (s *Summary) Utilization(procs int) float64 { return share(s.Area, procs, s.Makespan) }

// UtilizationToLastStart is as Utilization, but time ends with the last start, so
// that it can pass 1; RLScheduler (SC'20) reports it.
func (s *Summary) UtilizationToLastStart(procs int) float64 {
	return share(s.Area, procs, s.LastStart-s.FirstSubmit)
}

func share(area int64, procs int, length int64) float64 {
	if procs <= 0 || length <= 0 {
		return 0
	}
	return float64(area) / (float64(procs) * float64(length))
}
