package state

import (
	"slices"

	"muster/accounting"
)

// AdminLevel is what a user may change: all for root and for those whom the cluster
// file names (administrators in [policy]), else what sacctmgr gave (sacctmgr(1),
// AdminLevel).
func (r *Root) AdminLevel(uid uint32, name string) accounting.AdminLevel {
	if uid == 0 || name != "" && slices.Contains(r.Cluster().Policy.Administrators, name) {
		return accounting.Administrator
	}
	if u := r.Book().User(name); u != nil {
		return u.Admin
	}
	return accounting.AdminNone
}
