package tree

import (
	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/job"
)

// Steps writes running steps as scontrol show step --json does; wanted chooses
// them.
func Steps(w *Writer, list *api.JobList, wanted func(*job.Step) bool) {
	w.List("steps", func() {
		for i := range list.Jobs {
			r := &list.Jobs[i]
			for _, s := range format.Steps(r) {
				if s.End == 0 && wanted(&s) {
					w.Map("", func() { writeStep(w, list, r, &s) })
				}
			}
		}
	})
	w.Set("last_update", list.Now.Unix())
}

// noTask is what Slurm shows of a job that is in no array.
const noTask = 0xffff_fffe

func writeStep(w *Writer, list *api.JobList, r *api.JobRecord, s *job.Step) {
	w.Map("array", func() {
		w.Int("job_id", int64(r.Array.JobID))
		task := int64(noTask)
		if r.Array.JobID != 0 {
			task = int64(r.Array.Task)
		}
		w.Int("task_id", task)
	})
	w.Text("cluster", list.Cluster)
	for _, k := range []string{"container", "container_id", "container_type"} {
		w.Text(k, "")
	}
	w.Map("cpu", func() {
		w.Map("frequency", func() {
			for _, k := range []string{"min", "max", "governor"} {
				w.Number(k, false, false, 0)
			}
		})
	})
	own := s.ID < job.InteractiveStep // not the batch script or the like
	stepResources(w, s, own)
	w.Text("name", s.Name)
	w.Text("network", "")
	w.Text("nodes", format.NodeNames(stepNodes(r, s)))
	cpus := int64(0)
	if own {
		cpus = int64(s.CPUs)
	}
	w.Int("number_cpus", cpus)
	w.Int("number_tasks", int64(s.Tasks))
	w.Text("partition", r.Partition)
	w.Text("reserved_ports", "")
	w.Map("time", func() {
		w.Set("running", max(0, list.Now.Unix()-s.Start.Unix()))
		w.Set("start", s.Start.Unix())
		w.Number("limit", false, true, 0)
	})
	w.Map("srun", func() {
		w.Text("host", "")
		w.Int("pid", 0)
	})
	w.Texts("state", job.Words(s.State, 0))
	w.Text("sluid", string(format.AppendSLUID(nil, r.SLUID)))
	w.Text("id", string(format.AppendJobID(nil, r))+"."+slurm.StepName(s.ID))
	for _, k := range []string{"stderr", "stdin", "stdout", "stdin_expanded", "stdout_expanded", "stderr_expanded", "submit_line"} {
		w.Text(k, "")
	}
	w.Map("task", func() { w.Text("distribution", "Unknown") })
	w.Text("user", r.Owner.User)
}

func stepResources(w *Writer, s *job.Step, own bool) {
	w.Map("tres", func() {
		w.Map("per", func() {
			for _, k := range []string{"cpu", "memory", "step", "node", "socket", "task"} {
				w.Text(k, "")
			}
		})
		held := ""
		if own {
			r := stepHeld(s)
			held = string(slurm.AppendTRES(nil, &r, slurm.Exact))
		}
		w.Text("allocation", held)
		w.Text("binding", "")
		w.Text("frequency", "")
	})
}
