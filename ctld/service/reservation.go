package service

import "muster/state"

// MayUseReservation tells whether the caller may use a reservation, given by its name,
// with any account that is theirs.
func MayUseReservation(root *state.Root, r *Request, name string) bool {
	res := root.Reservation(name)
	if res == nil {
		return false
	}
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
