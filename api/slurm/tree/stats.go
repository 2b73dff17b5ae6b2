package tree

import "muster/api"

// Stats writes the counters as sdiag --json does.
func Stats(w *Writer, s *api.StatsReply) {
	c := &s.Cycles
	mean := func(sum uint64) int64 {
		if c.Count == 0 {
			return 0
		}
		return int64(sum / c.Count)
	}
	w.Map("statistics", func() {
		w.Int("parts_packed", 1)
		w.Set("req_time", s.Now.Unix())
		w.Set("req_time_start", s.Started.Unix())
		w.Int("server_thread_count", int64(s.Threads))
		w.Int("agent_queue_size", 0)
		w.Int("agent_count", 0)
		w.Int("agent_thread_count", 0)
		w.Int("dbd_agent_queue_size", 0)
		w.Int("schedule_cycle_max", int64(c.Max))
		w.Int("schedule_cycle_last", int64(c.Last))
		w.Int("schedule_cycle_total", int64(c.Count))
		w.Int("schedule_cycle_sum", int64(c.Sum))
		w.Int("schedule_cycle_mean", mean(c.Sum))
		w.Int("schedule_cycle_mean_depth", mean(c.DepthSum))
		w.Int("schedule_cycle_depth", int64(c.DepthSum))
		w.Int("schedule_queue_length", int64(c.QueueLen))
		w.Int("jobs_submitted", int64(s.Jobs.Submitted))
		w.Int("jobs_started", int64(s.Jobs.Started))
		w.Int("jobs_completed", int64(s.Jobs.Completed))
		w.Int("jobs_canceled", int64(s.Jobs.Cancelled))
		w.Int("jobs_failed", int64(s.Jobs.Failed))
		w.Int("jobs_pending", int64(s.Jobs.Pending))
		w.Int("jobs_running", int64(s.Jobs.Running))
		w.Set("job_states_ts", s.Now.Unix())
		w.Int("bf_backfilled_jobs", int64(s.Backfilled))
		w.Int("bf_last_backfilled_jobs", int64(s.Backfilled))
		w.List("rpcs_by_message_type", func() {
			for _, call := range s.Calls {
				w.Map("", func() {
					w.Text("message_type", call.Method)
					w.Int("count", int64(call.Count))
					w.Int("total_time", int64(call.Sum))
				})
			}
		})
	})
}
