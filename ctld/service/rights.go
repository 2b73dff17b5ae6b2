package service

import (
	"muster/accounting"
	"muster/state"
)

// Level is what the caller may do beyond what is their own. Compute nodes are not
// believed about that.
func (r *Request) Level(root *state.Root) accounting.AdminLevel {
	if r.Caller.Plain {
		return accounting.AdminNone
	}
	return root.AdminLevel(r.Caller.UID, r.Caller.User)
}

// Operates tells whether the caller may act on the jobs of all users: an operator or
// an administrator (sacctmgr(1), AdminLevel).
func (r *Request) Operates(root *state.Root) bool { return r.Level(root) >= accounting.Operator }

// Administers tells whether the caller may change nodes and partitions.
func (r *Request) Administers(root *state.Root) bool {
	return r.Level(root) >= accounting.Administrator
}

// Coordinates tells whether the caller may act on the jobs of an account.
func (r *Request) Coordinates(root *state.Root, account string) bool {
	return !r.Caller.Plain && root.Book().Coordinates(r.Caller.User, account)
}
