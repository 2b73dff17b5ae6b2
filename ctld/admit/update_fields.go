package admit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/internal/hostlist"
	"muster/job"
	"muster/state"
)

// field is one field of scontrol update JobId=.
type field struct {
	name    string
	running bool // may be changed while the job runs, too
	root    bool // by operators alone
	adds    bool // takes += and -=
	placing bool // changes where the job may run
	set     func(u *jobUpdate, p api.Pair) error
}

// jobField finds a field by its full name; nil if it can't be changed here.
func jobField(name string) *field {
	for i := range jobFields {
		if jobFields[i].name == name {
			return &jobFields[i]
		}
	}
	return nil
}

// jobFields are the fields of a job that can be changed (scontrol(1), update).
var jobFields = []field{
	{name: "AdminComment", running: true, root: true, set: text(func(q *job.Request) *string { return &q.AdminComment })},
	{name: "Comment", running: true, set: text(func(q *job.Request) *string { return &q.Comment })},
	{name: "Extra", running: true, set: text(func(q *job.Request) *string { return &q.Extra })},
	{name: "JobName", running: true, set: text(func(q *job.Request) *string { return &q.Name })},
	{name: "WCKey", running: true, set: text(func(q *job.Request) *string { return &q.WCKey })},
	{name: "MailUser", running: true, set: setMailUser},
	{name: "MailType", running: true, set: setMailType},
	{name: "Requeue", running: true, set: setRequeue},
	{name: "TimeLimit", running: true, adds: true, placing: true, set: setTimeLimit},
	{name: "EndTime", running: true, set: setEndTime},
	{name: "TimeMin", placing: true, set: setTimeMin},
	{name: "ArrayTaskThrottle", running: true, set: setThrottle},
	{name: "Priority", running: true, set: setPriority},
	{name: "Nice", running: true, set: setNice},
	{name: "Account", set: setAccount},
	{name: "QOS", set: setQOS},
	{name: "Dependency", set: setDependency},
	{name: "StartTime", set: setStartTime},
	{name: "Deadline", set: setDeadline},
	{name: "Partition", placing: true, set: setPartition},
	{name: "ReservationName", placing: true, set: text(func(q *job.Request) *string { return &q.Reservation })},
	{name: "Licenses", placing: true, set: text(func(q *job.Request) *string { return &q.Licenses })},
	{name: "Features", placing: true, set: text(func(q *job.Request) *string { return &q.Place.Constraint })},
	{name: "Prefer", placing: true, set: text(func(q *job.Request) *string { return &q.Place.Prefer })},
	{name: "ReqNodeList", placing: true, set: nodeList(func(q *job.Request) *[]string { return &q.Place.Nodes })},
	{name: "ExcNodeList", placing: true, set: nodeList(func(q *job.Request) *[]string { return &q.Place.Exclude })},
	{name: "StdErr", set: text(func(q *job.Request) *string { return &q.Batch.Stderr })},
	{name: "StdIn", set: text(func(q *job.Request) *string { return &q.Batch.Stdin })},
	{name: "StdOut", set: text(func(q *job.Request) *string { return &q.Batch.Stdout })},
	{name: "WorkDir", set: text(func(q *job.Request) *string { return &q.Batch.WorkDir })},
	{name: "NumNodes", placing: true, set: setNumNodes},
	{name: "NumTasks", placing: true, set: u32(func(q *job.Request) *uint32 { return &q.Size.Tasks })},
	{name: "NumCPUs", placing: true, set: setNumCPUs},
	{name: "CPUsPerTask", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.CPUsPerTask })},
	{name: "TasksPerNode", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.TasksPerNode })},
	{name: "MinCPUsNode", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.MinCPUsPerNode })},
	{name: "ReqSockets", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.SocketsPerNode })},
	{name: "ReqCores", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.CoresPerSocket })},
	{name: "ReqThreads", placing: true, set: u16(func(q *job.Request) *uint16 { return &q.Size.ThreadsPerCore })},
	{name: "MinMemoryNode", placing: true, set: memory(job.MemoryPerNode)},
	{name: "MinMemoryCPU", placing: true, set: memory(job.MemoryPerCPU)},
	{name: "MinTmpDiskNode", placing: true, set: setTmpDisk},
	{name: "TresPerNode", placing: true, set: devices(func(q *job.Request) *gres.Spec { return &q.Gres.PerNode })},
	{name: "TresPerJob", placing: true, set: devices(func(q *job.Request) *gres.Spec { return &q.Gres.PerJob })},
	{name: "TresPerSocket", placing: true, set: devices(func(q *job.Request) *gres.Spec { return &q.Gres.PerSocket })},
	{name: "TresPerTask", placing: true, set: devices(func(q *job.Request) *gres.Spec { return &q.Gres.PerTask })},
	{name: "OverSubscribe", placing: true, root: true, set: setSharing},
	{name: "Contiguous", placing: true, root: true, set: setContiguous},
	{name: "Switches", placing: true, set: setSwitches},
	{name: "wait-for-switch", placing: true, set: setSwitchWait},
	{name: "DelayBoot", running: true, set: func(*jobUpdate, api.Pair) error { return nil }},
	{name: "SiteFactor", root: true, set: setSiteFactor},
	{name: "CoreSpec", running: true, set: refused},
	{name: "ThreadSpec", running: true, set: refused},
	{name: "BurstBuffer", running: true, set: unsupported},
}

// badValue is Slurm's answer to a value that a field does not take.
func badValue(p api.Pair) error { return invalid("Invalid " + p.Name + " value: " + p.Value) }

func text(get func(*job.Request) *string) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		if len(p.Value) > maxRecordBytes/8 {
			return badValue(api.Pair{Name: p.Name, Value: "too long"})
		}
		*get(&u.request) = p.Value
		u.changed = true
		return nil
	}
}

// number reads a count from 1 to max.
func number(p api.Pair, max uint64) (uint64, error) {
	n, err := strconv.ParseUint(p.Value, 10, 64)
	if err != nil || n < 1 || n > max {
		return 0, badValue(p)
	}
	return n, nil
}

func u32(get func(*job.Request) *uint32) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		n, err := number(p, maxCount-1)
		if err != nil {
			return err
		}
		*get(&u.request), u.changed = uint32(n), true
		return nil
	}
}

func u16(get func(*job.Request) *uint16) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		n, err := number(p, math.MaxUint16-2)
		if err != nil {
			return err
		}
		*get(&u.request), u.changed = uint16(n), true
		return nil
	}
}

func memory(per job.MemoryUnit) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		mb, err := slurm.ParseMegabytes(p.Value)
		if err != nil {
			return badValue(p)
		}
		u.request.Memory, u.changed = job.Memory{Per: per, MB: mb}, true
		return nil
	}
}

func devices(get func(*job.Request) *gres.Spec) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		spec, err := gres.ParseSpec(strings.ReplaceAll(p.Value, "=", ":"))
		if err != nil {
			return invalid(gres.ErrorText)
		}
		*get(&u.request), u.changed = spec, true
		return nil
	}
}

func nodeList(get func(*job.Request) *[]string) func(*jobUpdate, api.Pair) error {
	return func(u *jobUpdate, p api.Pair) error {
		var names []string
		if p.Value != "" {
			var err error
			if names, err = hostlist.Expand(p.Value); err != nil {
				return hinted(slurm.TextNodeName, err)
			}
		}
		*get(&u.request), u.changed = names, true
		return nil
	}
}

func setMailUser(u *jobUpdate, p api.Pair) error {
	if !slurm.ValidMailUser(p.Value) {
		return badValue(p)
	}
	u.request.Mail.User, u.changed = p.Value, true
	return nil
}

func setMailType(u *jobUpdate, p api.Pair) error {
	types, err := slurm.ParseMailTypes(p.Value)
	if err != nil {
		return badValue(p)
	}
	u.request.Mail.Types, u.changed = types, true
	return nil
}

func setRequeue(u *jobUpdate, p api.Pair) error {
	switch p.Value {
	case "0":
		u.request.Requeue = false
	case "1":
		u.request.Requeue = true
	default:
		return badValue(p)
	}
	u.changed = true
	return nil
}

// setTimeLimit takes a limit, or one to add or take away. Only operators
// give a running job more time.
func setTimeLimit(u *jobUpdate, p api.Pair) error {
	m, err := slurm.ParseTimeLimit(p.Value)
	if err != nil {
		return badValue(p)
	}
	old := u.limit()
	if p.Op != "" {
		switch {
		case old == 0 || old == job.Unlimited || m == job.Unlimited:
			return ownError{text: "Cannot increment/decrement TimeLimit when set to UNLIMITED."}
		case p.Op == "-" && m >= old:
			return ownError{text: fmt.Sprintf("TimeLimit decrement larger than current time limit (%d > %d)", m, old)}
		case p.Op == "-":
			m = old - m
		case old+m < old || old+m >= job.Unlimited:
			return badValue(p)
		default:
			m += old
		}
	}
	return u.newLimit(m, old)
}

// limit is the time limit that the job has: its own, or its partition's.
func (u *jobUpdate) limit() job.Minutes {
	if u.job.State != job.Pending {
		return u.job.Times.Limit
	}
	if u.request.Timing.Limit != 0 || len(u.request.Partitions) == 0 {
		return u.request.Timing.Limit
	}
	p := u.root.Partition(u.request.Partitions[0])
	if p == nil {
		return 0
	}
	return cmp.Or(p.DefaultTime, p.MaxTime)
}

func (u *jobUpdate) newLimit(m, old job.Minutes) error {
	if u.job.State == job.Pending {
		u.request.Timing.Limit, u.changed = m, true
		return nil
	}
	if m > old && !u.byOperator() {
		return denied(slurm.TextDenied)
	}
	u.cmd.Limit = &m
	return nil
}

// setEndTime moves the end of a running job: its limit becomes what lies between
// its start and that time, rounded up.
func setEndTime(u *jobUpdate, p api.Pair) error {
	t, err := moment(p)
	if err != nil {
		return err
	}
	start := u.job.Times.Start
	if !u.job.State.Active() {
		return &api.Error{Kind: api.ErrState, Text: slurm.TextNotRunning}
	}
	if t <= start {
		return badValue(p)
	}
	minutes := (int64(t-start) + 59_999) / 60_000
	if minutes >= int64(job.Unlimited) {
		return badValue(p)
	}
	return u.newLimit(job.Minutes(minutes), u.job.Times.Limit)
}

func setTimeMin(u *jobUpdate, p api.Pair) error {
	m, err := slurm.ParseTimeLimit(p.Value)
	if err != nil {
		return badValue(p)
	}
	u.request.Timing.MinLimit, u.changed = m, true
	return nil
}

func setThrottle(u *jobUpdate, p api.Pair) error {
	n, err := strconv.ParseUint(p.Value, 10, 31)
	if err != nil {
		return badValue(p)
	}
	if u.job.Array.JobID == 0 {
		return ownError{"Update of ArrayTaskThrottle is only allowed on ArrayJobId", slurm.TextNotSupported}
	}
	limit := uint32(n)
	u.cmd.Throttle = &limit
	return nil
}

// setPriority: users may lower the priority, operators may set any. 0 holds the job.
func setPriority(u *jobUpdate, p api.Pair) error {
	n, err := strconv.ParseUint(p.Value, 10, 32)
	if err != nil || n >= math.MaxUint32-1 {
		return badValue(p)
	}
	if n == 0 {
		held := job.HeldByUser
		if u.byOperator() {
			held = job.HeldByAdmin
		}
		u.cmd.Held = &held
		return nil
	}
	switch {
	case u.job.State != job.Pending:
		return &api.Error{Kind: api.ErrState, Text: slurm.TextPriority}
	case u.job.Held.Is():
		return &api.Error{Kind: api.ErrState, Text: slurm.TextHeld}
	case !u.byOperator() && uint32(n) >= u.job.Priority:
		return denied(slurm.TextDenied)
	}
	priority := uint32(n)
	u.cmd.Priority = &priority
	return nil
}

func setNice(u *jobUpdate, p api.Pair) error {
	n, err := strconv.ParseInt(p.Value, 10, 32)
	switch {
	case p.Value == "":
		n = 100
	case err != nil || n > math.MaxInt32-3 || n < 3-math.MaxInt32:
		return badValue(p)
	case n < 0 && !u.byOperator():
		return denied(slurm.TextDenied)
	}
	u.request.Nice, u.changed = int32(n), true
	return nil
}

func setAccount(u *jobUpdate, p api.Pair) error {
	if p.Value == "" {
		return invalid(slurm.TextAccount)
	}
	u.cmd.Account = &p.Value
	u.request.Account, u.changed = p.Value, true
	return nil
}

func setQOS(u *jobUpdate, p api.Pair) error {
	u.cmd.QOS = &p.Value
	u.request.QOS, u.changed = p.Value, true
	return nil
}

// textCircular is Slurm's answer to jobs that would wait for each other.
const textCircular = "Circular job dependency"

// setDependency replaces all conditions; an empty value removes them.
func setDependency(u *jobUpdate, p api.Pair) error {
	list, anyOf, err := u.dependencies(u.ctx, p.Value)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(d job.Dependency) bool { return d.On == u.job.ID }) {
		return invalid(slurm.ErrDependency.Error())
	}
	if u.dependsOnItself(list) {
		return invalid(textCircular)
	}
	u.cmd.Deps = &state.Dependencies{List: list, Any: anyOf}
	return nil
}

// maxChain bounds how many jobs are followed to find a circle.
const maxChain = 10000

// dependsOnItself tells whether the conditions lead back to the job.
func (u *jobUpdate) dependsOnItself(list []job.Dependency) bool {
	seen := make(map[job.ID]bool)
	todo := slices.Clone(list)
	for len(todo) > 0 && len(seen) < maxChain {
		on := todo[len(todo)-1].On
		todo = todo[:len(todo)-1]
		if on == 0 || seen[on] {
			continue
		}
		seen[on] = true
		if on == u.job.ID || on == u.job.Array.JobID {
			return true
		}
		if j := u.root.Job(on); j != nil {
			todo = append(todo, j.Deps...)
		}
	}
	return false
}

// moment reads a time that the client has resolved: seconds since the epoch, 0
// for none.
func moment(p api.Pair) (job.Time, error) {
	n, err := strconv.ParseInt(p.Value, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, badValue(p)
	}
	return job.Time(n * 1000), nil
}

func setStartTime(u *jobUpdate, p api.Pair) error {
	t, err := moment(p)
	if t != 0 {
		t = max(t, u.now)
	}
	u.request.Timing.Begin, u.changed = t, true
	return err
}

func setDeadline(u *jobUpdate, p api.Pair) error {
	t, err := moment(p)
	if t != 0 && t <= u.now {
		return invalid(slurm.TextTime)
	}
	u.request.Timing.Deadline, u.changed = t, true
	return err
}

// setPartition moves a job. A limit that it got from its partition goes with it.
func setPartition(u *jobUpdate, p api.Pair) error {
	if u.request.Timing.Limit == 0 {
		u.request.Timing.Limit = u.limit()
	}
	u.request.Partitions, u.changed = strings.FieldsFunc(p.Value, func(r rune) bool { return r == ',' }), true
	return nil
}

func setNumNodes(u *jobUpdate, p api.Pair) error {
	c, err := slurm.ParseNodeCount(p.Value)
	if err != nil || c.Min == 0 && c.Max == 0 {
		return invalid(slurm.TextNodeCount)
	}
	s := &u.request.Size
	s.MinNodes, s.MaxNodes, s.NodeCounts, u.changed = c.Min, c.Max, c.Sizes, true
	return nil
}

func setNumCPUs(u *jobUpdate, p api.Pair) error {
	low, _, _ := strings.Cut(p.Value, "-")
	n, err := number(api.Pair{Name: p.Name, Value: low}, maxCount-1)
	if err != nil {
		return err
	}
	u.numCPUs, u.changed = uint32(n), true
	return nil
}

func setTmpDisk(u *jobUpdate, p api.Pair) error {
	mb, err := slurm.ParseMegabytes(p.Value)
	if err != nil {
		return badValue(p)
	}
	u.request.Place.TmpDiskMB, u.changed = mb, true
	return nil
}

func setSharing(u *jobUpdate, p api.Pair) error {
	switch strings.ToUpper(p.Value) {
	case "YES":
		u.request.Place.Sharing = job.Oversubscribe
	case "NO":
		u.request.Place.Sharing = job.Exclusive
	default:
		return badValue(p)
	}
	u.changed = true
	return nil
}

func setContiguous(u *jobUpdate, p api.Pair) error {
	switch strings.ToUpper(p.Value) {
	case "YES":
		u.request.Place.Contiguous = true
	case "NO":
		u.request.Place.Contiguous = false
	default:
		return badValue(p)
	}
	u.changed = true
	return nil
}

// setSwitches reads count[@time], the time as a limit: a bare number is minutes.
func setSwitches(u *jobUpdate, p api.Pair) error {
	count, wait, timed := strings.Cut(p.Value, "@")
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil {
		return badValue(p)
	}
	place := &u.request.Place
	place.Switches, u.changed = uint32(n), true
	if !timed {
		return nil
	}
	m, err := slurm.ParseTimeLimit(wait)
	if err != nil || m >= job.Unlimited {
		return badValue(p)
	}
	place.SwitchWait = uint32(m) * 60
	return nil
}

func setSwitchWait(u *jobUpdate, p api.Pair) error {
	n, err := strconv.ParseUint(p.Value, 10, 31)
	if err != nil {
		return badValue(p)
	}
	u.request.Place.SwitchWait, u.changed = uint32(n), true
	return nil
}

// refused is a field that nobody may change here, as in a Slurm without
// AllowSpecResourcesUsage.
func refused(*jobUpdate, api.Pair) error { return denied(slurm.TextDenied) }

// unsupported is a field for what this cluster does not have.
func unsupported(*jobUpdate, api.Pair) error { return invalid(slurm.TextNotSupported) }

// setSiteFactor takes what an admin adds to the job's priority.
func setSiteFactor(u *jobUpdate, p api.Pair) error {
	n, err := strconv.ParseUint(p.Value, 10, 31)
	if err != nil {
		return badValue(p)
	}
	u.request.SitePriority, u.changed = uint32(n), true
	return nil
}
