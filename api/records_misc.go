package api

import (
	"muster/internal/wire"
	"muster/job"
)

// PingReply says which controllers there are, as the answering one sees them.
type PingReply struct {
	Cluster     string
	Controllers []ControllerRecord
}

// Code implements wire.Message.
func (p *PingReply) Code(w *wire.Coder) {
	w.String(1, &p.Cluster)
	wire.Slice(w, 2, &p.Controllers)
}

// ControllerRecord is one controller.
type ControllerRecord struct {
	Name, Address string
	Leader, Up    bool
	Votes         bool
	Index         uint64 // that its state stood at when it was last heard of
}

// Code implements wire.Message.
func (c *ControllerRecord) Code(w *wire.Coder) {
	w.String(1, &c.Name)
	w.String(2, &c.Address)
	w.Bool(3, &c.Leader)
	w.Bool(4, &c.Up)
	w.Bool(5, &c.Votes)
	w.Uint64(6, &c.Index)
}

// ConfigReply is the configuration in force as pairs of Slurm's names and
// values, in Slurm's order (scontrol show config).
type ConfigReply struct {
	Now     job.Time
	Cluster string
	Pairs   []ConfigPair
	Source  string // the text of the cluster file
}

// Code implements wire.Message.
func (c *ConfigReply) Code(w *wire.Coder) {
	wire.Int(w, 1, &c.Now)
	w.String(2, &c.Cluster)
	wire.Slice(w, 3, &c.Pairs)
	w.String(4, &c.Source)
}

// ConfigPair is one setting.
type ConfigPair struct{ Key, Value string }

// Code implements wire.Message.
func (p *ConfigPair) Code(w *wire.Coder) {
	w.String(1, &p.Key)
	w.String(2, &p.Value)
}

// ScriptRequest asks for what a job's submit carried; only its owner and root
// get it.
type ScriptRequest struct {
	Job         JobRef
	Environment bool // the environment instead of the script
}

// Code implements wire.Message.
func (r *ScriptRequest) Code(w *wire.Coder) {
	wire.Struct(w, 1, &r.Job)
	w.Bool(2, &r.Environment)
}

// ScriptReply is the script, or the environment as NUL separated NAME=value.
type ScriptReply struct {
	ID   job.ID
	Data []byte
}

// Code implements wire.Message.
func (r *ScriptReply) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.ID)
	w.Bytes(2, &r.Data)
}

// NameQuery asks for reservations or licences; no names are all.
type NameQuery struct{ Names []string }

// Code implements wire.Message.
func (q *NameQuery) Code(w *wire.Coder) { wire.Texts(w, 1, &q.Names) }

// ReservationList is the answer to a query for reservations.
type ReservationList struct {
	Now          job.Time
	Cluster      string
	Reservations []ReservationRecord
}

// Code implements wire.Message.
func (l *ReservationList) Code(w *wire.Coder) {
	wire.Int(w, 1, &l.Now)
	w.String(2, &l.Cluster)
	wire.Slice(w, 3, &l.Reservations)
}

// ReservationRecord is one reservation.
type ReservationRecord struct {
	Name       string
	Start, End job.Time
	Nodes      string
	NodeCount  uint32
	Cores      uint32
	CPUs       uint32
	Users      []string
	Accounts   []string
	Partition  string
	Flags      []string
	Features   string
	Licenses   []job.License
	Comment    string
}

// Code implements wire.Message.
func (r *ReservationRecord) Code(w *wire.Coder) {
	w.String(1, &r.Name)
	wire.Int(w, 2, &r.Start)
	wire.Int(w, 3, &r.End)
	w.String(4, &r.Nodes)
	wire.Uint(w, 5, &r.NodeCount)
	wire.Uint(w, 6, &r.Cores)
	wire.Uint(w, 7, &r.CPUs)
	wire.Texts(w, 8, &r.Users)
	wire.Texts(w, 9, &r.Accounts)
	w.String(10, &r.Partition)
	wire.Texts(w, 11, &r.Flags)
	w.String(12, &r.Features)
	wire.Slice(w, 13, &r.Licenses)
	w.String(14, &r.Comment)
}

// LicenseList is the answer to a query for licences.
type LicenseList struct {
	Cluster  string
	Licenses []LicenseRecord
}

// Code implements wire.Message.
func (l *LicenseList) Code(w *wire.Coder) {
	w.String(1, &l.Cluster)
	wire.Slice(w, 2, &l.Licenses)
}

// LicenseRecord is one kind of licence with what is in use.
type LicenseRecord struct {
	Name        string
	Total, Used uint32
}

// Code implements wire.Message.
func (l *LicenseRecord) Code(w *wire.Coder) {
	w.String(1, &l.Name)
	wire.Uint(w, 2, &l.Total)
	wire.Uint(w, 3, &l.Used)
}

// StatsReply holds the counters of the controller that answers; times in
// microseconds.
type StatsReply struct {
	Now, Started job.Time
	Jobs         StatsJobs
	Cycles       StatsCycles
	Backfilled   uint64
	Calls        []StatsCall
	Threads      int
	Users        []StatsUser
}

// Code implements wire.Message.
func (s *StatsReply) Code(w *wire.Coder) {
	wire.Int(w, 1, &s.Now)
	wire.Int(w, 2, &s.Started)
	wire.Struct(w, 3, &s.Jobs)
	wire.Struct(w, 4, &s.Cycles)
	w.Uint64(5, &s.Backfilled)
	wire.Slice(w, 6, &s.Calls)
	wire.Int(w, 7, &s.Threads)
	wire.Slice(w, 8, &s.Users)
}

// StatsJobs counts jobs: since the controller's start, and now.
type StatsJobs struct {
	Submitted, Started, Completed, Cancelled, Failed uint64
	Pending, Running                                 uint64
}

// Code implements wire.Message.
func (s *StatsJobs) Code(w *wire.Coder) {
	w.Uint64(1, &s.Submitted)
	w.Uint64(2, &s.Started)
	w.Uint64(3, &s.Completed)
	w.Uint64(4, &s.Cancelled)
	w.Uint64(5, &s.Failed)
	w.Uint64(6, &s.Pending)
	w.Uint64(7, &s.Running)
}

// StatsCycles counts scheduling cycles.
type StatsCycles struct {
	Count, Last, Max, Sum         uint64
	QueueLen, LastDepth, DepthSum uint64
}

// Code implements wire.Message.
func (s *StatsCycles) Code(w *wire.Coder) {
	w.Uint64(1, &s.Count)
	w.Uint64(2, &s.Last)
	w.Uint64(3, &s.Max)
	w.Uint64(4, &s.Sum)
	w.Uint64(5, &s.QueueLen)
	w.Uint64(6, &s.LastDepth)
	w.Uint64(7, &s.DepthSum)
}

// StatsCall counts the calls of one method.
type StatsCall struct {
	Method     string
	Count, Sum uint64
}

// Code implements wire.Message.
func (s *StatsCall) Code(w *wire.Coder) {
	w.String(1, &s.Method)
	w.Uint64(2, &s.Count)
	w.Uint64(3, &s.Sum)
}

// StatsUser counts the calls of one user.
type StatsUser struct {
	UID        uint32
	User       string
	Count, Sum uint64 // Sum in microseconds
}

// Code implements wire.Message.
func (s *StatsUser) Code(w *wire.Coder) {
	wire.Uint(w, 1, &s.UID)
	w.String(2, &s.User)
	w.Uint64(3, &s.Count)
	w.Uint64(4, &s.Sum)
}

// SlurmVersion is the version of Slurm whose commands this build speaks like.
const SlurmVersion = "26.05.3"
