package format

import (
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
)

// AppendNode writes one node as scontrol show node does.
func AppendNode(dst []byte, x *Context, n *api.NodeRecord, oneLine, details bool) []byte {
	w := newRecord(dst, oneLine)
	s := &n.Shape
	load, free := "N/A", "N/A"
	if n.HasLive {
		load, free = string(appendHundredths(nil, uint64(n.Load))), decimal(n.FreeMemory)
	}
	w.first("NodeName", n.Name)
	if n.Arch != "" {
		w.and("Arch", n.Arch)
	}
	w.and("CoresPerSocket", decimal(s.CoresPerSocket)+" ")
	effective := s.CPUs - min(s.CPUs, uint32(s.CoreSpec)*uint32(max(s.ThreadsPerCore, 1)))
	w.next("CPUAlloc", decimal(n.Used.CPUs)).and("CPUEfctv", decimal(effective)).and("CPUTot", decimal(s.CPUs)).and("CPULoad", load)
	w.next("AvailableFeatures", orNull(strings.Join(n.Features, ",")))
	w.next("ActiveFeatures", orNull(strings.Join(ActiveFeatures(n), ",")))
	w.next("Gres", orNull(NodeGres(n)))
	if details {
		w.next("GresDrain", "N/A")
		if len(n.Gres) > 0 {
			w.next("GresUsed", NodeGresUsed(n))
		}
	}
	host := appendText(n.HostName, n.Name)
	w.next("NodeAddr", appendText(n.Address, host)).and("NodeHostName", host)
	if n.Port != 0 {
		w.and("Port", decimal(n.Port))
	}
	if n.Version != "" {
		w.and("Version", n.Version)
	}
	if n.OS != "" {
		w.next("OS", n.OS)
	}
	w.next("RealMemory", decimal(s.MemoryMB)).and("AllocMem", decimal(n.Used.MemoryMB)).and("FreeMem", free).and("Sockets", decimal(s.Sockets)).and("Boards", decimal(max(s.Boards, 1)))
	if s.CoreSpec != 0 {
		w.next("CoreSpecCount", decimal(s.CoreSpec))
	}
	if s.MemSpecMB != 0 {
		w.next("MemSpecLimit", decimal(s.MemSpecMB))
	}
	w.next("State", strings.Join(NodeStateWords(n.Base, n.Flags), "+")).and("ThreadsPerCore", decimal(s.ThreadsPerCore)).and("TmpDisk", decimal(s.TmpDiskMB)).
		and("Weight", decimal(n.Weight)).and("Owner", "N/A").and("MCS_label", "N/A")
	if len(n.Partitions) > 0 {
		w.next("Partitions", strings.Join(n.Partitions, ",")+" ")
	}
	w.next("BootTime", moment(x, n.BootTime, "None")).and("SlurmdStartTime", moment(x, n.Started, "None"))
	w.next("LastBusyTime", moment(x, n.LastBusy, "Unknown")).and("ResumeAfterTime", "None").and("SuspendTime", "INFINITE")
	all := api.Resources{CPUs: effective, MemoryMB: s.MemoryMB, Billing: uint64(s.CPUs), Gres: byName(n.Gres)}
	used := n.Used
	used.Billing = 0
	w.next("CfgTRES", string(slurm.AppendTRES(nil, &all, x.Unit)))
	w.next("AllocTRES", string(slurm.AppendTRES(nil, &used, x.Unit)))
	w.next("CurrentWatts", "0").and("AveWatts", "0")
	nodeNotes(w, x, n)
	return w.end()
}

// nodeNotes writes what people said of a node.
func nodeNotes(w *record, x *Context, n *api.NodeRecord) {
	if n.Comment != "" {
		w.next("Comment", n.Comment)
	}
	if n.Extra != "" {
		w.next("Extra", n.Extra)
	}
	if n.Reason != "" {
		w.next("Reason", n.Reason+" ["+appendText(n.ReasonBy, "root")+"@"+moment(x, n.ReasonAt, "Unknown")+"]")
	}
	if n.Reservation != "" {
		w.next("ReservationName", n.Reservation)
	}
}

// byName sums devices by name, their types left out.
func byName(items []gres.Item) []gres.Item {
	var out []gres.Item
	for _, it := range items {
		found := false
		for i := range out {
			if out[i].Name == it.Name {
				out[i].Count, found = out[i].Count+it.Count, true
			}
		}
		if !found {
			out = append(out, item(it.Name, it.Count))
		}
	}
	return out
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// listOr is a list with commas, or instead.
func listOr(list []string, instead string) string {
	return appendText(strings.Join(list, ","), instead)
}

// countOr is a limit, or UNLIMITED.
func countOr(n uint32) string {
	if n == 0 {
		return "UNLIMITED"
	}
	return decimal(n)
}

// AppendPartition writes one partition as scontrol show partition does.
func AppendPartition(dst []byte, x *Context, p *api.PartitionRecord, oneLine bool) []byte {
	w := newRecord(dst, oneLine)
	w.first("PartitionName", p.Name)
	w.next("AllowGroups", listOr(p.AllowGroups, "ALL"))
	if len(p.DenyAccounts) > 0 {
		w.and("DenyAccounts", strings.Join(p.DenyAccounts, ","))
	} else {
		w.and("AllowAccounts", listOr(p.AllowAccounts, "ALL"))
	}
	if len(p.DenyQOS) > 0 {
		w.and("DenyQos", strings.Join(p.DenyQOS, ","))
	} else {
		w.and("AllowQos", listOr(p.AllowQOS, "ALL"))
	}
	w.next("AllocNodes", "ALL").and("Default", yesNo(p.Default)).and("QoS", appendText(p.QOS, "N/A"))
	if p.Alternate != "" {
		w.next("Alternate", p.Alternate)
	}
	def := "NONE"
	if p.DefaultTime != 0 {
		def = string(slurm.AppendLimit(nil, p.DefaultTime))
	}
	most := p.MaxTime
	if most == 0 {
		most = job.Unlimited
	}
	exclusive := yesNo(p.OverSubscribe == "EXCLUSIVE")
	w.next("DefaultTime", def).and("DisableRootJobs", yesNo(p.DisableRoot)).and("Exclusive", exclusive).and("GraceTime", decimal(p.GraceTime)).and("Hidden", yesNo(p.Hidden))
	w.next("MaxNodes", countOr(p.MaxNodes)).and("MaxTime", string(slurm.AppendLimit(nil, most))).and("MinNodes", decimal(p.MinNodes)).and("LLN", yesNo(p.LLN)).
		and("MaxCPUsPerNode", countOr(p.MaxCPUsNode)).and("MaxCPUsPerSocket", "UNLIMITED")
	w.next("Nodes", orNull(p.Nodes))
	w.next("PriorityJobFactor", decimal(p.JobFactor)).and("PriorityTier", decimal(p.PriorityTier)).and("RootOnly", yesNo(p.RootOnly)).and("ReqResv", yesNo(p.ReqResv)).
		and("OverSubscribe", appendText(p.OverSubscribe, "NO"))
	w.next("OverTimeLimit", "NONE").and("PreemptMode", appendText(strings.ToUpper(p.PreemptMode), "OFF"))
	w.next("State", p.State).and("TotalCPUs", decimal(p.Total.CPUs)).and("TotalNodes", decimal(p.Total.Nodes)).and("SelectTypeParameters", "NONE")
	w.next("JobDefaults", null)
	defKey, defMem := memoryPair("DefMem", p.DefMemory)
	maxKey, maxMem := memoryPair("MaxMem", p.MaxMemory)
	w.next(defKey, defMem).and(maxKey, maxMem)
	w.next("TRES", string(slurm.AppendTRES(nil, &p.Total, x.Unit)))
	return w.end()
}

// memoryPair is a default or limit of memory with the key that says what it is
// counted by.
func memoryPair(key string, m api.JobMemory) (string, string) {
	switch {
	case m.Per == job.MemoryPerCPU && m.MB != 0:
		return key + "PerCPU", decimal(m.MB)
	case m.MB == 0:
		return key + "PerNode", "UNLIMITED"
	}
	return key + "PerNode", decimal(m.MB)
}

// AppendReservation writes one reservation as scontrol show reservation does.
func AppendReservation(dst []byte, x *Context, r *api.ReservationRecord, oneLine bool) []byte {
	w := newRecord(dst, oneLine)
	w.first("ReservationName", r.Name).and("StartTime", moment(x, r.Start, "Unknown")).and("EndTime", moment(x, r.End, "Unknown")).
		and("Duration", string(slurm.AppendSpan(nil, int64(r.End.Sub(r.Start)/time.Second))))
	w.next("Nodes", orNull(r.Nodes)).and("NodeCnt", decimal(r.NodeCount)).and("CoreCnt", decimal(r.Cores)).and("Features", orNull(r.Features)).
		and("PartitionName", orNull(r.Partition)).and("Flags", strings.Join(r.Flags, ","))
	tres := api.Resources{CPUs: r.CPUs}
	w.next("TRES", orNull(string(slurm.AppendTRES(nil, &tres, x.Unit))))
	w.next("AllowedPartitions", null).and("QOS", null)
	w.next("Users", listOr(r.Users, null)).and("Groups", null).and("Accounts", listOr(r.Accounts, null)).and("Licenses", orNull(Licenses(r.Licenses))).
		and("State", ReservationState(x, r)).and("BurstBuffer", null)
	w.next("MaxStartDelay", null)
	if r.Comment != "" {
		w.next("Comment", r.Comment)
	}
	return w.end()
}

// AppendLicense writes one licence as scontrol show licenses does.
func AppendLicense(dst []byte, l *api.LicenseRecord, oneLine bool) []byte {
	line := "\n    "
	if oneLine {
		line = " "
	}
	w := &record{dst, line}
	w.first("LicenseName", l.Name)
	w.next("Total", decimal(l.Total)).and("Used", decimal(l.Used)).and("Free", decimal(l.Total-min(l.Used, l.Total))).and("Reserved", "0").and("Remote", "no")
	return append(w.dst, '\n')
}

// AppendConfig writes the configuration as scontrol show config does.
func AppendConfig(dst []byte, x *Context, c *api.ConfigReply) []byte {
	dst = append(dst, "Configuration data as of "...)
	dst = append(x.Times.Append(dst, x.Now, "Unknown"), '\n')
	for _, p := range c.Pairs {
		value := p.Value
		if p.Key == "BOOT_TIME" {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				value = moment(x, job.Time(n*1000), "Unknown")
			}
		}
		at := len(dst)
		dst = append(dst, p.Key...)
		if len(p.Key) < configKeyWidth {
			dst = fit(dst, at, configKeyWidth, false, false)
		}
		dst = append(append(append(dst, " = "...), value...), '\n')
	}
	return append(dst, '\n')
}

// configKeyWidth is how wide the names of settings are.
const configKeyWidth = 23
