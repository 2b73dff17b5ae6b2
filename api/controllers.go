package api

import "muster/internal/wire"

// The verbs of a ControllersRequest.
const (
	VerbAdd      = "add"      // as a member without a vote
	VerbPromote  = "promote"  // gets a vote; refused until it has caught up
	VerbDemote   = "demote"   // loses its vote
	VerbRemove   = "remove"   // is no member any more
	VerbTransfer = "transfer" // leads; without a name, any voter other than the present leader
)

// ControllersRequest changes who the controllers are, one step at a time.
type ControllersRequest struct {
	Verb    string
	Name    string
	Address string // VerbAdd: host:port
	Force   bool   // also where fewer than half of the voters left would answer
}

// Code implements wire.Message.
func (c *ControllersRequest) Code(w *wire.Coder) {
	w.String(1, &c.Verb)
	w.String(2, &c.Name)
	w.String(3, &c.Address)
	w.Bool(4, &c.Force)
}
