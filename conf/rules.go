package conf

import (
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// rules takes the rules for submits; the partitions that they name must be there.
func (b *builder) rules() {
	for i := range b.schema.Rules {
		r := &b.schema.Rules[i]
		path := tableAt("rule", i)
		if !b.checkName(path, "rule", r.Name) || !b.first(path, "rule", r.Name) {
			continue
		}
		sets := len(r.SetPartitions) > 0 || r.SetAccount != "" || r.SetQOS != ""
		switch {
		case r.Refuse == "" && !sets:
			b.fail(path, "rule %s does nothing; write refuse, set_partitions, set_account or set_qos", r.Name)
		case r.Refuse != "" && sets:
			b.fail(path, "rule %s refuses and sets; keep one", r.Name)
		case strings.ContainsAny(r.Refuse, "\n\r\x00\x1b"):
			b.fail(path+".refuse", "refuse: want one line of plain text")
		}
		b.partitionsOf(path+".partitions", r.Partitions)
		b.partitionsOf(path+".set_partitions", r.SetPartitions)
		b.file.Cluster.Rules = append(b.file.Cluster.Rules, partition.SubmitRule{
			Name: r.Name, Users: r.Users, Groups: r.Groups, Accounts: r.Accounts, Partitions: r.Partitions, QOS: r.QOS,
			Device: r.Device, NodesOver: uint32(r.NodesOver), TimeOver: job.Minutes(r.TimeOver),
			Refuse: r.Refuse, SetPartitions: r.SetPartitions, SetAccount: r.SetAccount, SetQOS: r.SetQOS,
		})
	}
}

// partitionsOf checks the partitions that a rule names.
func (b *builder) partitionsOf(path string, names []string) {
	for _, name := range names {
		if !slices.ContainsFunc(b.file.Cluster.Partitions, func(p partition.Partition) bool { return p.Name == name }) {
			b.fail(path, "there is no partition %s", kindOf(name))
		}
	}
}
