package tree

import (
	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/gres"
	"muster/job"
)

// Accounting writes jobs as sacct --json does.
func Accounting(w *Writer, list *api.JobList) {
	w.List("jobs", func() {
		for i := range list.Jobs {
			w.Map("", func() { acctJob(w, list, &list.Jobs[i]) })
		}
	})
}

// acctJob writes one job, in Slurm's order of names.
func acctJob(w *Writer, list *api.JobList, r *api.JobRecord) {
	q := r.Request
	if q == nil {
		q = new(job.Request)
	}
	end := r.End
	if end == nil {
		end = new(job.Result)
	}
	acctHead(w, list, r, q)
	exitCode(w, "derived_exit_code", r.State, end.Derived, end.DerivedSig)
	acctTimes(w, list, r)
	w.Text("exclusive", format.Exclusive(q))
	code, signal := format.AcctExit(r)
	exitCode(w, "exit_code", r.State, code, signal)
	w.Text("extra", q.Extra)
	w.Text("failed_node", end.FailedNode)
	w.List("flags", func() {
		if r.Times.Start != 0 && r.State != job.Pending {
			w.Text("", "START_RECEIVED")
		}
	})
	w.Text("group", r.Owner.Group)
	w.Map("het", func() {
		w.Int("job_id", int64(r.Het.Leader))
		w.Number("job_offset", r.Het.Leader != 0, false, int64(r.Het.Offset))
	})
	w.Int("job_id", int64(r.ID))
	w.Text("name", r.Name)
	w.Text("licenses", q.Licenses)
	w.Map("mcs", func() { w.Text("label", "") })
	w.Text("nodes", textOr(r.Nodes, "None assigned"))
	w.Text("oversubscribe", format.OverSubscribe(q))
	w.Text("partition", r.Partition)
	w.Bool("hold", r.Held != job.NotHeld)
	w.Set("priority", int64(r.Priority))
	w.Text("qos", r.QOS)
	w.Text("qosreq", q.QOS)
	acctRequired(w, r)
	w.Text("kill_request_user", killer(end))
	w.Int("restart_cnt", int64(max(1, r.Attempt)-1))
	w.Map("reservation", func() {
		w.Int("id", 0)
		w.Text("name", r.Reservation)
		w.Text("requested", q.Reservation)
	})
	w.Text("script", "")
	w.Int("segment_size", int64(q.Place.Segment))
	w.Text("original_sluid", string(format.AppendSLUID(nil, r.SLUID)))
	acctFiles(w, r)
	w.Map("state", func() {
		w.Texts("current", job.Words(r.State, r.Flags))
		w.Text("reason", format.Reason(r))
	})
	w.List("steps", func() {
		for _, s := range format.Steps(r) {
			w.Map("", func() { acctStep(w, list, r, &s) })
		}
	})
	w.Text("submit_line", q.SubmitLine)
	w.Map("tres", func() {
		resources(w, "allocated", &r.Used)
		resources(w, "requested", &r.Asked)
	})
	w.Text("used_gres", "")
	w.Text("user", r.Owner.User)
	w.Map("wckey", func() {
		w.Text("wckey", q.WCKey)
		w.List("flags", func() {})
	})
	w.Text("working_directory", q.Batch.WorkDir)
}

func killer(end *job.Result) string {
	if !end.ByUser {
		return ""
	}
	return num(end.By)
}

func acctHead(w *Writer, list *api.JobList, r *api.JobRecord, q *job.Request) {
	w.Text("account", r.Account)
	w.Map("comment", func() {
		w.Text("administrator", q.AdminComment)
		w.Text("job", q.Comment)
		w.Text("system", "")
	})
	nodes := int64(0)
	if r.Alloc != nil {
		nodes = int64(len(r.Alloc.Nodes))
	}
	w.Int("allocation_nodes", nodes)
	w.Map("array", func() {
		w.Int("job_id", int64(r.Array.JobID))
		w.Map("limits", func() {
			w.Map("max", func() { w.Map("running", func() { w.Int("tasks", int64(r.Array.Limit)) }) })
		})
		w.Number("task_id", r.Array.JobID != 0 && r.Array.Waiting == "", false, int64(r.Array.Task))
		w.Text("task", r.Array.Waiting)
	})
	w.Map("association", func() {
		w.Text("account", r.Account)
		w.Text("cluster", list.Cluster)
		w.Text("partition", "")
		w.Text("user", r.Owner.User)
		w.Int("id", 0)
	})
	w.Text("block", "")
	w.Text("cluster", list.Cluster)
	w.Text("constraints", q.Place.Constraint)
	w.Text("container", "")
	w.Text("sluid", string(format.AppendSLUID(nil, r.SLUID)))
}

// cpuTime writes processor time.
func cpuTime(w *Writer, k string, us uint64) {
	w.Map(k, func() {
		w.Int("seconds", int64(us/1e6))
		w.Int("microseconds", int64(us%1e6))
	})
}

func acctTimes(w *Writer, list *api.JobList, r *api.JobRecord) {
	var u job.Usage
	for _, s := range format.Steps(r) {
		u.UserUS += s.Usage.UserUS
		u.SystemUS += s.Usage.SystemUS
	}
	t := &r.Times
	start, end := t.Start, t.End
	if r.State == job.Pending {
		start = 0
	}
	if !r.State.Ended() {
		end = 0
	}
	w.Map("time", func() {
		w.Int("elapsed", format.RunSeconds(r, list.Now))
		w.Int("eligible", t.Eligible.Unix())
		w.Int("end", end.Unix())
		w.SetIf("planned", max(0, start.Unix()-t.Eligible.Unix()))
		w.Int("start", start.Unix())
		w.Int("submission", t.Submit.Unix())
		w.Int("suspended", 0)
		cpuTime(w, "system", u.SystemUS)
		limit(w, "limit", t.Limit)
		cpuTime(w, "total", u.UserUS+u.SystemUS)
		cpuTime(w, "user", u.UserUS)
	})
}

func acctRequired(w *Writer, r *api.JobRecord) {
	perCPU := r.Memory.Per == job.MemoryPerCPU
	w.Map("required", func() {
		w.Int("CPUs", int64(r.Asked.CPUs))
		w.Number("memory_per_cpu", perCPU, false, pick(perCPU, r.Memory.MB))
		w.Number("memory_per_node", !perCPU, false, pick(!perCPU, r.Memory.MB))
	})
}

func acctFiles(w *Writer, r *api.JobRecord) {
	w.Text("stdin_expanded", format.StdinPath(r, true))
	w.Text("stdout_expanded", format.StdoutPath(r, true))
	w.Text("stderr_expanded", format.StderrPath(r, true))
	w.Text("stdout", format.StdoutPath(r, false))
	w.Text("stderr", format.StderrPath(r, false))
	w.Text("stdin", format.StdinPath(r, false))
}

// resources writes trackable resources one by one, with Slurm's numbers.
func resources(w *Writer, k string, r *api.Resources) {
	one := func(kind, name string, id, n int64) {
		w.Map("", func() {
			w.Text("type", kind)
			w.Text("name", name)
			w.Int("id", id)
			w.Int("count", n)
		})
	}
	w.List(k, func() {
		if r.CPUs == 0 {
			return
		}
		one("cpu", "", 1, int64(r.CPUs))
		one("mem", "", 2, int64(r.MemoryMB))
		one("node", "", 4, int64(r.Nodes))
		if r.Billing != 0 {
			one("billing", "", 5, int64(r.Billing))
		}
		for i, g := range r.Gres {
			one("gres", g.Name, int64(1001+i), int64(g.Count))
		}
	})
}

// acctStep writes one step.
func acctStep(w *Writer, list *api.JobList, r *api.JobRecord, s *job.Step) {
	end := s.End
	elapsed := list.Now.Unix() - s.Start.Unix()
	if end != 0 {
		elapsed = end.Unix() - s.Start.Unix()
	}
	w.Map("time", func() {
		w.Int("elapsed", max(0, elapsed))
		w.Set("end", end.Unix())
		w.Set("start", s.Start.Unix())
		w.Int("suspended", 0)
		cpuTime(w, "system", s.Usage.SystemUS)
		w.Number("limit", false, true, 0)
		cpuTime(w, "total", s.Usage.SystemUS+s.Usage.UserUS)
		cpuTime(w, "user", s.Usage.UserUS)
	})
	exitCode(w, "exit_code", s.State, s.ExitCode, s.Signal)
	names := stepNodes(r, s)
	w.Map("nodes", func() {
		w.Int("count", int64(len(names)))
		w.Text("range", format.NodeNames(names))
		w.Texts("list", names)
	})
	w.Map("tasks", func() { w.Int("count", int64(s.Tasks)) })
	w.Map("CPU", func() {
		w.Map("requested_frequency", func() {
			w.Set("min", 0)
			w.Set("max", 0)
		})
		w.Text("governor", "0")
	})
	w.Text("kill_request_user", "")
	w.Texts("state", job.Words(s.State, 0))
	w.Map("statistics", func() {
		w.Map("CPU", func() { w.Int("actual_frequency", 0) })
		w.Map("energy", func() { w.Set("consumed", 0) })
	})
	w.Map("step", func() {
		w.Text("id", string(format.AppendJobID(nil, r))+"."+slurm.StepName(s.ID))
		w.Text("name", s.Name)
		for _, k := range []string{"stderr", "stdin", "stdout", "stderr_expanded", "stdin_expanded", "stdout_expanded"} {
			w.Text(k, "")
		}
	})
	w.Text("submit_line", "")
	w.Map("task", func() { w.Text("distribution", "Unknown") })
	held := stepHeld(s)
	w.Map("tres", func() {
		writeConsumed(w, s)
		resources(w, "allocated", &held)
	})
}

// stepHeld is what a step holds.
func stepHeld(s *job.Step) api.Resources {
	held := api.Resources{CPUs: s.CPUs, MemoryMB: s.MemoryMB, Nodes: uint32(len(s.Nodes))}
	for _, d := range s.Devices {
		held.Gres = append(held.Gres, gres.Item{Name: d.Name, Count: d.Count})
	}
	return held
}

// writeConsumed writes what the tasks of a step asked for and used. Use is known of
// the step as a whole: the largest, the mean and the sum of one are the same.
func writeConsumed(w *Writer, s *job.Step) {
	u := &s.Usage
	type figure struct {
		kind, name string
		id         int64
		count      uint64
	}
	in := []figure{{"cpu", "", 1, (u.UserUS + u.SystemUS) / 1000}, {"mem", "", 2, u.MaxRSSKB << 10}, {"fs", "disk", 6, u.ReadKB << 10},
		{"vmem", "", 7, u.MaxVMKB << 10}, {"pages", "", 8, u.MaxPages}}
	out := []figure{{"fs", "disk", 6, u.WrittenKB << 10}}
	one := func(f figure, of string) {
		w.Text("type", f.kind)
		w.Text("name", f.name)
		w.Int("id", f.id)
		w.Int("count", int64(f.count))
		if of == "max" || of == "min" {
			w.Int("task", 0)
			w.Text("node", "")
		}
	}
	four := func(list []figure) {
		for _, of := range []string{"max", "min", "average", "total"} {
			w.List(of, func() {
				for _, f := range list {
					if f.count > 0 {
						w.Map("", func() { one(f, of) })
					}
				}
			})
		}
	}
	w.Map("requested", func() { four(in) })
	w.Map("consumed", func() { four(out) })
}

// stepNodes are the names of a step's nodes.
func stepNodes(r *api.JobRecord, s *job.Step) []string {
	var names []string
	if r.Alloc == nil {
		return nil
	}
	for _, id := range s.Nodes {
		for i := range r.Alloc.Nodes {
			if n := &r.Alloc.Nodes[i]; n.Node == id {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
