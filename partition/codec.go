package partition

import "muster/internal/wire"

// Code implements wire.Message.
func (v *Cluster) Code(c *wire.Coder) {
	c.String(1, &v.Name)
	c.String(2, &v.TimeZone)
	c.String(3, &v.Source)
	wire.Slice(c, 4, &v.Nodes)
	wire.Slice(c, 5, &v.Partitions)
	wire.Slice(c, 6, &v.Licenses)
	wire.Struct(c, 7, &v.Timers)
	wire.Struct(c, 8, &v.Limits)
	wire.Struct(c, 9, &v.Policy)
	wire.Pointers(c, 10, &v.Topologies)
	wire.Struct(c, 11, &v.Programs)
	wire.Slice(c, 12, &v.Rules)
}

// Code implements wire.Message.
func (t *Timers) Code(c *wire.Coder) {
	wire.Uint(c, 1, &t.KillWait)
	wire.Uint(c, 2, &t.MinJobAge)
	wire.Uint(c, 3, &t.NodeTimeout)
	wire.Uint(c, 4, &t.Silent)
	wire.Uint(c, 5, &t.Heartbeat)
	wire.Uint(c, 6, &t.OverTime)
	wire.Uint(c, 7, &t.Sampling)
	wire.Uint(c, 8, &t.BatchStart)
}

// Code implements wire.Message.
func (p *Programs) Code(c *wire.Coder) {
	c.String(1, &p.Prolog)
	c.String(2, &p.Epilog)
	wire.Uint(c, 3, &p.Time)
}

// Code implements wire.Message.
func (l *Limits) Code(c *wire.Coder) {
	wire.Uint(c, 1, &l.MaxArraySize)
	wire.Uint(c, 2, &l.MaxJobs)
	wire.Uint(c, 3, &l.MaxScript)
	wire.Uint(c, 4, &l.MaxEnv)
}

// Code implements wire.Message.
func (p *Policy) Code(c *wire.Coder) {
	c.String(1, &p.EnforcePartLimits)
	c.Bool(2, &p.Requeue)
	c.Bool(3, &p.AllocCores)
	c.Bool(4, &p.TrackMemory)
	wire.Texts(c, 5, &p.Enforce)
	wire.Texts(c, 6, &p.PropagateExcept)
	wire.Texts(c, 7, &p.PrivateData)
	wire.Struct(c, 8, &p.Priority)
	wire.Uint(c, 9, &p.SchedInterval)
	wire.Struct(c, 10, &p.DefMemory)
	wire.Struct(c, 11, &p.MaxMemory)
	c.String(12, &p.MailProg)
	c.String(13, &p.MailDomain)
	wire.Struct(c, 14, &p.Devices)
	c.String(15, &p.Order)
	wire.Struct(c, 16, &p.Preempt)
	wire.Ints(c, 17, &p.OrderClasses)
	c.String(18, &p.CompletionFile)
	wire.Texts(c, 19, &p.Administrators)
}

// Code implements wire.Message.
func (p *DevicePolicy) Code(c *wire.Coder) {
	c.Bool(1, &p.Open)
	c.Bool(2, &p.MixTypes)
	wire.Texts(c, 3, &p.NICVariables)
}

// Code implements wire.Message.
func (p *Preemption) Code(c *wire.Coder) {
	c.String(1, &p.Type)
	wire.Uint(c, 2, &p.Mode)
	wire.Uint(c, 3, &p.Exempt)
}

// Code implements wire.Message.
func (p *Priority) Code(c *wire.Coder) {
	c.Bool(1, &p.Multifactor)
	wire.Uint(c, 2, &p.Age)
	wire.Uint(c, 3, &p.FairShare)
	wire.Uint(c, 4, &p.JobSize)
	wire.Uint(c, 5, &p.Partition)
	wire.Uint(c, 6, &p.QOS)
	wire.Uint(c, 7, &p.Assoc)
	wire.Uint(c, 8, &p.MaxAge)
	c.Bool(9, &p.FavorSmall)
	wire.Uint(c, 10, &p.HalfLife)
	wire.Uint(c, 11, &p.CalcPeriod)
	wire.Slice(c, 12, &p.TRES)
	c.Bool(13, &p.Classic)
	wire.Uint(c, 14, &p.Damp)
	wire.Uint(c, 15, &p.Reset)
	wire.Uint(c, 16, &p.Billing)
}

// Code implements wire.Message.
func (t *TRESWeight) Code(c *wire.Coder) {
	c.String(1, &t.TRES)
	c.Uint64(2, &t.Weight)
}

// Code implements wire.Message.
func (n *Node) Code(c *wire.Coder) {
	wire.Uint(c, 1, &n.ID)
	c.String(2, &n.Name)
	wire.Struct(c, 3, &n.Declared)
	wire.Struct(c, 4, &n.Found)
	wire.Struct(c, 5, &n.Gres)
	wire.Texts(c, 6, &n.Features)
	wire.Texts(c, 7, &n.Active)
	wire.Uint(c, 8, &n.Weight)
	c.String(9, &n.Comment)
	c.String(10, &n.Extra)
	wire.Uint(c, 11, &n.State)
	wire.Uint(c, 12, &n.Admin)
	c.String(13, &n.Reason)
	c.String(14, &n.ReasonBy)
	wire.Int(c, 15, &n.ReasonAt)
	wire.Texts(c, 16, &n.Address)
	wire.Uint(c, 17, &n.Port)
	c.String(18, &n.HostName)
	c.String(19, &n.OS)
	c.String(20, &n.Arch)
	c.String(21, &n.Version)
	c.String(22, &n.BootID)
	c.String(23, &n.Journal)
	wire.Int(c, 24, &n.BootTime)
	wire.Int(c, 25, &n.Started)
	wire.Int(c, 26, &n.LastSeen)
	wire.Int(c, 27, &n.LastBusy)
	wire.Int(c, 40, &n.Since)
}

// Code implements wire.Message.
func (s *Shape) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Boards)
	wire.Uint(c, 2, &s.Sockets)
	wire.Uint(c, 3, &s.CoresPerSocket)
	wire.Uint(c, 4, &s.ThreadsPerCore)
	wire.Uint(c, 5, &s.CPUs)
	c.Uint64(6, &s.MemoryMB)
	c.Uint64(7, &s.TmpDiskMB)
	wire.Uint(c, 8, &s.CoreSpec)
	c.Uint64(9, &s.MemSpecMB)
}

// Code implements wire.Message.
func (p *Partition) Code(c *wire.Coder) {
	c.String(1, &p.Name)
	wire.Ints(c, 2, &p.Nodes)
	c.String(3, &p.NodeList)
	c.Bool(4, &p.Default)
	wire.Uint(c, 5, &p.State)
	wire.Uint(c, 6, &p.MaxTime)
	wire.Uint(c, 7, &p.DefaultTime)
	wire.Uint(c, 8, &p.MaxNodes)
	wire.Uint(c, 9, &p.MinNodes)
	wire.Uint(c, 10, &p.PriorityTier)
	wire.Uint(c, 11, &p.JobFactor)
	wire.Struct(c, 12, &p.DefMemory)
	wire.Struct(c, 13, &p.MaxMemory)
	wire.Uint(c, 14, &p.MaxCPUsNode)
	c.String(15, &p.OverSubscribe)
	wire.Texts(c, 16, &p.AllowAccounts)
	wire.Texts(c, 17, &p.DenyAccounts)
	wire.Texts(c, 18, &p.AllowGroups)
	wire.Texts(c, 19, &p.AllowQOS)
	wire.Texts(c, 20, &p.DenyQOS)
	c.String(21, &p.QOS)
	c.Bool(22, &p.Hidden)
	c.Bool(23, &p.RootOnly)
	c.Bool(24, &p.ReqResv)
	c.Bool(25, &p.DisableRoot)
	c.Bool(26, &p.LLN)
	c.String(27, &p.PreemptMode)
	wire.Uint(c, 28, &p.GraceTime)
	wire.Uint(c, 29, &p.Fence)
	c.String(30, &p.Alternate)
	wire.Slice(c, 31, &p.Billing)
	c.String(32, &p.Topology)
}

// Code implements wire.Message.
func (t *Topology) Code(c *wire.Coder) {
	c.String(1, &t.Name)
	c.Bool(2, &t.Block)
	wire.Slice(c, 3, &t.Leaves)
}

// Code implements wire.Message.
func (l *Leaf) Code(c *wire.Coder) {
	c.String(1, &l.Name)
	wire.Texts(c, 2, &l.Nodes)
	wire.Texts(c, 3, &l.Above)
}

// Code implements wire.Message.
func (r *Reservation) Code(c *wire.Coder) {
	c.String(1, &r.Name)
	wire.Int(c, 2, &r.Start)
	wire.Int(c, 3, &r.End)
	wire.Ints(c, 4, &r.Nodes)
	c.String(5, &r.NodeList)
	wire.Texts(c, 6, &r.Users)
	wire.Texts(c, 7, &r.Accounts)
	c.String(8, &r.Partition)
	wire.Texts(c, 9, &r.Flags)
	c.String(10, &r.Features)
	wire.Uint(c, 11, &r.CoreCount)
	wire.Slice(c, 12, &r.Licenses)
	c.String(13, &r.CreatedBy)
	c.String(14, &r.Comment)
	wire.Int(c, 15, &r.Since)
	wire.Int(c, 16, &r.Every)
}

// Code implements wire.Message.
func (l *License) Code(c *wire.Coder) {
	c.String(1, &l.Name)
	wire.Uint(c, 2, &l.Total)
}
