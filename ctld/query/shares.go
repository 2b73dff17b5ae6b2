package query

import (
	"math/big"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/ctld/treefile"
)

// shares are the fair shares of the tree: sshare(1). What ended jobs have used is
// included at once, what running ones use up to the last calc_period.
func (t *tables) shares() {
	t.fields("cluster account user partition rawshares normshares rawusage normusage effectvusage fairshare levelfs grptresmins tresrunmins grptresraw depth parentname")
	names := t.tresNames()
	left := t.runLeft()
	for _, s := range accounting.SharesOf(t.book, t.root, &t.root.Cluster().Policy.Priority) {
		a := s.Assoc
		raw, factor, level := shares(a), "", ratioText(s.Level)
		if s.Depth == 0 {
			raw, level = "", ""
		}
		if a.User != "" {
			factor = fraction(s)
		}
		if a.Shares == accounting.SharesOfParent || t.root.Cluster().Policy.Priority.Classic {
			level = ""
		}
		running := left[a]
		if running == nil {
			running = &accounting.Usage{}
		}
		t.row(t.cluster, a.Account, a.User, a.Partition, raw, ratioText(s.Norm), strconv.FormatUint(s.Used.Raw.Whole(), 10), ratioText(s.Normal), ratioText(s.Effective),
			factor, level, treefile.Amounts(a.Limits.GrpTRESMins), minutesOf(names, running.Get), minutesOf(names, s.Used.Get), strconv.Itoa(s.Depth), a.Parent)
	}
}

// fraction is the fair-share factor as Slurm prints it.
func fraction(s *accounting.Share) string {
	if s.Rank > 0 {
		return ratioText(big.NewRat(int64(s.Rank), int64(s.Users)))
	}
	return strconv.FormatFloat(float64(s.Factor)/float64(accounting.One), 'f', 6, 64)
}

// ratioText prints a ratio with six decimals; nil is infinite.
func ratioText(r *big.Rat) string {
	if r == nil {
		return "inf"
	}
	x, _ := r.Float64()
	return strconv.FormatFloat(x, 'f', 6, 64)
}

// minutesOf lists whole resource-minutes by name.
func minutesOf(names []string, get func(string) accounting.Spent) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + "=" + strconv.FormatUint(get(name).Whole()/60, 10)
	}
	return strings.Join(out, ",")
}

// runLeft is what running jobs still use if they run to their limits, from the time to
// which their use is counted, by association and all above it. Jobs without a limit
// are left out.
func (t *tables) runLeft() map[*accounting.Association]*accounting.Usage {
	left := map[*accounting.Association]*accounting.Usage{}
	for j := range t.root.Holding() {
		seconds := j.Times.LimitEnd.Unix() - max(t.root.UsageAt(), j.Times.Start).Unix()
		if !j.State.Active() || j.Times.LimitEnd == 0 || seconds <= 0 {
			continue
		}
		use := accounting.UsageOver(j.Alloc, uint64(seconds))
		for a := t.book.Of(j.Account, j.Owner.User, j.Alloc.Partition); a != nil; a = t.book.Above(a) {
			if left[a] == nil {
				left[a] = &accounting.Usage{}
			}
			left[a].Add(&use)
		}
	}
	return left
}
