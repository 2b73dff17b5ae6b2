package query

import (
	"slices"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/partition"
	"muster/state"
)

// keptFrom tells whether the cluster keeps what a word of PrivateData names from the
// caller (slurm.conf(5)). Root and operators see all.
func keptFrom(root *state.Root, r *service.Request, word string) bool {
	return slices.Contains(root.Cluster().Policy.PrivateData, word) && root.AdminLevel(r.Caller.UID, r.Caller.User) < accounting.Operator
}

// errPrivate refuses what Slurm refuses as a whole: nodes and partitions.
func errPrivate() error { return &api.Error{Kind: api.ErrDenied, Text: slurm.TextDenied} }

// mayUseReservation tells whether the caller may use a reservation with one of his
// accounts.
func mayUseReservation(root *state.Root, r *service.Request, res *partition.Reservation) bool {
	mine := root.Book().OfUser(r.Caller.User)
	if len(mine) == 0 {
		return res.MayUse(r.Caller.User, "")
	}
	for _, a := range mine {
		if res.MayUse(r.Caller.User, a.Account) {
			return true
		}
	}
	return false
}
