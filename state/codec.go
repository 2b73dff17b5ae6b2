package state

import "muster/internal/wire"

// Code implements wire.Message.
func (e *Entry) Code(c *wire.Coder) {
	wire.Int(c, 1, &e.Now)
	wire.Slice(c, 2, &e.Commands)
	wire.Slice(c, 3, &e.Blobs)
}

// Code implements wire.Message.
func (b *Blob) Code(c *wire.Coder) {
	c.Fixed(1, b.Hash[:])
	c.Bytes(2, &b.Data)
}

// Code implements wire.Message.
func (e *Envelope) Code(c *wire.Coder) {
	wire.Uint(c, 1, &e.Kind)
	c.Bytes(2, &e.Body)
	wire.Struct(c, 3, &e.By)
	c.Fixed(4, e.Request[:])
	wire.Int(c, 5, &e.FirstTry)
}

// Code implements wire.Message.
func (a *Actor) Code(c *wire.Coder) {
	wire.Uint(c, 1, &a.UID)
	c.String(2, &a.User)
	c.String(3, &a.Host)
}

// Code implements wire.Message.
func (v *Configure) Code(c *wire.Coder) {
	wire.Struct(c, 1, &v.Cluster)
	c.Uint64(2, &v.Base)
	c.Bool(3, &v.Force)
	c.Uint64(4, &v.Undo)
}

// Code implements wire.Message.
func (s *Submit) Code(c *wire.Coder) {
	wire.Slice(c, 1, &s.Jobs)
}

// Code implements wire.Message.
func (n *NewJob) Code(c *wire.Coder) {
	wire.Struct(c, 1, &n.Owner)
	wire.Struct(c, 2, &n.Request)
	c.String(3, &n.Account)
	c.String(4, &n.QOS)
	wire.Uint(c, 5, &n.Held)
	wire.Uint(c, 6, &n.Priority)
	wire.Pointer(c, 7, &n.Tasks)
	c.String(8, &n.Range)
	wire.Uint(c, 9, &n.Limit)
	wire.Struct(c, 10, &n.Bounds)
	wire.Slice(c, 11, &n.Deps)
	c.Bool(12, &n.AnyDep)
	wire.Pointer(c, 13, &n.Start)
	c.Bool(14, &n.Fixed)
}

// Code implements wire.Message.
func (t *Target) Code(c *wire.Coder) {
	wire.Uint(c, 1, &t.Job)
	wire.Pointer(c, 2, &t.Tasks)
}

// Code implements wire.Message.
func (e *End) Code(c *wire.Coder) {
	wire.Slice(c, 1, &e.Targets)
	wire.Uint(c, 2, &e.To)
	wire.Uint(c, 3, &e.Flags)
	wire.Uint(c, 4, &e.Reason)
	c.String(5, &e.Detail)
	wire.OptUint(c, 6, &e.Attempt)
	wire.Uint(c, 7, &e.Grace)
}

// Code implements wire.Message.
func (u *Update) Code(c *wire.Coder) {
	wire.Struct(c, 1, &u.Target)
	wire.Pointer(c, 2, &u.Request)
	wire.OptUint(c, 3, &u.Held)
	wire.OptUint(c, 4, &u.Priority)
	wire.Pointer(c, 5, &u.Deps)
	wire.OptUint(c, 6, &u.Limit)
	wire.OptUint(c, 7, &u.Throttle)
	wire.OptString(c, 8, &u.Account)
	wire.OptString(c, 9, &u.QOS)
	wire.OptString(c, 10, &u.Comment)
}

// Code implements wire.Message.
func (d *Dependencies) Code(c *wire.Coder) {
	wire.Slice(c, 1, &d.List)
	c.Bool(2, &d.Any)
}

// Code implements wire.Message.
func (r *Requeue) Code(c *wire.Coder) {
	wire.Slice(c, 1, &r.Targets)
	wire.Uint(c, 2, &r.Hold)
	c.Bool(3, &r.Special)
	c.String(4, &r.Detail)
	wire.Int(c, 5, &r.Begin)
}

// Code implements wire.Message.
func (s *Suspend) Code(c *wire.Coder) {
	wire.Slice(c, 1, &s.Targets)
	c.Bool(2, &s.Resume)
}

// Code implements wire.Message.
func (s *Start) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Job)
	wire.Uint(c, 2, &s.Task)
	wire.Struct(c, 3, &s.Alloc)
	wire.Uint(c, 4, &s.Limit)
}

// Code implements wire.Message.
func (s *StartHet) Code(c *wire.Coder) {
	wire.Slice(c, 1, &s.Components)
}

// Code implements wire.Message.
func (n *NodeRegister) Code(c *wire.Coder) {
	c.String(1, &n.Name)
	c.String(2, &n.BootID)
	c.String(3, &n.Journal)
	wire.Int(c, 4, &n.BootTime)
	wire.Int(c, 5, &n.Started)
	wire.Texts(c, 6, &n.Address)
	wire.Uint(c, 7, &n.Port)
	c.String(8, &n.HostName)
	c.String(9, &n.OS)
	c.String(10, &n.Arch)
	c.String(11, &n.Version)
	wire.Struct(c, 12, &n.Found)
	wire.Struct(c, 13, &n.Gres)
	wire.Slice(c, 14, &n.Running)
	c.String(15, &n.Problem)
}

// Code implements wire.Message.
func (a *AttemptID) Code(c *wire.Coder) {
	wire.Uint(c, 1, &a.Job)
	wire.Uint(c, 2, &a.Attempt)
}

// Code implements wire.Message.
func (n *NodeSilent) Code(c *wire.Coder) {
	wire.Ints(c, 1, &n.Nodes)
	c.Bool(2, &n.Down)
	c.Bool(3, &n.Heard)
	c.String(4, &n.Reason)
}

// Code implements wire.Message.
func (n *NodeAdmin) Code(c *wire.Coder) {
	wire.Texts(c, 1, &n.Names)
	c.String(2, &n.State)
	wire.OptString(c, 3, &n.Reason)
	wire.OptUint(c, 4, &n.Weight)
	wire.Texts(c, 5, &n.Features)
	c.Bool(6, &n.SetFeat)
	wire.OptString(c, 7, &n.Comment)
	wire.OptString(c, 8, &n.Extra)
	c.Bool(9, &n.SetActive)
}

// Code implements wire.Message.
func (r *Report) Code(c *wire.Coder) {
	wire.Uint(c, 1, &r.Job)
	wire.Uint(c, 2, &r.Attempt)
	c.String(3, &r.Node)
	c.String(4, &r.BootID)
	c.Bool(5, &r.Ended)
	wire.Struct(c, 6, &r.Result)
	c.Bool(7, &r.OOM)
	c.Bool(8, &r.TimedOut)
	c.Bool(9, &r.Released)
	c.Bool(10, &r.Failed)
	c.String(11, &r.Detail)
	wire.Int(c, 12, &r.At)
	wire.Int(c, 13, &r.Latest)
	c.String(14, &r.Drain)
}

// Code implements wire.Message.
func (t *Tick) Code(c *wire.Coder) {
}

// Code implements wire.Message.
func (p *Purge) Code(c *wire.Coder) {
	wire.Ints(c, 1, &p.Jobs)
}

// Code implements wire.Message.
func (o *OutboxDone) Code(c *wire.Coder) {
	c.Uint64(1, &o.Through)
}

// Code implements wire.Message.
func (r *Reservation) Code(c *wire.Coder) {
	c.Bool(1, &r.Delete)
	c.Bool(2, &r.Create)
	wire.Struct(c, 3, &r.Value)
}

// Code implements wire.Message.
func (p *Partition) Code(c *wire.Coder) {
	wire.Struct(c, 1, &p.Value)
	c.Bool(2, &p.Create)
	c.Bool(3, &p.Delete)
}

// Code implements wire.Message.
func (r *Reprioritize) Code(c *wire.Coder) {
	wire.Slice(c, 1, &r.List)
}

// Code implements wire.Message.
func (p *Priority) Code(c *wire.Coder) {
	wire.Uint(c, 1, &p.Job)
	wire.Uint(c, 2, &p.Priority)
}
