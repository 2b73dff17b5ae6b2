package noded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/internal/bitset"
	"muster/internal/nss"
	"muster/internal/wire"
	"muster/job"
	"muster/noded/cgroup"
	"muster/noded/shepherd"
)

// start begins an attempt that should be here.
func (n *Node) start(ctx context.Context, l *pb.Launch, index uint64) {
	k := keyOf(l.Attempt)
	if n.attempts[k] != nil || n.done.has(k) {
		return
	}
	n.keepBlobs(l.Script)
	a := &attempt{key: k, launch: l, index: index, instance: n.instance}
	n.attempts[k] = a
	n.changed = true
	if l.BootId != n.boot || l.JournalId != n.journal.id {
		n.finish(ctx, a, &outcome{failed: true, detail: "the job was meant for another boot or another data directory of this node"})
		return
	}
	prepare, cancel := context.WithCancel(ctx)
	a.cancel = cancel
	n.work(prepare, func() {
		a.begun.Store(true)
		var r *ready
		err := n.prolog(ctx, a)
		if err == nil {
			r, err = n.prepare(prepare, a)
		}
		n.do(ctx, func() { n.prepared(ctx, a, r, err) })
	})
	// A preparation that never got its turn is still answered.
	context.AfterFunc(prepare, func() {
		n.do(ctx, func() {
			if n.attempts[k] == a && a.state == preparing && a.ending != nil && !a.begun.Load() {
				n.prepared(ctx, a, nil, context.Canceled)
			}
		})
	})
}

// keepBlobs keeps what came with a launch before any other launch needs it.
func (n *Node) keepBlobs(b *pb.Batch) {
	if b == nil {
		return
	}
	if len(b.Script) == 16 && len(b.ScriptData) > 0 {
		n.blobs.put([16]byte(b.Script), b.ScriptData)
	}
	if len(b.Environment) == 16 && len(b.EnvironmentData) > 0 {
		n.blobs.put([16]byte(b.Environment), b.EnvironmentData)
	}
}

// ready is what a preparation gives.
type ready struct {
	spec *shepherd.Spec // nil: nothing to run here
	box  box
}

// prepare makes what an attempt needs. It runs beside the loop and touches
// nothing that the user named.
func (n *Node) prepare(ctx context.Context, a *attempt) (*ready, error) {
	l := a.launch
	if !l.Batch {
		return n.prepareSteps(a)
	}
	user, err := n.knownUser(ctx, l.Uid)
	if err != nil {
		return nil, err
	}
	req := new(job.Request)
	if err := wire.Decode(l.GetInfo().GetRequest(), req); err != nil {
		return nil, fmt.Errorf("request of the job: %w", err)
	}
	script, err := n.blob(ctx, l.Script.GetScript(), l.Script.GetScriptData())
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	env, err := n.blob(ctx, l.Script.GetEnvironment(), l.Script.GetEnvironmentData())
	if err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	if req.Batch.GetUserEnv {
		env = withLogin(slices.Clip(env), user)
	}
	name, err := n.writeScript(l, script)
	if err != nil {
		return nil, err
	}
	b, err := n.recordedBox(a, a.instance)
	if err != nil {
		return nil, err
	}
	return &ready{n.spec(l, req, name, env, b), b}, nil
}

// prepareSteps makes what the steps of an attempt need on a node that runs no
// script.
func (n *Node) prepareSteps(a *attempt) (*ready, error) {
	if err := ownDir(n.cfg.SpoolDir); err != nil {
		return nil, err
	}
	b, err := n.recordedBox(a, "")
	return &ready{box: b}, err
}

// recordedBox makes the box of an attempt and the record that names both.
func (n *Node) recordedBox(a *attempt, instance string) (box, error) {
	b, err := n.newBox(a.key, n.limits(a.launch))
	if err != nil {
		return nil, err
	}
	if err := n.records.add(record{Instance: instance, Index: a.index, Launch: a.launch, Box: boxMark(b)}); err != nil {
		return nil, errors.Join(err, b.Remove())
	}
	return b, nil
}

// knownUser refuses a user that this node's name service says does not exist. A
// name service that does not answer holds nobody up: the ids are known.
func (n *Node) knownUser(ctx context.Context, uid uint32) (nss.User, error) {
	user, err := n.names.User(ctx, uid)
	if errors.Is(err, nss.ErrUnknown) {
		return user, fmt.Errorf("uid %d is not known on node %s; check its name service with: getent passwd %d", uid, n.cfg.Name, uid)
	}
	if err != nil {
		n.log.Warn("user not checked", "uid", uid, "err", err)
	}
	return user, nil
}

// limits are the bounds of an attempt's control group.
func (n *Node) limits(l *pb.Launch) cgroup.Limits {
	lim := cgroup.Limits{MemoryMB: l.GetPart().GetMemoryMb(), PIDs: n.cfg.MaxPIDs}
	if !l.GetPart().GetWhole() {
		lim.CPUs = n.inventory().cpuList(l.GetPart().GetCores())
	}
	lim.Deny = n.inventory().denied(l.GetPart().GetDevices())
	return lim
}

// spec says how the script is run.
func (n *Node) spec(l *pb.Launch, req *job.Request, script string, env []byte, b box) *shepherd.Spec {
	bt := &req.Batch
	names := n.patterns(l)
	path := func(pattern, otherwise string) string {
		if pattern == "" {
			pattern = otherwise
		}
		if pattern == "" {
			return ""
		}
		p := slurm.ExpandPattern(pattern, names)
		if !filepath.IsAbs(p) {
			p = filepath.Join(bt.WorkDir, p)
		}
		return p
	}
	out := "slurm-%j.out"
	if names.ArrayJob != 0 {
		out = "slurm-%A_%a.out"
	}
	s := &shepherd.Spec{
		Key: keyOf(l.Attempt), Path: script, Args: append([]string{script}, bt.Args...), Dir: bt.WorkDir,
		UID: l.Uid, GID: l.Gid, Groups: l.Groups, Umask: bt.Umask, Append: bt.Append == job.Yes,
		Stdin: path(bt.Stdin, ""), Stdout: path(bt.Stdout, out), Stderr: path(bt.Stderr, ""),
		Groups1: b.Join1(), Group2: b.Join2(), Env: n.environment(l, req, env),
	}
	for _, lim := range bt.Limits {
		if number, ok := slurm.LimitNumber(lim.Name); ok {
			s.Limits = append(s.Limits, shepherd.Limit{Name: lim.Name, Resource: number, Value: lim.Value})
		}
	}
	return s
}

func (n *Node) patterns(l *pb.Launch) *slurm.Names {
	in := l.GetInfo()
	short, _, _ := strings.Cut(n.cfg.Name, ".")
	return &slurm.Names{
		Job: job.ID(l.Attempt.Job), ArrayJob: job.ID(in.GetArrayJob()), ArrayTask: in.GetArrayTask(), Name: in.GetName(),
		User: l.User, Node: short, NodeIndex: l.NodeIndex, Restarts: in.GetRestarts(), SLUID: sluid(in), Step: "batch",
	}
}

func sluid(in *pb.JobInfo) string { return string(format.AppendSLUID(nil, in.GetSluid())) }

// withLogin adds what a login would have set and the submitter did not pass on
// (--export=NONE, --get-user-env). Unlike Slurm it does not run the user's login
// scripts.
func withLogin(base []byte, u nss.User) []byte {
	has := map[string]bool{}
	for _, e := range slurm.SplitEnvironment(base) {
		name, _, _ := strings.Cut(e, "=")
		has[name] = true
	}
	for _, v := range [][2]string{{"HOME", u.Home}, {"SHELL", u.Shell}, {"USER", u.Name}, {"LOGNAME", u.Name}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}} {
		if !has[v[0]] && v[1] != "" {
			base = slurm.JoinEnvironment(base, v[0]+"="+v[1])
		}
	}
	return base
}

// hetJob is what the environment says of a heterogeneous job.
func hetJob(in *pb.JobInfo) slurm.HetJob {
	h := slurm.HetJob{Size: uint32(len(in.Het))}
	for _, p := range in.Het {
		c := slurm.HetComponent{ID: job.ID(p.Job), Name: p.Name, Account: p.Account, Partition: p.Partition, QOS: p.Qos}
		for _, n := range p.Nodes {
			c.Nodes = append(c.Nodes, slurm.NodeTasks{Name: n.Name, CPUs: n.Cpus, Tasks: n.Tasks})
		}
		h.Components = append(h.Components, c)
	}
	return h
}

// environment is the submitted one with the job's variables and the socket of
// this node's agent. The shepherd fills in the process id.
func (n *Node) environment(l *pb.Launch, req *job.Request, base []byte) []byte {
	in := l.GetInfo()
	j := &slurm.BatchJob{
		ID: job.ID(l.Attempt.Job), ArrayJob: job.ID(in.ArrayJob), ArrayTask: in.ArrayTask,
		Bounds:   job.ArrayBounds{Count: in.ArrayCount, Min: in.ArrayMin, Max: in.ArrayMax, Step: in.ArrayStep},
		Restarts: in.Restarts, SLUID: sluid(in), Cluster: in.Cluster, Name: in.Name, Partition: in.Partition,
		Account: in.Account, QOS: in.Qos, Reservation: in.Reservation, Licenses: in.Licenses,
		User: l.User, UID: l.Uid, GID: l.Gid, Group: l.Group, Request: req,
		Node: n.cfg.Name, NodeIndex: l.NodeIndex, CPUs: l.GetPart().GetCpus(), MemoryMB: l.GetPart().GetMemoryMb(),
		Whole: l.GetPart().GetWhole(), Start: job.Time(l.StartMs), End: job.Time(l.EndMs),
	}
	for _, p := range l.Nodes {
		j.Nodes = append(j.Nodes, slurm.NodeTasks{Name: p.Name, CPUs: p.Cpus, Tasks: p.Tasks})
	}
	j.Devices = deviceIDs(l.GetPart().GetDevices())
	j.Visible = n.visible(l.GetPart().GetDevices(), nil)
	j.Het = hetJob(in)
	env := slurm.BatchEnv(j, slurm.SplitEnvironment(base))
	var b []byte
	for _, e := range env {
		if strings.HasPrefix(e, "MUSTER_SOCKET=") || strings.HasPrefix(e, "MUSTER_BOOT_ID=") || strings.HasPrefix(e, shepherd.PIDVariable+"=") {
			continue
		}
		b = append(append(b, e...), 0)
	}
	b = append(append(b, "MUSTER_SOCKET="+n.cfg.Socket...), 0)
	b = append(append(b, "MUSTER_BOOT_ID="+n.boot...), 0) // which life of the node this attempt belongs to
	return b
}

// deviceIDs are the devices that an attempt has on this node.
func deviceIDs(parts []*pb.PartDevice) []slurm.DeviceIDs {
	var out []slurm.DeviceIDs
	for _, d := range parts {
		ids := slurm.DeviceIDs{Name: d.Name, Count: d.Count}
		if len(d.Index) > 0 {
			ids.Index = &bitset.Set{}
			for _, i := range d.Index {
				ids.Index.Add(int(i))
			}
		}
		out = append(out, ids)
	}
	return out
}

// prepared hands a job to the shepherd.
func (n *Node) prepared(ctx context.Context, a *attempt, r *ready, err error) {
	if n.attempts[a.key] != a || a.state != preparing {
		return
	}
	if r != nil {
		a.box = r.box
	}
	var failed prologFailure
	switch {
	case errors.As(err, &failed):
		n.finish(ctx, a, &outcome{failed: a.ending == nil, quiet: a.ending != nil && !a.launch.Batch, signal: uint32(unix.SIGTERM), detail: err.Error(), drain: prologError})
	case a.ending != nil:
		n.finish(ctx, a, &outcome{signal: uint32(unix.SIGTERM), quiet: !a.launch.Batch})
		n.arrived(a.key)
	case err != nil:
		n.finish(ctx, a, &outcome{failed: true, detail: err.Error()})
	case r.spec == nil:
		a.state = holding
		n.armLimit(ctx, a, a.launch.EndMs)
		n.arrived(a.key)
	default:
		a.state = starting
		n.client.Launch(r.spec)
		n.armLimit(ctx, a, a.launch.EndMs)
	}
}

// running takes the shepherd's word that a job has started.
func (n *Node) running(ctx context.Context, r shepherd.Running) {
	a := n.attempts[r.Key]
	if a == nil || a.state != starting || r.PID == 0 {
		return
	}
	a.state, a.pid = running, r.PID
	if b, ok := a.box.(*procBox); ok {
		b.lead(r.PID)
	}
	if a.box == nil { // its groups are gone: it can only have ended
		n.log.Error("running job without its control group", "job", a.key.Job)
		a.box = n.procs.box(a.key, 0)
	}
	if e := a.ending; e != nil {
		a.stopTimers()
		a.ending, a.kill = nil, nil
		n.end(ctx, a, e)
		return
	}
	n.armLimit(ctx, a, a.launch.EndMs)
	for _, s := range a.early {
		n.sendSignal(a, s)
	}
	a.early = nil
	if a.suspended {
		a.suspended = false
		n.suspend(a, true)
	}
	n.arrived(a.key)
}

// launchFailed reports a job that the shepherd could not start.
func (n *Node) launchFailed(ctx context.Context, f shepherd.Failure) {
	a := n.attempts[f.Key]
	if a == nil || a.state == finishing {
		return
	}
	o := &outcome{detail: f.Text, at: time.Now().UnixMilli()}
	switch f.Fault {
	case shepherd.FaultOutput:
		o.signal = outputSignal
	case shepherd.FaultExec:
		o.code = f.Errno
	case shepherd.FaultCalledOff:
		o.signal = uint32(unix.SIGKILL)
	default:
		o.failed = true
	}
	n.finish(ctx, a, o)
}

// outputSignal is what Slurm shows as the signal of a job whose output file
// could not be opened (ExitCode 0:53).
const outputSignal = 53
