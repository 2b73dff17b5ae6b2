package tree

import (
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/gres"
	"muster/job"
)

func num[N ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) string {
	return strconv.FormatUint(uint64(n), 10)
}

// Meta writes what follows the records in each document: who asked with which
// command, and the lists of errors and warnings.
func Meta(w *Writer, cluster, user, group string, command, errors []string) {
	major, rest, _ := strings.Cut(api.SlurmVersion, ".")
	minor, micro, _ := strings.Cut(rest, ".")
	w.Map("meta", func() {
		w.Map("plugin", func() {
			w.Text("type", "")
			w.Text("name", "")
			w.Text("data_parser", "data_parser/v0.0.45")
			w.Text("accounting_storage", "accounting_storage/muster")
		})
		w.Map("client", func() {
			w.Text("source", "")
			w.Text("user", user)
			w.Text("group", group)
		})
		w.Texts("command", command)
		w.Map("slurm", func() {
			w.Map("version", func() {
				w.Text("major", major)
				w.Text("micro", micro)
				w.Text("minor", minor)
			})
			w.Text("release", api.SlurmVersion)
			w.Text("cluster", cluster)
		})
	})
	w.List("errors", func() {
		for _, e := range errors {
			w.Map("", func() {
				w.Text("description", e)
				w.Int("error_number", 1)
				w.Text("error", e)
				w.Text("source", "")
			})
		}
	})
	w.List("warnings", func() {})
}

// Nodes writes nodes as scontrol show node --json does.
func Nodes(w *Writer, list *api.NodeList) {
	w.List("nodes", func() {
		for i := range list.Nodes {
			w.Map("", func() { writeNode(w, &list.Nodes[i]) })
		}
	})
	w.Set("last_update", list.Now.Unix())
}

func writeNode(w *Writer, n *api.NodeRecord) {
	s := &n.Shape
	w.Text("architecture", n.Arch)
	w.Text("burstbuffer_network_address", "")
	w.Int("boards", int64(max(s.Boards, 1)))
	w.Set("boot_time", n.BootTime.Unix())
	w.Set("tls_cert_last_renewal", 0)
	w.List("cert_flags", func() {})
	w.Text("cluster_name", "")
	w.Int("cores", int64(s.CoresPerSocket))
	w.Int("specialized_cores", int64(s.CoreSpec))
	w.Int("cpu_binding", 0)
	w.Int("cpu_load", int64(n.Load))
	w.Number("free_mem", n.HasLive, false, int64(n.FreeMemory))
	w.Int("cpus", int64(s.CPUs))
	w.Int("effective_cpus", int64(s.CPUs)-int64(s.CoreSpec)*int64(s.ThreadsPerCore))
	w.Text("specialized_cpus", "")
	w.Map("energy", func() {
		w.Int("average_watts", 0)
		w.Int("base_consumed_energy", 0)
		w.Int("consumed_energy", 0)
		w.Set("current_watts", 0)
		w.Int("previous_consumed_energy", 0)
		w.Int("last_collected", 0)
	})
	w.Text("extra", n.Extra)
	w.Texts("features", n.Features)
	w.Texts("active_features", format.ActiveFeatures(n))
	w.Text("gpu_spec", "")
	w.Text("gres", format.NodeGres(n))
	w.Text("gres_drained", "N/A")
	w.Text("gres_used", format.NodeGresUsed(n))
	w.Text("instance_id", "")
	w.Text("instance_type", "")
	w.Set("last_busy", n.LastBusy.Unix())
	w.Text("mcs_label", "")
	w.Int("specialized_memory", int64(s.MemSpecMB))
	w.Text("name", n.Name)
	w.Texts("next_state_after_reboot", []string{"INVALID"})
	w.Text("address", n.Address)
	w.Text("hostname", textOr(n.HostName, n.Name))
	w.Texts("state", format.NodeStateWords(n.Base, n.Flags))
	w.Text("operating_system", n.OS)
	w.Text("owner", "")
	w.Texts("partitions", n.Partitions)
	w.Int("port", int64(n.Port))
	w.Int("real_memory", int64(s.MemoryMB))
	w.Int("res_cores_per_gpu", 0)
	nodeNotes(w, n)
}

// nodeNotes writes comment up to the end.
func nodeNotes(w *Writer, n *api.NodeRecord) {
	s := &n.Shape
	w.Text("comment", n.Comment)
	w.Text("reason", n.Reason)
	w.Set("reason_changed_at", n.ReasonAt.Unix())
	w.Text("reason_set_by_user", n.ReasonBy)
	w.Set("resume_after", 0)
	w.Text("reservation", n.Reservation)
	w.Number("suspend_time", false, true, 0)
	w.Int("alloc_memory", int64(n.Used.MemoryMB))
	w.Int("alloc_cpus", int64(n.Used.CPUs))
	w.Int("alloc_idle_cpus", int64(s.CPUs)-int64(n.Used.CPUs))
	used := n.Used
	used.Billing = 0
	w.Text("tres_used", string(slurm.AppendTRES(nil, &used, slurm.Exact)))
	w.Set("slurmd_start_time", n.Started.Unix())
	w.Int("sockets", int64(s.Sockets))
	w.Int("threads", int64(s.ThreadsPerCore))
	w.Int("temporary_disk", int64(s.TmpDiskMB))
	w.Int("weight", int64(n.Weight))
	w.Text("topology", "")
	all := api.Resources{CPUs: s.CPUs, MemoryMB: s.MemoryMB, Billing: uint64(s.CPUs)}
	for _, g := range n.Gres {
		all.Gres = append(all.Gres, gres.Item{Name: g.Name, Count: g.Count})
	}
	w.Text("tres", string(slurm.AppendTRES(nil, &all, slurm.Exact)))
	w.Text("version", n.Version)
}

// Partitions writes partitions as scontrol show partition --json does.
func Partitions(w *Writer, now job.Time, list *api.PartitionList) {
	w.List("partitions", func() {
		for i := range list.Partitions {
			w.Map("", func() { writePartition(w, &list.Partitions[i]) })
		}
	})
	w.Set("last_update", now.Unix())
}

func writePartition(w *Writer, p *api.PartitionRecord) {
	join := func(list []string) string { return strings.Join(list, ",") }
	w.Map("nodes", func() {
		w.Text("allowed_allocation", "")
		w.Text("configured", p.Nodes)
		w.Int("total", int64(p.Total.Nodes))
	})
	w.Map("accounts", func() {
		w.Text("allowed", join(p.AllowAccounts))
		w.Text("deny", join(p.DenyAccounts))
	})
	w.Map("groups", func() { w.Text("allowed", join(p.AllowGroups)) })
	w.Map("qos", func() {
		w.Text("allowed", join(p.AllowQOS))
		w.Text("deny", join(p.DenyQOS))
		w.Text("assigned", p.QOS)
	})
	w.Text("alternate", p.Alternate)
	w.Map("tres", func() {
		w.Text("billing_weights", "")
		w.Text("configured", string(slurm.AppendTRES(nil, &p.Total, slurm.Exact)))
	})
	w.Text("cluster", "")
	w.Texts("select_type", []string{"NONE"})
	w.Map("cpus", func() {
		w.List("task_binding", func() {})
		w.Int("total", int64(p.Total.CPUs))
	})
	w.Map("defaults", func() {
		memory(w, p.DefMemory)
		limit(w, "time", p.DefaultTime)
		w.Text("job", "")
	})
	w.Texts("flags", partitionFlags(p))
	w.Map("partition", func() {
		exclusive := "NO"
		if p.OverSubscribe == "EXCLUSIVE" {
			exclusive = "NODE"
		}
		w.Text("exclusive", exclusive)
		w.Text("oversubscribe", textOr(p.OverSubscribe, "NO"))
		w.Texts("state", []string{p.State})
	})
	w.Int("grace_time", int64(p.GraceTime))
	partitionLimits(w, p)
	w.Text("name", p.Name)
	w.Text("node_sets", "")
	w.Texts("preempt_mode", []string{"CLUSTER_GLOBAL"})
	w.Map("priority", func() {
		w.Int("job_factor", int64(p.JobFactor))
		w.Int("tier", int64(p.PriorityTier))
	})
	w.Map("timeouts", func() {
		w.Number("resume", false, false, 0)
		w.Number("suspend", false, false, 0)
	})
	w.Text("topology", "")
	w.Number("suspend_time", false, false, 0)
}

func partitionLimits(w *Writer, p *api.PartitionRecord) {
	endless := func(k string, n uint32) { w.Number(k, n != 0, n == 0, int64(n)) }
	w.Map("maximums", func() {
		endless("cpus_per_node", p.MaxCPUsNode)
		endless("cpus_per_socket", 0)
		memory(w, p.MaxMemory)
		endless("nodes", p.MaxNodes)
		w.Int("shares", 0)
		w.Map("oversubscribe", func() {
			w.Int("jobs", 0)
			w.List("flags", func() {})
		})
		if p.MaxTime == 0 {
			limit(w, "time", job.Unlimited)
		} else {
			limit(w, "time", p.MaxTime)
		}
		w.Number("over_time_limit", false, false, 0)
	})
	w.Map("minimums", func() { w.Int("nodes", int64(p.MinNodes)) })
}

// memory writes a default or limit of memory.
func memory(w *Writer, m api.JobMemory) {
	perCPU := m.Per == job.MemoryPerCPU
	w.Int("memory_per_cpu", pick(perCPU, m.MB))
	w.Number("partition_memory_per_cpu", perCPU, false, pick(perCPU, m.MB))
	w.Number("partition_memory_per_node", !perCPU, false, pick(!perCPU, m.MB))
}

func partitionFlags(p *api.PartitionRecord) []string {
	var flags []string
	for _, f := range []struct {
		set  bool
		word string
	}{{p.Default, "DEFAULT"}, {p.Hidden, "HIDDEN"}, {p.DisableRoot, "NO_ROOT"}, {p.RootOnly, "ROOT_ONLY"}, {p.ReqResv, "REQ_RESV"}, {p.LLN, "LLN"}} {
		if f.set {
			flags = append(flags, f.word)
		}
	}
	return flags
}

// Reservations writes reservations as scontrol show reservation --json does.
func Reservations(w *Writer, list *api.ReservationList) {
	w.List("reservations", func() {
		for i := range list.Reservations {
			r := &list.Reservations[i]
			w.Map("", func() {
				w.Text("accounts", strings.Join(r.Accounts, ","))
				w.Text("burst_buffer", "")
				w.Int("core_count", int64(r.Cores))
				w.List("core_specializations", func() {})
				w.Set("end_time", r.End.Unix())
				w.Text("features", r.Features)
				w.Texts("flags", r.Flags)
				w.Text("groups", "")
				w.Text("licenses", format.Licenses(r.Licenses))
				w.Int("max_start_delay", 0)
				w.Text("name", r.Name)
				w.Int("node_count", int64(r.NodeCount))
				w.Text("node_list", r.Nodes)
				w.Text("partition", r.Partition)
				w.Map("purge_completed", func() { w.Number("time", false, false, 0) })
				w.Set("start_time", r.Start.Unix())
				w.Text("tres", "cpu="+num(r.CPUs))
				w.Text("users", strings.Join(r.Users, ","))
			})
		}
	})
	w.Set("last_update", list.Now.Unix())
}

// Licenses writes licences as scontrol show licenses --json does.
func Licenses(w *Writer, list *api.LicenseList) {
	w.List("licenses", func() {
		for _, l := range list.Licenses {
			w.Map("", func() {
				w.Text("LicenseName", l.Name)
				w.Int("Total", int64(l.Total))
				w.Int("Used", int64(l.Used))
				w.Int("Free", int64(l.Total)-int64(min(l.Used, l.Total)))
				w.Bool("Remote", false)
				w.Int("Reserved", 0)
				w.Int("LastConsumed", 0)
				w.Int("LastDeficit", 0)
				w.Set("LastUpdate", 0)
			})
		}
	})
}

// Ping writes the controllers as scontrol ping --json does.
func Ping(w *Writer, p *api.PingReply, micros int64) {
	w.List("pings", func() {
		for _, c := range p.Controllers {
			w.Map("", func() {
				w.Text("hostname", textOr(c.Name, c.Address))
				w.Bool("responding", c.Up)
				w.Int("latency", micros)
				w.Bool("primary", c.Leader)
				w.Text("status", "No error")
			})
		}
	})
}
