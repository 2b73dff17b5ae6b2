package ctld

import (
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
)

// stats counts what this controller does, for sdiag and for /metrics.
type stats struct {
	mu       sync.Mutex
	counts   service.Counters
	registry *prometheus.Registry
	cycles   prometheus.Histogram
	calls    *prometheus.HistogramVec
	starts   prometheus.Counter
}

func newStats() *stats {
	s := &stats{registry: prometheus.NewRegistry()}
	s.counts.Calls = map[string]service.CallCount{}
	s.counts.Users = map[uint32]service.UserCount{}
	s.cycles = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "muster_scheduler_cycle_seconds",
		Help: "Time that one cycle of the scheduler took.", Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)})
	s.calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "muster_call_seconds",
		Help: "Time to answer a client's call.", Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)}, []string{"method"})
	s.starts = prometheus.NewCounter(prometheus.CounterOpts{Name: "muster_jobs_started_total", Help: "Jobs started by this controller."})
	s.registry.MustRegister(s.cycles, s.calls, s.starts)
	return s
}

// called notes one call. Names that no handler has are counted as one.
func (s *stats) called(method string, by *api.Caller, d time.Duration) {
	s.calls.WithLabelValues(method).Observe(d.Seconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts.Calls[method]
	n.Count++
	n.SumUS += uint64(d.Microseconds())
	s.counts.Calls[method] = n
	u := s.counts.Users[by.UID]
	u.User = by.User
	u.Count++
	u.SumUS += uint64(d.Microseconds())
	s.counts.Users[by.UID] = u
}

// cycle notes one cycle of the scheduler.
func (s *stats) cycle(d time.Duration, waiting, started int) {
	s.cycles.Observe(d.Seconds())
	s.starts.Add(float64(started))
	us := uint64(d.Microseconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counts
	c.Cycles++
	c.CyclesLastUS, c.CyclesSumUS, c.CyclesMaxUS = us, c.CyclesSumUS+us, max(c.CyclesMaxUS, us)
	c.QueueLen, c.LastDepth = uint64(waiting), uint64(waiting)
	c.DepthSum += uint64(waiting)
	c.JobsStarted += uint64(started)
}

// submitted notes jobs that were taken.
func (s *stats) submitted(jobs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Submitted += uint64(jobs)
}

// ended notes a job whose record is final.
func (s *stats) ended(in job.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch in {
	case job.Completed:
		s.counts.Completed++
	case job.Cancelled:
		s.counts.Cancelled++
	default:
		s.counts.Failed++
	}
}

func (s *stats) counters() service.Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Calls, c.Users = maps.Clone(c.Calls), maps.Clone(c.Users)
	c.Threads = runtime.NumGoroutine()
	return c
}
