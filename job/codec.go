package job

import (
	"muster/gres"
	"muster/internal/wire"
)

// Code implements wire.Message.
func (o *Owner) Code(c *wire.Coder) {
	wire.Uint(c, 1, &o.UID)
	wire.Uint(c, 2, &o.GID)
	c.String(3, &o.User)
	c.String(4, &o.Group)
	wire.Ints(c, 5, &o.Groups)
	wire.Texts(c, 6, &o.GroupNames)
}

// Code implements wire.Message.
func (r *Request) Code(c *wire.Coder) {
	c.String(1, &r.Name)
	c.String(2, &r.Account)
	wire.Texts(c, 3, &r.Partitions)
	c.String(4, &r.QOS)
	c.String(5, &r.WCKey)
	c.String(6, &r.Comment)
	c.String(7, &r.AdminComment)
	c.String(8, &r.Extra)
	c.String(9, &r.Reservation)
	c.String(10, &r.Licenses)
	c.String(11, &r.Cluster)
	c.String(12, &r.SubmitLine)
	wire.Struct(c, 13, &r.Size)
	wire.Struct(c, 14, &r.Memory)
	wire.Struct(c, 15, &r.Gres)
	wire.Struct(c, 16, &r.Place)
	wire.Struct(c, 17, &r.Timing)
	wire.Struct(c, 18, &r.Batch)
	wire.Struct(c, 19, &r.Signal)
	wire.Struct(c, 20, &r.Mail)
	wire.Int(c, 21, &r.Nice)
	wire.Uint(c, 22, &r.SitePriority)
	c.Bool(23, &r.Requeue)
	wire.Uint(c, 24, &r.KillOnDep)
	c.Bool(25, &r.NoKill)
	c.Bool(26, &r.Interactive)
	wire.Slice(c, 27, &r.Options)
	wire.Struct(c, 28, &r.Cron)
}

// Code implements wire.Message.
func (s *Size) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.MinNodes)
	wire.Uint(c, 2, &s.MaxNodes)
	wire.Ints(c, 3, &s.NodeCounts)
	wire.Uint(c, 4, &s.Tasks)
	wire.Uint(c, 5, &s.CPUsPerTask)
	wire.Uint(c, 6, &s.TasksPerNode)
	wire.Uint(c, 7, &s.TasksPerCore)
	wire.Uint(c, 8, &s.TasksPerSocket)
	wire.Uint(c, 9, &s.TasksPerGPU)
	wire.Uint(c, 10, &s.MinCPUsPerNode)
	wire.Uint(c, 11, &s.SocketsPerNode)
	wire.Uint(c, 12, &s.CoresPerSocket)
	wire.Uint(c, 13, &s.ThreadsPerCore)
	wire.Uint(c, 14, &s.CoreSpec)
	wire.Uint(c, 15, &s.ThreadSpec)
	c.Bool(16, &s.Overcommit)
	wire.Uint(c, 17, &s.MinCPUs)
	wire.Uint(c, 18, &s.LikelyNodes)
}

// Code implements wire.Message.
func (m *Memory) Code(c *wire.Coder) {
	wire.Uint(c, 1, &m.Per)
	c.Uint64(2, &m.MB)
}

// Code implements wire.Message.
func (g *GresRequest) Code(c *wire.Coder) {
	wire.Slice(c, 1, (*[]gres.Item)(&g.PerNode))
	wire.Slice(c, 2, (*[]gres.Item)(&g.PerJob))
	wire.Slice(c, 3, (*[]gres.Item)(&g.PerSocket))
	wire.Slice(c, 4, (*[]gres.Item)(&g.PerTask))
	wire.Uint(c, 5, &g.CPUsPerGPU)
	c.String(6, &g.Bind)
	c.String(7, &g.Freq)
	c.String(8, &g.Flags)
}

// Code implements wire.Message.
func (p *Placement) Code(c *wire.Coder) {
	c.String(1, &p.Constraint)
	c.String(2, &p.Prefer)
	wire.Texts(c, 3, &p.Nodes)
	wire.Texts(c, 4, &p.Exclude)
	wire.Uint(c, 5, &p.Sharing)
	c.Bool(6, &p.Contiguous)
	c.Bool(7, &p.Spread)
	c.Bool(8, &p.MinimalN)
	wire.Uint(c, 9, &p.Switches)
	wire.Uint(c, 10, &p.SwitchWait)
	wire.Uint(c, 11, &p.Segment)
	c.Uint64(12, &p.TmpDiskMB)
	c.String(13, &p.Dist)
	c.String(14, &p.Hint)
}

// Code implements wire.Message.
func (t *Timing) Code(c *wire.Coder) {
	wire.Uint(c, 1, &t.Limit)
	wire.Uint(c, 2, &t.MinLimit)
	wire.Int(c, 3, &t.Begin)
	wire.Int(c, 4, &t.Deadline)
	c.Bool(5, &t.DelayEnd)
}

// Code implements wire.Message.
func (b *Batch) Code(c *wire.Coder) {
	c.Fixed(1, b.Script[:])
	c.Fixed(2, b.Environment[:])
	wire.Texts(c, 3, &b.Args)
	c.String(4, &b.WorkDir)
	c.String(5, &b.Stdin)
	c.String(6, &b.Stdout)
	c.String(7, &b.Stderr)
	wire.Uint(c, 8, &b.Append)
	c.String(9, &b.Command)
	c.String(10, &b.SubmitDir)
	c.String(11, &b.SubmitHost)
	wire.Uint(c, 12, &b.Umask)
	wire.Slice(c, 13, &b.Limits)
	c.String(14, &b.Export)
	c.Bool(15, &b.GetUserEnv)
	c.Bool(16, &b.WaitAll)
}

// Code implements wire.Message.
func (l *Limit) Code(c *wire.Coder) {
	c.String(1, &l.Name)
	c.Uint64(2, &l.Value)
}

// Code implements wire.Message.
func (s *Signal) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Number)
	wire.Uint(c, 2, &s.Before)
	c.Bool(3, &s.Shell)
	c.Bool(4, &s.Resv)
}

// Code implements wire.Message.
func (r *Cron) Code(c *wire.Coder) {
	c.String(1, &r.Spec)
	wire.Uint(c, 2, &r.First)
	wire.Uint(c, 3, &r.Last)
}

// Code implements wire.Message.
func (m *Mail) Code(c *wire.Coder) {
	wire.Uint(c, 1, &m.Types)
	c.String(2, &m.User)
}

// Code implements wire.Message.
func (o *Option) Code(c *wire.Coder) {
	c.String(1, &o.Name)
	c.String(2, &o.Value)
}

// Code implements wire.Message.
func (d *Dependency) Code(c *wire.Coder) {
	wire.Uint(c, 1, &d.Kind)
	wire.Uint(c, 2, &d.On)
	wire.Uint(c, 3, &d.Task)
	wire.Uint(c, 4, &d.Delay)
	wire.Uint(c, 5, &d.State)
	wire.Int(c, 6, &d.Due)
}

// Code implements wire.Message.
func (j *Job) Code(c *wire.Coder) {
	wire.Uint(c, 1, &j.ID)
	wire.Struct(c, 2, &j.Array)
	wire.Struct(c, 3, &j.Het)
	wire.Pointer(c, 4, &j.Owner)
	wire.Pointer(c, 5, &j.Request)
	wire.Uint(c, 6, &j.State)
	wire.Uint(c, 7, &j.Flags)
	wire.Uint(c, 8, &j.Attempt)
	wire.Uint(c, 9, &j.Priority)
	wire.Uint(c, 10, &j.Held)
	wire.Uint(c, 11, &j.Reason)
	c.String(12, &j.Detail)
	wire.Slice(c, 13, &j.Deps)
	c.Bool(14, &j.AnyDep)
	wire.Struct(c, 15, &j.Times)
	wire.Pointer(c, 16, &j.Alloc)
	wire.Struct(c, 17, &j.End)
	wire.Pointer(c, 18, &j.Cancel)
	wire.Slice(c, 19, &j.Steps)
	wire.Uint(c, 20, &j.StepSeq)
	c.String(21, &j.Account)
	c.String(22, &j.QOS)
	c.Uint64(23, &j.SLUID)
	wire.Uint(c, 24, &j.LaunchFails)
	c.Bool(25, &j.FixedPriority)
	wire.Slice(c, 26, &j.Delays)
}

// Code implements wire.Message.
func (d *Delay) Code(c *wire.Coder) {
	wire.Int(c, 1, &d.At)
	wire.Int(c, 2, &d.From)
	wire.Int(c, 3, &d.To)
	c.String(4, &d.Cause)
}

// Code implements wire.Message.
func (a *Array) Code(c *wire.Coder) {
	wire.Uint(c, 1, &a.JobID)
	wire.Uint(c, 2, &a.Task)
	wire.Pointer(c, 3, &a.Waiting)
	c.String(4, &a.Range)
	wire.Uint(c, 5, &a.Limit)
	wire.Pointer(c, 6, &a.Bounds)
}

// Code implements wire.Message.
func (a *ArrayBounds) Code(c *wire.Coder) {
	wire.Uint(c, 1, &a.Count)
	wire.Uint(c, 2, &a.Min)
	wire.Uint(c, 3, &a.Max)
	wire.Uint(c, 4, &a.Step)
}

// Code implements wire.Message.
func (h *Het) Code(c *wire.Coder) {
	wire.Uint(c, 1, &h.Leader)
	wire.Uint(c, 2, &h.Offset)
	wire.Ints(c, 3, &h.IDs)
}

// Code implements wire.Message.
func (t *Times) Code(c *wire.Coder) {
	wire.Int(c, 1, &t.Submit)
	wire.Int(c, 2, &t.Eligible)
	wire.Int(c, 3, &t.Start)
	wire.Int(c, 4, &t.End)
	wire.Int(c, 5, &t.LimitEnd)
	wire.Int(c, 6, &t.Suspend)
	wire.Int(c, 7, &t.PreSusp)
	wire.Int(c, 8, &t.Planned)
	wire.Int(c, 9, &t.Accrue)
	wire.Int(c, 10, &t.Requeued)
	wire.Uint(c, 11, &t.Limit)
}

// Code implements wire.Message.
func (r *Result) Code(c *wire.Coder) {
	wire.Uint(c, 1, &r.ExitCode)
	wire.Uint(c, 2, &r.Signal)
	wire.Uint(c, 3, &r.Derived)
	wire.Uint(c, 4, &r.DerivedSig)
	wire.Uint(c, 5, &r.By)
	c.Bool(6, &r.ByUser)
	c.String(7, &r.FailedNode)
	wire.Struct(c, 8, &r.Usage)
}

// Code implements wire.Message.
func (u *Usage) Code(c *wire.Coder) {
	c.Uint64(1, &u.UserUS)
	c.Uint64(2, &u.SystemUS)
	c.Uint64(3, &u.MaxRSSKB)
	c.Uint64(4, &u.MaxVMKB)
	c.Uint64(5, &u.MaxPages)
	c.Uint64(6, &u.ReadKB)
	c.Uint64(7, &u.WrittenKB)
}

// Code implements wire.Message.
func (v *Cancel) Code(c *wire.Coder) {
	wire.Uint(c, 1, &v.By)
	wire.Int(c, 2, &v.At)
	wire.Uint(c, 3, &v.To)
	wire.Uint(c, 4, &v.Flags)
	wire.Uint(c, 5, &v.Reason)
	wire.Uint(c, 6, &v.Grace)
}

// Code implements wire.Message.
func (a *Allocation) Code(c *wire.Coder) {
	c.String(1, &a.Partition)
	c.String(2, &a.Reservation)
	wire.Slice(c, 3, &a.Nodes)
	wire.Uint(c, 4, &a.CPUs)
	c.Uint64(5, &a.MemoryMB)
	c.Uint64(6, &a.Billing)
	wire.Slice(c, 7, &a.Licenses)
	wire.Uint(c, 8, &a.BatchNode)
	c.Uint64(9, &a.BillingRest)
}

// Code implements wire.Message.
func (l *License) Code(c *wire.Coder) {
	c.String(1, &l.Name)
	wire.Uint(c, 2, &l.Count)
}

// Code implements wire.Message.
func (s *Share) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Node)
	c.String(2, &s.Name)
	wire.Uint(c, 3, &s.CPUs)
	wire.Pointer(c, 4, &s.Cores)
	c.Uint64(5, &s.MemoryMB)
	wire.Uint(c, 6, &s.Tasks)
	wire.Slice(c, 7, &s.Devices)
	c.Bool(8, &s.Whole)
	c.Bool(9, &s.Released)
}

// Code implements wire.Message.
func (d *DeviceShare) Code(c *wire.Coder) {
	c.String(1, &d.Name)
	c.String(2, &d.Type)
	c.Uint64(3, &d.Count)
	wire.Pointer(c, 4, &d.Index)
}

// Code implements wire.Message.
func (s *Step) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.ID)
	c.String(2, &s.Name)
	wire.Uint(c, 3, &s.State)
	wire.Int(c, 4, &s.Start)
	wire.Int(c, 5, &s.End)
	wire.Ints(c, 6, &s.Nodes)
	wire.Uint(c, 7, &s.Tasks)
	wire.Uint(c, 8, &s.CPUs)
	c.Uint64(9, &s.MemoryMB)
	wire.Slice(c, 10, &s.Devices)
	wire.Uint(c, 11, &s.ExitCode)
	wire.Uint(c, 12, &s.Signal)
	wire.Struct(c, 13, &s.Usage)
	wire.Slice(c, 14, &s.Parts)
	c.Bool(15, &s.Overlap)
}
