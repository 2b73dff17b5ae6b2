package state

import (
	"sync"

	"muster/accounting"
	"muster/partition"

	"github.com/tidwall/btree"
)

// fairShares are the fair shares by the use that the last Decay left. They are worked
// out when somebody first asks, never in Apply; roots share them until accounts, use
// or configuration change.
type fairShares struct {
	book     *accounting.Book
	usage    *btree.BTreeG[*usageRow]
	priority *partition.Priority

	once    sync.Once
	factors map[*accounting.Association]accounting.Fraction
}

// renewShares lets the fair shares follow from what is known now.
func (m *Machine) renewShares() {
	m.work.shares = &fairShares{book: m.work.book, usage: m.work.usage.Copy(), priority: &m.work.cluster.Policy.Priority}
}

// FairShare is the fair-share factor of a user's association of the present book, as
// of the last Decay.
func (r *Root) FairShare(a *accounting.Association) accounting.Fraction {
	s := r.shares
	s.once.Do(func() {
		s.factors = map[*accounting.Association]accounting.Fraction{}
		for _, share := range accounting.SharesOf(s.book, &Root{usage: s.usage}, s.priority) {
			s.factors[share.Assoc] = share.Factor
		}
	})
	return s.factors[a]
}
