package accounting

import (
	"cmp"
	"strings"

	"muster/job"
)

// Holder names one count of use. What does not belong to its kind is "".
type Holder struct {
	Kind                     HolderKind
	Account, User, Partition string
	QOS                      string
}

// HolderKind says whose use is counted.
type HolderKind uint8

// The kinds of holder.
const (
	HeldByAssoc      HolderKind = iota + 1 // jobs of a user in an account
	HeldByPart                             // of these, those in one partition
	HeldByAccount                          // of all users in an account itself, not of accounts below it
	HeldByQOS                              // of a QOS
	HeldByQOSUser                          // of a user in a QOS
	HeldByQOSAccount                       // of an account in a QOS
)

// Compare orders holders.
func (h *Holder) Compare(o *Holder) int {
	return cmp.Or(cmp.Compare(h.Kind, o.Kind), strings.Compare(h.QOS, o.QOS), strings.Compare(h.Account, o.Account),
		strings.Compare(h.User, o.User), strings.Compare(h.Partition, o.Partition))
}

// Use is what jobs of a holder hold at present.
type Use struct {
	Jobs      uint64 // running or suspended
	Submitted uint64 // of these and waiting, array tasks counted singly
	CPUs      uint64
	MemoryMB  uint64
	Nodes     uint64
	Billing   uint64
	Others    Amounts // gres and licences
}

// Get is how much of a resource is held.
func (u *Use) Get(name string) uint64 {
	switch name {
	case "cpu":
		return u.CPUs
	case "mem":
		return u.MemoryMB
	case "node":
		return u.Nodes
	case "billing":
		return u.Billing
	}
	n, _ := u.Others.Get(name)
	return n
}

// Plus is the use of both.
func (u *Use) Plus(o *Use) Use {
	out := Use{
		Jobs: u.Jobs + o.Jobs, Submitted: u.Submitted + o.Submitted, CPUs: u.CPUs + o.CPUs, MemoryMB: u.MemoryMB + o.MemoryMB,
		Nodes: u.Nodes + o.Nodes, Billing: u.Billing + o.Billing, Others: u.Others,
	}
	for _, a := range o.Others {
		have, _ := out.Others.Get(a.Name)
		out.Others = out.Others.With(a.Name, have+a.Count)
	}
	return out
}

// Less is the use without what o holds of it.
func (u *Use) Less(o *Use) Use {
	out := Use{
		Jobs: u.Jobs - o.Jobs, Submitted: u.Submitted - o.Submitted, CPUs: u.CPUs - o.CPUs, MemoryMB: u.MemoryMB - o.MemoryMB,
		Nodes: u.Nodes - o.Nodes, Billing: u.Billing - o.Billing, Others: u.Others,
	}
	for _, a := range o.Others {
		have, _ := out.Others.Get(a.Name)
		if have == a.Count {
			out.Others = out.Others.Without(a.Name)
		} else {
			out.Others = out.Others.With(a.Name, have-a.Count)
		}
	}
	return out
}

// Empty tells whether nothing is held or waits.
func (u *Use) Empty() bool { return u.Submitted == 0 && u.Jobs == 0 }

// UseOf is what a job with an allocation holds.
func UseOf(a *job.Allocation) Use {
	u := Use{Jobs: 1, Submitted: 1, CPUs: uint64(a.CPUs), MemoryMB: a.MemoryMB, Nodes: uint64(len(a.Nodes)), Billing: a.Billing}
	add := func(name string, n uint64) {
		have, _ := u.Others.Get(name)
		u.Others = u.Others.With(name, have+n)
	}
	for i := range a.Nodes {
		for _, d := range a.Nodes[i].Devices {
			add("gres/"+d.Name, d.Count)
			if d.Type != "" {
				add("gres/"+d.Name+":"+d.Type, d.Count)
			}
		}
	}
	for _, l := range a.Licenses {
		add("license/"+l.Name, uint64(l.Count))
	}
	return u
}

// Holders are all counts that a job of an account, user, partition and QOS
// belongs to.
func Holders(account, user, partition, qos string) [6]Holder {
	return [6]Holder{
		{Kind: HeldByAssoc, Account: account, User: user},
		{Kind: HeldByPart, Account: account, User: user, Partition: partition},
		{Kind: HeldByAccount, Account: account},
		{Kind: HeldByQOS, QOS: qos},
		{Kind: HeldByQOSUser, QOS: qos, User: user},
		{Kind: HeldByQOSAccount, QOS: qos, Account: account},
	}
}
