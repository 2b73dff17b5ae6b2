package conf

import (
	"path/filepath"
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// rlimits are the resource limits that can be carried from the submitting
// shell to a job (slurm.conf(5), PropagateResourceLimits).
func rlimits() []string {
	return []string{"ALL", "NONE", "AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"}
}

func (b *builder) policy() {
	p := b.schema.Policy
	b.file.Cluster.Policy = partition.Policy{
		EnforcePartLimits: b.oneOf("policy", "enforce_part_limits", p.PartLimits, "NO", "ANY", "ALL"),
		Requeue:           p.Requeue,
		AllocCores:        p.AllocCores,
		TrackMemory:       p.TrackMemory,
		Enforce:           b.words("policy", "enforce", p.Enforce, "associations", "limits", "qos", "safe"),
		PropagateExcept:   b.words("policy", "propagate_except", p.Propagate, rlimits()...),
		Administrators:    p.Admins,
		PrivateData: b.words("policy", "private_data", p.PrivateData,
			"accounts", "jobs", "nodes", "partitions", "reservations", "usage", "users"),
		Priority:       b.priority(),
		Order:          b.oneOf("policy", "order", p.Order, partition.OrderSlurm, partition.OrderBalanced),
		Preempt:        b.preemption(),
		OrderClasses:   b.orderClasses(p.OrderClasses),
		SchedInterval:  uint32(p.SchedInterval),
		DefMemory:      b.memory("policy", "def_mem", p.DefMemPerCPU, p.DefMemPerNode),
		MaxMemory:      b.memory("policy", "max_mem", p.MaxMemPerCPU, p.MaxMemPerNode),
		Devices:        b.devices(),
		CompletionFile: b.program("policy", "completion_file", p.Completion),
		MailProg:       b.program("policy", "mail_prog", p.MailProg),
		MailDomain:     b.mailDomain(p.MailDomain),
	}
}

// preemption reads what makes room for what.
func (b *builder) preemption() partition.Preemption {
	p := b.schema.Policy
	kind := b.oneOf("policy", "preempt", p.Preempt, "none", partition.PreemptByQOS, partition.PreemptByTier)
	mode, _ := partition.ParsePreemptMode(b.oneOf("policy", "preempt_mode", p.PreemptMode, "OFF", "CANCEL", "REQUEUE"))
	out := partition.Preemption{Type: kind, Mode: mode, Exempt: uint32(p.PreemptExempt)}
	if kind == "none" {
		out.Type = ""
	}
	return out
}

// program checks the path of a program or file; it may be empty.
func (b *builder) program(path, key, name string) string {
	if name != "" && !filepath.IsAbs(name) {
		b.fail(path+"."+key, "%s: %s: want an absolute path, or nothing", key, kindOf(name))
	}
	return name
}

// preemptMode is the mode of a partition, "" if it has none of its own.
func (b *builder) preemptMode(path, word string) string {
	if word == "" {
		return ""
	}
	return b.oneOf(path, "preempt_mode", word, "OFF", "CANCEL", "REQUEUE")
}

func (b *builder) mailDomain(name string) string {
	if strings.ContainsAny(name, " \t\n@") {
		b.fail("policy.mail_domain", "mail_domain: %s: want a name such as example.org", kindOf(name))
	}
	return name
}

// orderClasses reads the bounds of the balanced order, in seconds.
func (b *builder) orderClasses(list []string) []uint32 {
	var out []uint32
	for _, text := range list {
		var s seconds
		if err := s.set(text); err != nil || len(out) > 0 && uint32(s) <= out[len(out)-1] {
			b.fail("policy.order_classes", "order_classes: %s: want times such as \"2m\", each longer than the one before", text)
			continue
		}
		out = append(out, uint32(s))
	}
	return out
}

func (b *builder) words(path, key string, words []string, known ...string) []string {
	var out []string
	for _, w := range words {
		out = append(out, b.oneOf(path, key, w, known...))
	}
	return out
}

func (b *builder) priority() partition.Priority {
	p := b.schema.Priority
	out := partition.Priority{
		Multifactor: p.Multifactor, Age: p.Age, FairShare: p.FairShare, JobSize: p.JobSize,
		Partition: p.Partition, QOS: p.QOS, Assoc: p.Assoc, MaxAge: uint32(p.MaxAge),
		FavorSmall: p.FavorSmall, HalfLife: uint32(p.HalfLife), CalcPeriod: uint32(p.CalcPeriod),
	}
	out.Classic = b.oneOf("priority", "fair_share_rule", p.Rule, "fair_tree", "classic") == "classic"
	out.Damp = max(1, p.Damping)
	out.Reset = partition.UsageReset(b.place("priority", "usage_reset", p.UsageReset, "NONE", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"))
	out.Billing = partition.BillingRule(b.place("priority", "billing", p.Billing, "SUM", "MAX_TRES", "MAX_TRES_GRES"))
	for _, text := range p.TRES {
		name, weight, _ := strings.Cut(text, "=")
		n, ok := milliths(weight)
		if !ok || name == "" {
			b.fail("priority.tres", "tres: %s: want a name and a weight of at most three decimals, such as gres/gpu=2.5", kindOf(text))
			continue
		}
		out.TRES = append(out.TRES, partition.TRESWeight{TRES: name, Weight: n})
	}
	if p.CalcPeriod == 0 || p.MaxAge == 0 {
		b.fail("priority", "calc_period and max_age must be at least 1s")
	}
	return out
}

// place is where a word stands among those that are known.
func (b *builder) place(path, key, word string, known ...string) int {
	return max(0, slices.Index(known, b.oneOf(path, key, word, known...)))
}

// billingWeights reads TRESBillingWeights. A weight of memory is for each MB, or for
// each of the unit behind it.
func (b *builder) billingWeights(path string, list []string) []partition.TRESWeight {
	var out []partition.TRESWeight
	for _, text := range list {
		name, weight, _ := strings.Cut(text, "=")
		name = strings.ToLower(name)
		shift := 20 // of BillingUnit: it is 1000 << 20
		if at := strings.IndexByte("KMGTP", last(weight)); at >= 0 && name == "mem" {
			weight, shift = weight[:len(weight)-1], 30-10*at
		}
		n, ok := milliths(weight)
		if !ok || name == "" || n > 1e12 {
			b.fail(path+".tres_billing_weights", "tres_billing_weights: %s: want a name and a weight of at most three decimals, such as mem=0.25G", kindOf(text))
			continue
		}
		if shift >= 0 {
			n <<= shift
		} else {
			n >>= -shift
		}
		out = append(out, partition.TRESWeight{TRES: name, Weight: n})
	}
	return out
}

// last is the last letter of a text as a capital, 0 of none.
func last(s string) byte {
	if s == "" {
		return 0
	}
	return strings.ToUpper(s)[len(s)-1]
}

// partitions takes the partitions, or makes the one of a file without any.
func (b *builder) partitions() {
	tables := b.schema.Partitions
	if len(tables) == 0 {
		var p partitionTable
		b.table("partition", nil, &p)
		p.Name = "main"
		tables = []partitionTable{p}
	}
	chosen := false
	for i := range tables {
		p, path := &tables[i], tableAt("partition", i)
		if !b.checkName(path, "partition", p.Name) || !b.first(path, "partition", p.Name) {
			continue
		}
		if p.Default && chosen {
			b.fail(path+".default", "partition %s: another one is the default already", p.Name)
		}
		chosen = chosen || p.Default
		b.file.Cluster.Partitions = append(b.file.Cluster.Partitions, b.partition(path, p))
	}
	if made := b.file.Cluster.Partitions; !chosen && len(made) > 0 {
		made[0].Default = true
	}
	for i, p := range tables {
		if _, ok := b.where["partition "+p.Alternate]; p.Alternate != "" && !ok {
			b.fail(tableAt("partition", i)+".alternate", "partition %s: there is no partition %s to be its alternate", p.Name, p.Alternate)
		}
	}
}

func (b *builder) partition(path string, p *partitionTable) partition.Partition {
	states := map[string]partition.PartitionState{
		"UP": partition.PartitionUp, "DOWN": partition.PartitionDown,
		"DRAIN": partition.PartitionDrain, "INACTIVE": partition.PartitionInactive,
	}
	if p.MaxNodes > 0 && p.MaxNodes < p.MinNodes {
		b.fail(path+".max_nodes", "partition %s: max_nodes %d is less than min_nodes %d", p.Name, p.MaxNodes, p.MinNodes)
	}
	limit := job.Minutes(0)
	if p.DefaultTime != nil {
		if limit = job.Minutes(*p.DefaultTime); *p.DefaultTime > p.MaxTime {
			b.fail(path+".default_time", "partition %s: default_time is more than max_time", p.Name)
		}
	}
	fences := map[string]partition.Fence{"node_timeout": partition.FenceTimeout, "proof": partition.FenceProof}
	return partition.Partition{
		Name:          p.Name,
		Fence:         fences[b.oneOf(path, "fence", p.Fence, "node_timeout", "proof")],
		NodeList:      b.partitionNodes(path, p),
		Default:       p.Default,
		State:         states[b.oneOf(path, "state", p.State, "UP", "DOWN", "DRAIN", "INACTIVE")],
		MaxTime:       job.Minutes(p.MaxTime),
		DefaultTime:   limit,
		MaxNodes:      p.MaxNodes,
		MinNodes:      p.MinNodes,
		PriorityTier:  p.PriorityTier,
		JobFactor:     p.JobFactor,
		DefMemory:     b.memory(path, "def_mem", p.DefMemPerCPU, p.DefMemPerNode),
		MaxMemory:     b.memory(path, "max_mem", p.MaxMemPerCPU, p.MaxMemPerNode),
		MaxCPUsNode:   p.MaxCPUsNode,
		OverSubscribe: b.oneOf(path, "oversubscribe", p.OverSubscribe, "NO", "EXCLUSIVE"),
		AllowAccounts: p.AllowAccounts,
		DenyAccounts:  p.DenyAccounts,
		AllowGroups:   p.AllowGroups,
		AllowQOS:      p.AllowQOS,
		DenyQOS:       p.DenyQOS,
		Hidden:        p.Hidden,
		RootOnly:      p.RootOnly,
		DisableRoot:   p.DisableRoot,
		LLN:           p.LLN,
		Topology:      b.topologyOf(path, p.Topology),
		PreemptMode:   b.preemptMode(path, p.PreemptMode),
		GraceTime:     uint32(p.GraceTime),
		Alternate:     p.Alternate,
		QOS:           p.QOS,
		Billing:       b.billingWeights(path, p.Billing),
	}
}
