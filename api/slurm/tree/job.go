package tree

import (
	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/job"
)

// Jobs writes jobs as squeue --json and scontrol show job --json do.
func Jobs(w *Writer, list *api.JobList) {
	x := &format.Context{Now: list.Now, Unit: slurm.Exact, Cluster: list.Cluster}
	w.List("jobs", func() {
		for i := range list.Jobs {
			w.Map("", func() { writeJob(w, x, &list.Jobs[i]) })
		}
	})
	w.Set("last_backfill", list.Now.Unix())
	w.Set("last_update", list.Now.Unix())
}

// writeJob writes one job, in Slurm's order of names.
func writeJob(w *Writer, x *format.Context, r *api.JobRecord) {
	q := r.Request
	if q == nil {
		q = new(job.Request)
	}
	jobIdentity(w, r, q)
	jobMoments(w, r, q)
	jobPlace(w, x, r, q)
	jobNumbers(w, r, q)
	jobStarts(w, r, q)
	jobEnd(w, x, r, q)
}

// jobIdentity writes account up to dependency.
func jobIdentity(w *Writer, r *api.JobRecord, q *job.Request) {
	w.Text("account", r.Account)
	w.Set("accrue_time", r.Times.Accrue.Unix())
	w.Text("admin_comment", q.AdminComment)
	w.Text("allocating_node", q.Batch.SubmitHost)
	w.Set("array_job_id", int64(r.Array.JobID))
	single := r.Array.JobID != 0 && r.Array.Waiting == ""
	w.Number("array_task_id", single, false, int64(r.Array.Task))
	w.Set("array_max_tasks", int64(r.Array.Limit))
	w.Text("array_task_string", format.WaitingList(r, true))
	w.Int("association_id", 0)
	w.Text("batch_features", "")
	w.Bool("batch_flag", !q.Interactive)
	w.Text("batch_host", r.BatchHost)
	w.List("flags", func() {
		if r.Deps != "" {
			w.Text("", "DEPENDENT")
		}
	})
	w.Text("burst_buffer", "")
	w.Text("burst_buffer_state", "")
}

// jobMoments writes cluster up to deadline.
func jobMoments(w *Writer, r *api.JobRecord, q *job.Request) {
	s := &q.Size
	w.Text("cluster", q.Cluster)
	w.Text("cluster_features", "")
	w.Text("command", format.Command(q))
	w.Text("comment", q.Comment)
	w.Text("container", "")
	w.Text("container_id", "")
	w.Text("container_type", "")
	w.Bool("contiguous", q.Place.Contiguous)
	w.Int("core_spec", int64(s.CoreSpec))
	w.Int("thread_spec", int64(s.ThreadSpec))
	w.SetIf("cores_per_socket", int64(s.CoresPerSocket))
	w.Map("billable_tres", func() {
		w.Bool("set", true)
		w.Bool("infinite", false)
		w.Float("number", int64(r.Asked.Billing))
	})
	w.Set("cpus_per_task", int64(max(s.CPUsPerTask, 1)))
	w.Number("cpu_frequency_minimum", false, false, 0)
	w.Number("cpu_frequency_maximum", false, false, 0)
	w.Number("cpu_frequency_governor", false, false, 0)
	w.Text("cpus_per_tres", perGPU("gres/gpu:", uint64(q.Gres.CPUsPerGPU)))
	w.Text("cron", q.Cron.Spec)
	w.Set("deadline", q.Timing.Deadline.Unix())
	w.Set("delay_boot", 0)
	w.Text("dependency", r.Deps)
	end := r.End
	if end == nil {
		end = new(job.Result)
	}
	exitCode(w, "derived_exit_code", r.State, end.Derived, end.DerivedSig)
	w.Set("eligible_time", r.Times.Eligible.Unix())
	w.Set("end_time", format.EndTime(r).Unix())
	w.Text("excluded_nodes", format.NodeNames(q.Place.Exclude))
	exitCode(w, "exit_code", r.State, end.ExitCode, end.Signal)
	w.Text("extra", q.Extra)
	w.Text("failed_node", end.FailedNode)
	w.Text("features", q.Place.Constraint)
	w.Text("federation_origin", "")
	w.Text("federation_siblings_active", "")
	w.Text("federation_siblings_viable", "")
}

func perGPU(prefix string, n uint64) string {
	if n == 0 {
		return ""
	}
	return prefix + num(n)
}

// exitCode writes how something ended.
func exitCode(w *Writer, k string, state job.State, code uint32, signal uint8) {
	word := "SUCCESS"
	switch {
	case signal != 0:
		word = "SIGNALED"
	case code != 0:
		word = "ERROR"
	case state == job.Pending:
		word = "SUCCESS"
	}
	w.Map(k, func() {
		w.Texts("status", []string{word})
		w.Set("return_code", int64(code))
		w.Map("signal", func() {
			w.SetIf("id", int64(signal))
			w.Text("name", signalWord(signal))
		})
	})
}

func signalWord(n uint8) string {
	if n == 0 {
		return ""
	}
	return slurm.SignalName(n)
}

// jobPlace writes what it holds, and where.
func jobPlace(w *Writer, x *format.Context, r *api.JobRecord, q *job.Request) {
	w.List("gres_detail", func() {
		if r.Alloc == nil {
			return
		}
		for i := range r.Alloc.Nodes {
			for _, d := range r.Alloc.Nodes[i].Devices {
				w.Text("", deviceText(&d))
			}
		}
	})
	w.Int("group_id", int64(r.Owner.GID))
	w.Text("group_name", r.Owner.Group)
	w.Set("het_job_id", int64(r.Het.Leader))
	w.Text("het_job_id_set", format.HetIDs(&r.Het))
	w.Set("het_job_offset", int64(r.Het.Offset))
	w.Int("job_id", int64(r.ID))
	if r.Alloc != nil {
		w.Map("job_resources", func() { jobResources(w, r) })
	} else {
		w.Null("job_resources")
	}
	w.List("job_size_str", func() {})
	w.Texts("job_state", job.Words(r.State, r.Flags))
	w.Set("last_sched_evaluation", max(r.Times.Start, r.Times.Submit).Unix())
	w.Text("licenses", q.Licenses)
	w.Text("licenses_allocated", format.Licenses(r.Used.Licenses))
	w.List("mail_type", func() {})
	w.Text("mail_user", textOr(q.Mail.User, r.Owner.User))
	w.Set("max_cpus", 0)
	w.Set("max_nodes", int64(q.Size.MaxNodes))
}

func textOr(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

func deviceText(d *job.DeviceShare) string {
	s := d.Name
	if d.Type != "" {
		s += ":" + d.Type
	}
	s += ":" + num(d.Count)
	if d.Index != nil {
		s += "(IDX:" + slurm.FormatIndices(d.Index) + ")"
	}
	return s
}

// jobResources writes what a job holds node by node.
func jobResources(w *Writer, r *api.JobRecord) {
	a := r.Alloc
	w.Texts("select_type", []string{"CR_CORE_MEMORY"})
	w.Map("nodes", func() {
		w.Int("count", int64(len(a.Nodes)))
		w.Texts("select_type", []string{"ONE_ROW"})
		w.Text("list", r.Nodes)
		w.Bool("whole", len(a.Nodes) > 0 && a.Nodes[0].Whole)
		w.List("allocation", func() {
			for i := range a.Nodes {
				w.Map("", func() { share(w, i, &a.Nodes[i], r.State.Active()) })
			}
		})
	})
	w.Int("cpus", int64(a.CPUs))
	w.Number("threads_per_core", false, false, 0)
}

// share writes one node's part.
func share(w *Writer, i int, n *job.Share, active bool) {
	used := int64(0)
	if active {
		used = int64(n.CPUs)
	}
	w.Int("index", int64(i))
	w.Text("name", n.Name)
	w.Map("cpus", func() {
		w.Int("count", int64(n.CPUs))
		w.Int("used", used)
	})
	w.Map("memory", func() {
		w.Int("used", 0)
		w.Int("allocated", int64(n.MemoryMB))
	})
	w.List("sockets", func() {
		if n.Cores == nil {
			return
		}
		w.Map("", func() {
			w.Int("index", 0)
			w.List("cores", func() {
				for c := range n.Cores.All {
					w.Map("", func() {
						w.Int("index", int64(c))
						w.Texts("status", []string{"ALLOCATED"})
					})
				}
			})
		})
	})
}

// jobNumbers writes max_nodes up to priority.
func jobNumbers(w *Writer, r *api.JobRecord, q *job.Request) {
	s := &q.Size
	w.Text("mcs_label", "")
	w.Text("memory_per_tres", memoryPerGPU(r))
	w.Int("memory_update_delay", 0)
	w.Int("memory_update_margin", 0)
	w.Text("name", r.Name)
	w.Text("network", "")
	w.Text("nodes", r.Nodes)
	w.Int("nice", int64(q.Nice))
	w.Number("tasks_per_core", s.TasksPerCore != 0, s.TasksPerCore == 0, int64(s.TasksPerCore))
	w.Set("tasks_per_tres", int64(s.TasksPerGPU))
	w.Set("tasks_per_node", int64(s.TasksPerNode))
	w.Number("tasks_per_socket", s.TasksPerSocket != 0, s.TasksPerSocket == 0, int64(s.TasksPerSocket))
	w.Set("tasks_per_board", 0)
	w.Set("cpus", int64(r.Count.CPUs))
	w.Set("node_count", int64(r.Count.Nodes))
	w.Set("tasks", int64(r.Count.Tasks))
	w.Text("partition", r.Partition)
	w.Text("prefer", q.Place.Prefer)
	perCPU := r.Memory.Per == job.MemoryPerCPU
	w.Number("memory_per_cpu", perCPU, false, pick(perCPU, r.Memory.MB))
	w.Number("memory_per_node", !perCPU, false, pick(!perCPU && r.Memory.Per != job.MemoryPerGPU, r.Memory.MB))
	w.Set("minimum_cpus_per_node", int64(format.MinCPUs(q)))
	w.Set("minimum_tmp_disk_per_node", int64(q.Place.TmpDiskMB))
	w.Set("preempt_time", 0)
	w.Set("preemptable_time", 0)
	w.Set("pre_sus_time", int64(r.Times.PreSusp)/1000)
	w.Bool("hold", r.Held != job.NotHeld)
	w.Set("priority", int64(r.Priority))
	w.List("priority_by_partition", func() {})
	w.Texts("profile", []string{"NOT_SET"})
	w.Text("qos", r.QOS)
	w.Bool("reboot", false)
}

func pick(b bool, n uint64) int64 {
	if !b {
		return 0
	}
	return int64(n)
}

func memoryPerGPU(r *api.JobRecord) string {
	if r.Memory.Per != job.MemoryPerGPU {
		return ""
	}
	return perGPU("gres/gpu:", r.Memory.MB)
}

// jobStarts writes required_nodes up to submit_line.
func jobStarts(w *Writer, r *api.JobRecord, q *job.Request) {
	w.Text("required_nodes", format.NodeNames(q.Place.Nodes))
	w.Int("required_switches", int64(q.Place.Switches))
	w.Bool("requeue", q.Requeue)
	w.Set("resize_time", 0)
	w.Int("restart_cnt", int64(r.Attempt))
	w.Text("resv_name", r.Reservation)
	w.Text("scheduled_nodes", r.SchedNodes)
	w.Int("segment_size", int64(q.Place.Segment))
	w.Text("selinux_context", "")
	w.List("shared", func() {})
	w.Map("step_id", func() {
		w.Text("sluid", string(format.AppendSLUID(nil, r.SLUID)))
		w.Set("job_id", int64(r.ID))
		w.Number("step_het_component", false, false, 0)
		w.Text("step_id", "entire")
	})
	w.Int("sockets_per_board", 0)
	w.SetIf("sockets_per_node", int64(q.Size.SocketsPerNode))
	w.Set("start_time", format.StartTime(r).Unix())
	w.Text("state_description", r.Detail)
	w.Text("state_reason", r.Reason.String())
	w.Text("standard_input", format.StdinPath(r, false))
	w.Text("standard_output", format.StdoutPath(r, false))
	w.Text("standard_error", format.StderrPath(r, false))
	w.Text("stdin_expanded", format.StdinPath(r, true))
	w.Text("stdout_expanded", format.StdoutPath(r, true))
	w.Text("stderr_expanded", format.StderrPath(r, true))
	w.Set("submit_time", r.Times.Submit.Unix())
	w.Text("submit_line", q.SubmitLine)
	w.Set("suspend_time", r.Times.Suspend.Unix())
}

// jobEnd writes the rest.
func jobEnd(w *Writer, x *format.Context, r *api.JobRecord, q *job.Request) {
	w.Text("system_comment", "")
	limit(w, "time_limit", r.Times.Limit)
	w.Set("time_minimum", int64(q.Timing.MinLimit))
	w.SetIf("threads_per_core", int64(q.Size.ThreadsPerCore))
	w.Text("tres_bind", format.Bind(q))
	w.Text("tres_freq", q.Gres.Freq)
	w.Text("tres_per_job", string(format.AppendSpec(nil, q.Gres.PerJob)))
	w.Text("tres_per_node", string(format.AppendSpec(nil, q.Gres.PerNode)))
	w.Text("tres_per_socket", string(format.AppendSpec(nil, q.Gres.PerSocket)))
	w.Text("tres_per_task", string(format.AppendPerTask(nil, q)))
	w.Text("tres_req_str", string(slurm.AppendTRES(nil, &r.Asked, x.Unit)))
	w.Text("tres_alloc_str", string(slurm.AppendTRES(nil, &r.Used, x.Unit)))
	w.Int("user_id", int64(r.Owner.UID))
	w.Text("user_name", r.Owner.User)
	w.Int("maximum_switch_wait_time", int64(q.Place.SwitchWait))
	w.Text("wckey", q.WCKey)
	w.Text("current_working_directory", q.Batch.WorkDir)
}

// limit writes a time limit in minutes.
func limit(w *Writer, k string, m job.Minutes) {
	if m == job.Unlimited {
		w.Number(k, false, true, 0)
		return
	}
	w.Number(k, m != 0, false, int64(m))
}
