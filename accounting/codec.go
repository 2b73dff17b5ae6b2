package accounting

import "muster/internal/wire"

// Code implements wire.Message.
func (a *Account) Code(c *wire.Coder) {
	c.String(1, &a.Name)
	c.String(2, &a.Description)
	c.String(3, &a.Organization)
	wire.Texts(c, 4, &a.Coordinators)
}

// Code implements wire.Message.
func (u *User) Code(c *wire.Coder) {
	c.String(1, &u.Name)
	c.String(2, &u.Default)
	wire.Uint(c, 3, &u.Admin)
}

// Code implements wire.Message.
func (a *Association) Code(c *wire.Coder) {
	c.String(1, &a.Account)
	c.String(2, &a.User)
	c.String(3, &a.Partition)
	c.String(4, &a.Parent)
	wire.Uint(c, 5, &a.Shares)
	wire.Uint(c, 6, &a.Priority)
	wire.Texts(c, 7, &a.QOS)
	c.String(8, &a.Default)
	wire.Struct(c, 9, &a.Limits)
}

// Code implements wire.Message.
func (q *QOS) Code(c *wire.Coder) {
	c.String(1, &q.Name)
	c.String(2, &q.Description)
	wire.Uint(c, 3, &q.Priority)
	wire.Uint(c, 4, &q.Flags)
	wire.Struct(c, 5, &q.Limits)
	wire.Struct(c, 6, &q.PerUser)
	wire.Struct(c, 7, &q.PerAccount)
	q.MinTRES.code(c, 8)
	wire.Texts(c, 9, &q.Preempt)
	wire.Uint(c, 10, &q.PreemptMode)
	wire.Uint(c, 11, &q.GraceTime)
	wire.Uint(c, 12, &q.Exempt)
	wire.Uint(c, 13, &q.UsageFactor)
}

// Code implements wire.Message.
func (p *Part) Code(c *wire.Coder) {
	wire.Uint(c, 1, &p.Jobs)
	wire.Uint(c, 2, &p.Submit)
	p.TRES.code(c, 3)
}

// Code implements wire.Message.
func (l *Limits) Code(c *wire.Coder) {
	wire.Uint(c, 1, &l.GrpJobs)
	wire.Uint(c, 2, &l.GrpSubmit)
	l.GrpTRES.code(c, 3)
	wire.Uint(c, 4, &l.MaxJobs)
	wire.Uint(c, 5, &l.MaxSubmit)
	l.MaxTRES.code(c, 6)
	wire.Uint(c, 7, &l.MaxWall)
	l.GrpTRESMins.code(c, 8)
	wire.Uint(c, 9, &l.GrpWall)
	l.MaxTRESMins.code(c, 10)
}

// Code implements wire.Message.
func (a *Amount) Code(c *wire.Coder) {
	c.String(1, &a.Name)
	c.Uint64(2, &a.Count)
}

func (l *Amounts) code(c *wire.Coder, n int) { wire.Slice(c, n, (*[]Amount)(l)) }

// Code implements wire.Message.
func (c *Change) Code(w *wire.Coder) {
	w.Bool(1, &c.Delete)
	wire.Pointer(w, 2, &c.Account)
	wire.Pointer(w, 3, &c.User)
	wire.Pointer(w, 4, &c.Assoc)
	wire.Pointer(w, 5, &c.QOS)
}
