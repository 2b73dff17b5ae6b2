package ctld

import (
	"testing"
	"time"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
)

func TestStatsCount(t *testing.T) {
	s := newStats()
	s.submitted(2)
	s.submitted(1)
	for _, in := range []job.State{job.Completed, job.Completed, job.Cancelled, job.Failed, job.Timeout} {
		s.ended(in)
	}
	s.called("job.list", &api.Caller{UID: 1001, User: "alice"}, 3*time.Millisecond)
	s.called("ping", &api.Caller{UID: 1001, User: "alice"}, time.Millisecond)
	c := s.counters()
	if c.Submitted != 3 || c.Completed != 2 || c.Cancelled != 1 || c.Failed != 2 {
		t.Errorf("submitted %d, completed %d, cancelled %d, failed %d; want 3, 2, 1, 2", c.Submitted, c.Completed, c.Cancelled, c.Failed)
	}
	want := service.UserCount{User: "alice", CallCount: service.CallCount{Count: 2, SumUS: 4000}}
	if got := c.Users[1001]; got != want {
		t.Errorf("calls of uid 1001: %+v, want %+v", got, want)
	}
	if got := c.Calls["job.list"]; got.Count != 1 || got.SumUS != 3000 {
		t.Errorf("calls of job.list: %+v", got)
	}
}
