package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/partition"
)

// config answers scontrol show config: what is set here under Slurm's names. What
// Slurm has and Muster has not is left out.
func config(_ context.Context, core service.Core, r *service.Request) error {
	root := core.Root()
	r.Index = root.Index()
	c := root.Cluster()
	reply := api.ConfigReply{Now: core.Now(), Cluster: c.Name}
	reply.Pairs = settings(core, c)
	if r.Caller.UID == 0 {
		reply.Source = c.Source
	}
	return send(r, &reply)
}

// settings lists the configuration by name.
func settings(core service.Core, c *partition.Cluster) []api.ConfigPair {
	t, l, p := &c.Timers, &c.Limits, &c.Policy
	pairs := []api.ConfigPair{
		{Key: "AccountingStorageEnforce", Value: orNone(p.Enforce)},
		{Key: "AccountingStorageTRES", Value: strings.Join(trackedResources(c), ",")},
		{Key: "AccountingStorageType", Value: "accounting_storage/muster"},
		{Key: "AcctGatherNodeFreq", Value: "0 sec"},
		{Key: "BatchStartTimeout", Value: seconds(t.BatchStart)},
		{Key: "BOOT_TIME", Value: strconv.FormatInt(core.Counters().Started.Unix(), 10)},
		{Key: "ClusterName", Value: c.Name},
		memorySetting("DefMem", p.DefMemory),
		{Key: "EnforcePartLimits", Value: orText(p.EnforcePartLimits, "NO")},
		{Key: "Epilog", Value: orText(c.Programs.Epilog, "(null)")},
		{Key: "FairShareDampeningFactor", Value: strconv.Itoa(int(max(1, p.Priority.Damp)))},
		{Key: "FirstJobId", Value: "1"},
		{Key: "GresTypes", Value: orText(strings.Join(gresTypes(c), ","), "(null)")},
		{Key: "JobAcctGatherFrequency", Value: strconv.Itoa(int(t.Sampling))},
		{Key: "JobFileAppend", Value: "0"},
		{Key: "JobRequeue", Value: oneIf(p.Requeue)},
		{Key: "KillWait", Value: seconds(t.KillWait)},
		{Key: "Licenses", Value: licenseList(c.Licenses)},
		{Key: "MaxArraySize", Value: strconv.Itoa(int(l.MaxArraySize))},
		{Key: "MaxJobCount", Value: strconv.Itoa(int(l.MaxJobs))},
		memorySetting("MaxMem", p.MaxMemory),
		{Key: "MaxNodeCount", Value: strconv.Itoa(len(c.Nodes))},
		{Key: "MinJobAge", Value: seconds(t.MinJobAge)},
		{Key: "OverTimeLimit", Value: fmt.Sprintf("%d min", t.OverTime)},
		{Key: "PreemptExemptTime", Value: string(slurm.AppendSpan(nil, int64(p.Preempt.Exempt)))},
		{Key: "PreemptMode", Value: preemptMode(p)},
		{Key: "PreemptType", Value: preemptType(p)},
		{Key: "PriorityCalcPeriod", Value: span(p.Priority.CalcPeriod)},
		{Key: "PriorityDecayHalfLife", Value: span(p.Priority.HalfLife)},
		{Key: "PriorityFavorSmall", Value: yesIf(p.Priority.FavorSmall)},
		{Key: "PriorityFlags", Value: priorityFlags(&p.Priority)},
		{Key: "PriorityMaxAge", Value: span(p.Priority.MaxAge)},
		{Key: "PriorityType", Value: priorityType(p)},
		{Key: "PriorityUsageResetPeriod", Value: [...]string{"NONE", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"}[min(p.Priority.Reset, partition.ResetYearly)]},
		{Key: "PriorityWeightAge", Value: strconv.Itoa(int(p.Priority.Age))},
		{Key: "PriorityWeightAssoc", Value: strconv.Itoa(int(p.Priority.Assoc))},
		{Key: "PriorityWeightFairShare", Value: strconv.Itoa(int(p.Priority.FairShare))},
		{Key: "PriorityWeightJobSize", Value: strconv.Itoa(int(p.Priority.JobSize))},
		{Key: "PriorityWeightPartition", Value: strconv.Itoa(int(p.Priority.Partition))},
		{Key: "PriorityWeightQOS", Value: strconv.Itoa(int(p.Priority.QOS))},
		{Key: "PrivateData", Value: orNone(p.PrivateData)},
		{Key: "Prolog", Value: orText(c.Programs.Prolog, "(null)")},
		{Key: "PrologEpilogTimeout", Value: strconv.Itoa(int(c.Programs.Time))},
		{Key: "PropagateResourceLimitsExcept", Value: orText(strings.Join(p.PropagateExcept, ","), "(null)")},
		{Key: "SchedulerTimeSlice", Value: "30 sec"},
		{Key: "SchedulerType", Value: "sched/backfill"},
		{Key: "SelectType", Value: "select/cons_tres"},
		{Key: "SelectTypeParameters", Value: selectParameters(p)},
		{Key: "SLURM_VERSION", Value: api.SlurmVersion},
		{Key: "SlurmUser", Value: "root(0)"},
		{Key: "SlurmdUser", Value: "root(0)"},
		{Key: "SlurmdTimeout", Value: seconds(t.NodeTimeout)},
	}
	for i, ctl := range core.Controllers() {
		pairs = append(pairs, api.ConfigPair{Key: fmt.Sprintf("SlurmctldHost[%d]", i), Value: ctl.Name + "(" + ctl.Address + ")"})
	}
	slices.SortStableFunc(pairs, func(a, b api.ConfigPair) int {
		return strings.Compare(strings.ToLower(a.Key), strings.ToLower(b.Key))
	})
	return pairs
}

func seconds(n uint32) string { return strconv.Itoa(int(n)) + " sec" }

func orText(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

func orNone(list []string) string { return orText(strings.Join(list, ","), "none") }

func oneIf(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func yesIf(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// span writes seconds as Slurm does.
func span(s uint32) string { return string(slurm.AppendSpan(nil, int64(s))) }

// gresTypes are the names of the devices that any node declares.
func gresTypes(c *partition.Cluster) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range c.Nodes {
		for k := range c.Nodes[i].Gres.Devices {
			add(c.Nodes[i].Gres.Devices[k].Name)
		}
		for _, g := range c.Nodes[i].Gres.Counts {
			add(g.Name)
		}
	}
	slices.Sort(names)
	return names
}

// trackedResources are the resources that accounting counts.
func trackedResources(c *partition.Cluster) []string {
	tres := []string{"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"}
	for _, name := range gresTypes(c) {
		tres = append(tres, "gres/"+name)
	}
	return tres
}

// memorySetting is a default or limit under the name of the unit that it counts by.
func memorySetting(name string, m job.Memory) api.ConfigPair {
	pair := api.ConfigPair{Key: name + "PerNode", Value: "UNLIMITED"}
	if m.Per == job.MemoryPerCPU {
		pair.Key = name + "PerCPU"
	}
	if m.MB != 0 {
		pair.Value = strconv.FormatUint(m.MB, 10)
	}
	return pair
}

func licenseList(list []partition.License) string {
	texts := make([]string, len(list))
	for i, l := range list {
		texts[i] = l.Name + ":" + strconv.Itoa(int(l.Total))
	}
	return orText(strings.Join(texts, ","), "(null)")
}

// priorityFlags are the flags of PriorityFlags that the settings amount to.
func priorityFlags(p *partition.Priority) string {
	var out []string
	if p.Classic {
		out = append(out, "NO_FAIR_TREE")
	}
	switch p.Billing {
	case partition.BillMax:
		out = append(out, "MAX_TRES")
	case partition.BillMaxAndGres:
		out = append(out, "MAX_TRES_GRES")
	}
	return strings.Join(out, ",")
}

func priorityType(p *partition.Policy) string {
	if p.Priority.Multifactor {
		return "priority/multifactor"
	}
	return "priority/basic"
}

func selectParameters(p *partition.Policy) string {
	s := "CR_CPU"
	if p.AllocCores {
		s = "CR_CORE"
	}
	if p.TrackMemory {
		s += "_MEMORY"
	}
	return s
}

// preemptType names the rule for making room as slurm.conf does.
func preemptType(p *partition.Policy) string {
	if p.Preempt.Type == "" {
		return "preempt/none"
	}
	return "preempt/" + p.Preempt.Type
}

// preemptMode is what happens to jobs that make room.
func preemptMode(p *partition.Policy) string {
	if p.Preempt.Type == "" {
		return "OFF"
	}
	return p.Preempt.Mode.String()
}
