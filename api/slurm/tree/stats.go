package tree

import (
	"strings"
	"time"

	"muster/api"
)

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
		w.Set("req_time", s.Now.Unix())
		w.Set("req_time_start", s.Started.Unix())
		w.Int("server_thread_count", int64(s.Threads))
		w.Int("agent_queue_size", 0)
		w.Int("agent_count", 0)
		w.Int("agent_thread_count", 0)
		w.Int("dbd_agent_queue_size", 0)
		w.Int("gettimeofday_latency", 0)
		w.Int("schedule_cycle_max", int64(c.Max))
		w.Int("schedule_cycle_last", int64(c.Last))
		w.Int("schedule_cycle_total", int64(c.Count))
		w.Int("schedule_cycle_sum", int64(c.Sum))
		w.Int("schedule_cycle_mean", mean(c.Sum))
		w.Int("schedule_cycle_mean_depth", mean(c.DepthSum))
		w.Int("schedule_cycle_per_minute", int64(c.Count)/max(1, int64(s.Now.Sub(s.Started)/time.Minute)))
		w.Int("schedule_cycle_depth", int64(c.DepthSum))
		counts(w, "schedule_exit", "end_job_queue default_queue_depth max_job_start max_rpc_cnt max_sched_time licenses", c.Count)
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
		backfill(w, s)
		w.List("rpcs_by_message_type", func() {
			for i, call := range s.Calls {
				w.Map("", func() {
					w.Int("type_id", int64(i+1))
					w.Text("message_type", call.Method)
					w.Int("count", int64(call.Count))
					for _, k := range []string{"queued", "dropped", "cycle_last", "cycle_max"} {
						w.Int(k, 0)
					}
					w.Int("total_time", int64(call.Sum))
					w.Set("average_time", int64(call.Sum/max(1, call.Count)))
				})
			}
		})
		w.List("rpcs_by_user", func() {
			for _, u := range s.Users {
				w.Map("", func() {
					w.Int("user_id", int64(u.UID))
					w.Text("user", u.User)
					w.Int("count", int64(u.Count))
					w.Int("total_time", int64(u.Sum))
					w.Set("average_time", int64(u.Sum/max(1, u.Count)))
				})
			}
		})
		w.List("pending_rpcs", func() {})
		w.List("pending_rpcs_by_hostlist", func() {})
	})
}

// backfill writes the counters of backfilling. One pass of the planner does both,
// so they are those of all cycles.
func backfill(w *Writer, s *api.StatsReply) {
	c := &s.Cycles
	mean := func(sum uint64) int64 { return int64(sum / max(1, c.Count)) }
	w.Int("bf_backfilled_het_jobs", 0)
	w.Int("bf_cycle_counter", int64(c.Count))
	w.Int("bf_cycle_mean", mean(c.Sum))
	w.Int("bf_depth_mean", mean(c.DepthSum))
	w.Int("bf_depth_mean_try", mean(c.DepthSum))
	w.Int("bf_cycle_sum", int64(c.Sum))
	w.Int("bf_cycle_last", int64(c.Last))
	w.Int("bf_cycle_max", int64(c.Max))
	counts(w, "bf_exit", "end_job_queue bf_max_job_start bf_max_job_test bf_max_time bf_node_space_size state_changed", c.Count)
	w.Int("bf_last_depth", int64(c.LastDepth))
	w.Int("bf_last_depth_try", int64(c.LastDepth))
	w.Int("bf_depth_sum", int64(c.DepthSum))
	w.Int("bf_depth_try_sum", int64(c.DepthSum))
	w.Int("bf_queue_len", int64(c.QueueLen))
	w.Int("bf_queue_len_mean", mean(c.DepthSum))
	w.Int("bf_queue_len_sum", int64(c.DepthSum))
	w.Int("bf_table_size", 0)
	w.Int("bf_table_size_sum", 0)
	w.Int("bf_table_size_mean", 0)
	w.Number("bf_when_last_cycle", false, false, 0)
	w.Bool("bf_active", false)
}

// counts writes a map of counters of which the first is n and the others, which
// count what does not happen here, are 0.
func counts(w *Writer, name, keys string, n uint64) {
	w.Map(name, func() {
		for i, k := range strings.Fields(keys) {
			if i > 0 {
				n = 0
			}
			w.Int(k, int64(n))
		}
	})
}
