package partition

import (
	"fmt"
	"slices"
	"strings"

	"muster/job"
)

// Asker is who wants a job in a partition, with what the rules look at.
type Asker struct {
	UID          uint32
	Account, QOS string
	Groups       []string // names of the groups of the user
}

// Permit tells whether the partition's rules let a job run here, and if not, which
// one holds it: slurm.conf(5), the Partition parameters. ReasonNone is yes. The
// state of the partition is not looked at: see Holds.
func (p *Partition) Permit(r *job.Request, who *Asker) (job.Reason, string) {
	if why, detail := p.admits(who); why != job.ReasonNone {
		return why, detail
	}
	if p.ReqResv && r.Reservation == "" {
		return job.ReasonReservation, fmt.Sprintf("partition %s is only for jobs of a reservation (--reservation)", p.Name)
	}
	least := int(max(1, r.Size.MinNodes))
	if len(r.Size.NodeCounts) > 0 {
		least = int(r.Size.NodeCounts[0])
	}
	most := int(max(r.Size.MaxNodes, r.Size.MinNodes))
	switch {
	case p.MaxNodes > 0 && least > int(p.MaxNodes):
		return job.ReasonPartitionNodeLimit, fmt.Sprintf("needs %d nodes; partition %s allows %d", least, p.Name, p.MaxNodes)
	case least > len(p.Nodes):
		return job.ReasonPartitionNodeLimit, fmt.Sprintf("needs %d nodes; partition %s has %d", least, p.Name, len(p.Nodes))
	case p.MinNodes > 1 && most > 0 && most < int(p.MinNodes):
		return job.ReasonPartitionNodeLimit, fmt.Sprintf("asks for %d nodes at most; partition %s wants at least %d", most, p.Name, p.MinNodes)
	}
	limit := r.Timing.Limit
	if r.Timing.MinLimit > 0 && r.Timing.MinLimit < limit {
		limit = r.Timing.MinLimit
	}
	if limit > 0 && p.MaxTime > 0 && limit > p.MaxTime {
		return job.ReasonPartitionTimeLimit, fmt.Sprintf("asks for %s; partition %s allows %s", minutes(limit), p.Name, minutes(p.MaxTime))
	}
	return job.ReasonNone, ""
}

func minutes(m job.Minutes) string {
	if m == job.Unlimited {
		return "unlimited time"
	}
	return fmt.Sprintf("%d minutes", m)
}

// admits looks at who asks.
func (p *Partition) admits(who *Asker) (job.Reason, string) {
	switch {
	case who.UID == 0 && p.DisableRoot:
		return job.ReasonPartitionConfig, fmt.Sprintf("partition %s does not take jobs of root", p.Name)
	case who.UID == 0:
		return job.ReasonNone, ""
	case p.RootOnly:
		return job.ReasonPartitionConfig, fmt.Sprintf("partition %s takes jobs of root only", p.Name)
	case len(p.AllowAccounts) > 0 && !holds(p.AllowAccounts, who.Account), slices.Contains(p.DenyAccounts, who.Account):
		return job.ReasonAccountNotAllowed, fmt.Sprintf("partition %s is not open to account %s", p.Name, who.Account)
	case len(p.AllowQOS) > 0 && !holds(p.AllowQOS, who.QOS), slices.Contains(p.DenyQOS, who.QOS):
		return job.ReasonQOSNotAllowed, fmt.Sprintf("partition %s is not open to QOS %s", p.Name, who.QOS)
	case !p.AdmitsGroups(who):
		return job.ReasonPartitionConfig, fmt.Sprintf("partition %s is open to groups %s only", p.Name, strings.Join(p.AllowGroups, ","))
	}
	return job.ReasonNone, ""
}

// AdmitsGroups tells whether AllowGroups lets a user in. Of whom no groups are
// known is in none.
func (p *Partition) AdmitsGroups(who *Asker) bool {
	return who.UID == 0 || len(p.AllowGroups) == 0 || holdsAny(p.AllowGroups, who.Groups)
}

// holds looks a name up in a list in which ALL stands for everything.
func holds(list []string, name string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return x == name || strings.EqualFold(x, "ALL") })
}

func holdsAny(list, names []string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, "ALL") || slices.Contains(names, x) })
}

// Holds is the reason that the partition's state gives a waiting job, or
// ReasonNone if it starts jobs.
func (p *Partition) Holds() job.Reason {
	switch p.State {
	case PartitionDown:
		return job.ReasonPartitionDown
	case PartitionInactive:
		return job.ReasonPartitionInactive
	}
	return job.ReasonNone
}

// Accepts tells whether the partition's state lets new jobs in.
func (p *Partition) Accepts() bool { return p.State == PartitionUp || p.State == PartitionDown }

// Limit is the time limit of a request in the partition: as asked, else the
// partition's default, else its maximum.
func (p *Partition) Limit(r *job.Request) job.Minutes {
	limit := r.Timing.Limit
	if limit == 0 {
		limit = p.DefaultTime
		if limit == 0 || p.MaxTime > 0 && limit > p.MaxTime {
			limit = p.MaxTime
		}
	}
	if limit == 0 {
		limit = job.Unlimited
	}
	return limit
}
