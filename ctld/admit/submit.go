package admit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// Bounds on a submit that do not depend on the cluster's configuration.
const (
	maxComponents  = 128       // of a heterogeneous job
	maxRecordBytes = 512 << 10 // all of a request but script and environment
)

// submission is one submit on its way through the checks.
type submission struct {
	core    service.Core
	r       *service.Request
	root    *state.Root
	cluster *partition.Cluster
	now     job.Time
	owner   job.Owner // whose job it is
	held    bool      // the job is submitted in a hold
	notes   []string  // lines for the user
}

// submit takes a job into the queue: job.submit.
func submit(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.SubmitRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	root := core.Root()
	s := &submission{core: core, r: r, root: root, cluster: root.Cluster(), now: core.Now()}
	if err := s.checkWhole(&req); err != nil {
		return err
	}
	script, env := blob(req.Script), blob(req.Environment)
	cmd := &state.Submit{Jobs: make([]state.NewJob, len(req.Jobs))}
	for i := range req.Jobs {
		j := &req.Jobs[i]
		j.Request.Batch.Script, j.Request.Batch.Environment = script.Hash, env.Hash
		if err := s.admit(ctx, j, &cmd.Jobs[i]); err != nil {
			return err
		}
	}
	reply := &api.SubmitReply{Messages: s.notes, Cluster: s.cluster.Name}
	if req.TestOnly {
		test, err := s.willRun(&cmd.Jobs[0])
		if err != nil {
			return err
		}
		reply.Test = test
		return send(r, reply)
	}
	result, err := propose(ctx, core, r, seal(core, r, cmd), script, env)
	if err != nil {
		return err
	}
	if err := resultError(result); err != nil {
		return err
	}
	reply.Jobs = result.Jobs
	return send(r, reply)
}

// blob names a large part by its hash. An empty part is no blob.
func blob(data []byte) state.Blob {
	if len(data) == 0 {
		return state.Blob{}
	}
	sum := sha256.Sum256(data)
	return state.Blob{Hash: job.Hash(sum[:16]), Data: data}
}

// checkWhole looks at the request as a whole, before its jobs.
func (s *submission) checkWhole(req *api.SubmitRequest) error {
	limits := &s.cluster.Limits
	switch {
	case len(req.Jobs) == 0:
		return invalid("The request names no job")
	case len(req.Jobs) > maxComponents:
		return invalid(fmt.Sprintf("A heterogeneous job has at most %d components", maxComponents))
	case limits.MaxJobs > 0 && s.root.JobCount()+len(req.Jobs) > int(limits.MaxJobs):
		return &api.Error{Kind: api.ErrState, Text: slurm.TextTooMany,
			Hint: fmt.Sprintf("the cluster keeps at most %d jobs in memory (limits.max_jobs): wait until some have ended, or use one array", limits.MaxJobs)}
	case len(req.Script) == 0 && s.r.Method != api.MethodAllocate:
		return invalid(slurm.TextScriptMissing)
	case limits.MaxScript > 0 && len(req.Script) > int(limits.MaxScript):
		return invalid(fmt.Sprintf("The script has %d bytes, the cluster's limit is %d", len(req.Script), limits.MaxScript))
	case limits.MaxEnv > 0 && len(req.Environment) > int(limits.MaxEnv):
		return &api.Error{Kind: api.ErrInvalid, Text: fmt.Sprintf("The environment has %d bytes, the cluster's limit is %d", len(req.Environment), limits.MaxEnv),
			Hint: "pass less of it on, for example with --export=NONE"}
	case len(s.r.Body)-len(req.Script)-len(req.Environment) > maxRecordBytes:
		return invalid(fmt.Sprintf("The options of the job have more than %d bytes", maxRecordBytes))
	}
	if s.r.Method == api.MethodAllocate {
		req.Script, req.Environment = nil, nil
	} else if err := slurm.CheckScript(req.Script); err != nil {
		return invalid(err.Error())
	}
	for i := range req.Jobs {
		if err := s.checkCluster(req.Jobs[i].Request.Cluster); err != nil {
			return err
		}
		if len(req.Jobs) > 1 && req.Jobs[i].Array != "" {
			return invalid(slurm.ErrArray.Error())
		}
	}
	return nil
}

// checkCluster: of the clusters that -M names, one must be this one. Others are
// passed over with a note, as Slurm does.
func (s *submission) checkCluster(list string) error {
	if list == "" {
		return nil
	}
	found := false
	var unknown []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if strings.EqualFold(name, "all") || strings.EqualFold(name, s.cluster.Name) {
			found = true
		} else {
			unknown = append(unknown, fmt.Sprintf("No cluster '%s' known by database.", name))
		}
	}
	if !found {
		return invalid(strings.Join(unknown, "\n") + "\n" + slurm.TextCluster(list))
	}
	for _, text := range unknown {
		s.notes = append(s.notes, "error: "+text)
	}
	return nil
}

// admit checks one component and makes the record of it.
func (s *submission) admit(ctx context.Context, j *api.SubmitJob, out *state.NewJob) error {
	q := &j.Request
	c := &s.r.Caller
	s.owner = job.Owner{UID: c.UID, GID: c.GID, User: c.User, Group: c.Group, Groups: slices.Sorted(slices.Values(c.Groups)), GroupNames: c.GroupNames}
	out.Owner = s.owner
	s.fillDefaults(j, out)
	s.held = out.Held.Is()
	if err := s.applyRules(q); err != nil {
		return err
	}
	if err := s.check(q); err != nil {
		return err
	}
	out.Account, out.QOS = q.Account, q.QOS
	if err := s.settleAccount(q, &out.Account, &out.QOS); err != nil {
		return err
	}
	if err := s.checkReservation(q, out.Account); err != nil {
		return err
	}
	if err := s.checkPartitions(q, out.Account, out.QOS); err != nil {
		return err
	}
	if err := s.checkTimeMin(q); err != nil {
		return err
	}
	if err := s.setArray(j, out); err != nil {
		return err
	}
	if err := s.setDependencies(ctx, j, out); err != nil {
		return err
	}
	out.Request = *q
	if err := s.checkPolicy(out); err != nil {
		return err
	}
	s.setPriority(out)
	return nil
}

// check makes the checks that need no partition.
func (s *submission) check(q *job.Request) error {
	for _, check := range []func(*job.Request) error{
		s.checkText, s.checkNumbers, s.checkDevices, s.checkLicenses, s.checkFeatures, s.checkNodes,
	} {
		if err := check(q); err != nil {
			return err
		}
	}
	return nil
}

// fillDefaults settles what the user left open and what a user may not say.
func (s *submission) fillDefaults(j *api.SubmitJob, out *state.NewJob) {
	q := &j.Request
	switch j.Requeue {
	case job.Yes:
		q.Requeue = true
	case job.No:
		q.Requeue = false
	default:
		q.Requeue = s.cluster.Policy.Requeue
	}
	if j.Hold {
		out.Held = job.HeldByUser
	}
	if j.HasPriority {
		switch {
		case s.byOperator() && j.Priority == 0:
			out.Held = job.HeldByUser
		case s.byOperator():
			out.Priority = j.Priority
		default:
			s.notes = append(s.notes, "warning: --priority is for operators only, the job gets the priority that is worked out for it")
		}
	}
	if len(q.Partitions) == 0 {
		for p := range s.root.Partitions() {
			if p.Default {
				q.Partitions = []string{p.Name}
			}
		}
	}
	for i, name := range q.Partitions {
		q.Partitions[i] = s.standIn(name)
	}
	if out.Held.Is() {
		q.Partitions = onceEach(q.Partitions)
	} else {
		s.sortPartitions(q)
	}
	if s.r.Caller.Host != "" {
		q.Batch.SubmitHost = s.r.Caller.Host
	}
	q.Batch.Umask &= 0o777
	q.AdminComment, q.SitePriority, q.Options = "", 0, nil
	q.Interactive = s.r.Method == api.MethodAllocate
	q.Batch.Limits = s.allowedLimits(q.Batch.Limits)
	q.Size.MinCPUs = MinCPUs(&q.Size)
	q.Timing.DelayEnd = false
}

// standIn is the partition that takes the jobs of one that takes none at present
// (slurm.conf(5), Alternate): the first that does along the alternates, else the one
// that was named.
func (s *submission) standIn(name string) string {
	seen := map[string]bool{}
	for at := name; !seen[at]; {
		seen[at] = true
		p := s.root.Partition(at)
		switch {
		case p == nil:
			return name
		case p.Accepts():
			return at
		case p.Alternate == "":
			return name
		}
		at = p.Alternate
	}
	return name
}

// onceEach drops repeated names and keeps the order: a held job shows its
// partitions as they were given, since Slurm has not looked at it yet.
func onceEach(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// sortPartitions puts the partitions of a higher tier first, as the job tries
// them, and drops repeated ones.
func (s *submission) sortPartitions(q *job.Request) {
	once := onceEach(q.Partitions)
	tier := func(name string) int {
		if p := s.root.Partition(name); p != nil {
			return int(p.PriorityTier)
		}
		return 0
	}
	slices.SortStableFunc(once, func(a, b string) int { return tier(b) - tier(a) })
	q.Partitions = once
}

// byRoot tells whether root asks.
func (s *submission) byRoot() bool { return s.r.Caller.UID == 0 }

// byOperator tells whether an operator asks.
func (s *submission) byOperator() bool { return s.r.Operates(s.root) }

// allowedLimits keeps the resource limits that Slurm knows and the cluster does
// not except from being passed on.
func (s *submission) allowedLimits(limits []job.Limit) []job.Limit {
	var out []job.Limit
	for _, l := range limits {
		if _, ok := slurm.LimitNumber(l.Name); ok && !slices.Contains(s.cluster.Policy.PropagateExcept, l.Name) {
			out = append(out, l)
		}
	}
	return out
}

// MinCPUs is the number of CPUs of the whole job that its counts ask for: what
// NumCPUs= shows while the job waits.
func MinCPUs(s *job.Size) uint32 {
	nodes := uint64(max(1, s.MinNodes))
	tasks := uint64(s.Tasks)
	if tasks == 0 {
		tasks = nodes * uint64(max(1, s.TasksPerNode))
	}
	cpus := tasks * uint64(max(1, s.CPUsPerTask))
	if s.Overcommit {
		cpus = nodes
	}
	return uint32(min(cpus, 1<<31))
}

// setArray reads --array.
func (s *submission) setArray(j *api.SubmitJob, out *state.NewJob) error {
	if j.Array == "" {
		return nil
	}
	a, err := slurm.ParseArray(j.Array, int(s.cluster.Limits.MaxArraySize))
	if err != nil {
		return invalid(err.Error())
	}
	out.Tasks, out.Limit, out.Bounds = a.Tasks, a.Limit, a.Bounds
	out.Range = slurm.FormatIndices(a.Tasks)
	return nil
}
