package noded

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/gres"
	"muster/internal/bitset"
	"muster/noded/shepherd"
)

// describe says how the task is launched: the user and the groups are those of
// the job as the controllers gave it to this node.
func (t *task) describe() error {
	st, l := t.step, t.step.launch
	args, err := t.program()
	if err != nil {
		return err
	}
	s := &shepherd.Spec{
		Key: t.key, Path: args[0], Args: args, Search: true, Env: t.environment(), Dir: st.start.Dir,
		UID: l.Uid, GID: l.Gid, Groups: l.Groups, Umask: st.start.Umask, Append: st.start.Append,
		Groups1: st.box.Join1(), Group2: st.box.Join2(), Stdin: t.file(st.start.Stdin),
		Stdout: t.file(st.start.Stdout), Stderr: t.file(st.start.Stderr), Terminal: t.terminal != nil,
		CPUs: st.bindings[t.local].cpus, Report: st.bindings[t.local].report,
	}
	switch {
	case t.terminal != nil:
		s.Stdin, s.Stdout, s.Stderr = t.slave, t.slave, t.slave
	case t.in != nil:
		s.Stdin = t.pipe("in")
	}
	if t.out != nil {
		s.Stdout = t.pipe("out")
	}
	if t.err != nil {
		s.Stderr = t.pipe("err")
	}
	for _, lim := range st.start.Limits {
		if number, ok := slurm.LimitNumber(lim.Name); ok {
			s.Limits = append(s.Limits, shepherd.Limit{Name: lim.Name, Resource: number, Value: lim.Value})
		}
	}
	t.spec = s
	return nil
}

// program is the command line of the task.
func (t *task) program() ([]string, error) {
	for _, p := range t.step.start.Programs {
		if len(p.Args) == 0 {
			continue
		}
		if len(p.Ranks) == 0 {
			return p.Args, nil
		}
		at := slices.Index(p.Ranks, t.rank)
		if at < 0 {
			continue
		}
		fill := strings.NewReplacer("%t", strconv.FormatUint(uint64(t.rank), 10), "%o", strconv.Itoa(at))
		out := make([]string, len(p.Args))
		for i, a := range p.Args {
			out[i] = fill.Replace(a)
		}
		return out, nil
	}
	return nil, fmt.Errorf("no program is named for task %d", t.rank)
}

// file is the name of a file that the user chose for the task.
func (t *task) file(pattern string) string {
	if pattern == "" {
		return ""
	}
	st := t.step
	short, _, _ := strings.Cut(st.node.cfg.Name, ".")
	name := slurm.ExpandPattern(pattern, &slurm.Names{
		Job: st.grant.Job, ArrayJob: st.start.ArrayJob, ArrayTask: st.start.ArrayTask, Name: st.start.JobName,
		User: st.launch.User, Node: short, NodeIndex: st.number, Rank: st.start.Before + t.rank, Step: stepName(st.grant.Step),
		SLUID: sluid(st.launch.GetInfo()),
	})
	if !filepath.IsAbs(name) {
		name = filepath.Join(st.start.Dir, name)
	}
	return name
}

// environment is what srun sent, with what differs by node and task.
func (t *task) environment() []byte {
	st, n := t.step, t.step.node
	ids := make([]string, len(st.part.Tasks))
	for i, r := range st.part.Tasks {
		ids[i] = strconv.FormatUint(uint64(st.start.Before+r), 10)
	}
	number := func(v uint32) string { return strconv.FormatUint(uint64(v), 10) }
	set := []string{
		"SLURM_PROCID=" + number(st.start.Before+t.rank), "SLURM_LOCALID=" + number(t.local), "SLURM_NODEID=" + number(st.start.NodesBefore+st.number),
		"SLURM_GTIDS=" + strings.Join(ids, ","), "SLURMD_NODENAME=" + n.cfg.Name,
		"SLURM_CPUS_ON_NODE=" + number(st.part.CPUs), "SLURM_TOPOLOGY_ADDR=" + n.cfg.Name, "SLURM_TOPOLOGY_ADDR_PATTERN=node",
		"SLURM_PRIO_PROCESS=0", "SLURM_OOM_KILL_STEP=0", "SLURMD_DEBUG=2",
		"MUSTER_SOCKET=" + n.cfg.Socket, "MUSTER_BOOT_ID=" + n.boot,
	}
	if st.pmi != nil {
		set = append(set, "PMI_PORT="+st.pmiPort, "PMI_ID="+number(t.rank), "PMI_RANK="+number(t.rank), "PMI_SIZE="+number(st.grant.Tasks))
	}
	if st.peer != "" { // where srun runs
		set = append(set, "SLURM_LAUNCH_NODE_IPADDR="+st.peer, "SLURM_SRUN_COMM_HOST="+st.peer)
	}
	set = append(set, t.devices()...)
	names := map[string]bool{shepherd.PIDVariable: true}
	for _, e := range set {
		name, _, _ := strings.Cut(e, "=")
		names[name] = true
	}
	var b []byte
	for _, e := range slurm.SplitEnvironment(st.start.Env) {
		name, _, _ := strings.Cut(e, "=")
		if !names[name] {
			b = append(append(b, e...), 0)
		}
	}
	for _, e := range set {
		if !strings.HasSuffix(e, unsetMark) {
			b = append(append(b, e...), 0)
		}
	}
	return b
}

// unsetMark ends an entry that only takes a variable away.
const unsetMark = "=\x01"

// devices are the variables of the task's GPUs: its own share of the step's, or
// all of them. A step without GPUs does not see those of its job.
func (t *task) devices() []string {
	var ids []string
	total := uint64(0)
	for _, d := range t.step.part.Devices {
		if d.Name == "gpu" {
			total += d.Count
			for i := range d.Index.All {
				ids = append(ids, strconv.Itoa(i))
			}
		}
	}
	held := t.step.launch.GetPart().GetDevices()
	var out []string
	for _, v := range t.step.node.visible(held, nil) {
		name, _, _ := strings.Cut(v, "=")
		out = append(out, name+unsetMark) // of the job; set again below
	}
	if len(ids) == 0 && hasGPU(held) {
		out = append(out, "SLURM_GPUS_ON_NODE"+unsetMark)
	}
	for _, v := range t.step.node.visible(held, t.given()) {
		name, _, _ := strings.Cut(v, "=")
		out = slices.DeleteFunc(out, func(e string) bool { return e == name+unsetMark })
		out = append(out, v)
	}
	if len(ids) > 0 {
		out = append(out, "SLURM_STEP_GPUS="+strings.Join(ids, ","), "SLURM_GPUS_ON_NODE="+strconv.FormatUint(total, 10))
	}
	return out
}

// bound are the GPUs of a list that --gpu-bind gives the task. It goes
// by the cores that the task is bound to.
func (t *task) bound(bind *gres.Binding, ids []int) []int {
	v := t.step.node.inventory()
	list := make([]gres.Bindable, len(ids))
	for i, id := range ids {
		list[i].Index = id
		if at := slices.IndexFunc(v.Devices, func(d device) bool { return d.Name == "gpu" && int(d.Index) == id }); at >= 0 {
			list[i].Cores = v.Devices[at].Cores
		}
	}
	cores := t.step.coresOf(t.local)
	global := v.Open || t.step.node.tree == nil
	var out []int
	for _, at := range bind.Pick(int(t.local), list, cores, global) {
		out = append(out, ids[at])
	}
	return out
}

// given tells which devices of the step are the task's: a share for each task
// where the step asked by task, else all.
func (t *task) given() func(name string, index int) bool {
	mine := map[string]*bitset.Set{}
	bind, bound := gres.ParseBinding(t.step.grant.GPUBind)
	for _, d := range t.step.part.Devices {
		ids := d.Index.Slice()
		if bound && d.Name == "gpu" {
			ids = t.bound(&bind, ids)
		}
		for _, p := range t.step.part.PerTask {
			if bound && p.Name == "gpu" {
				continue
			}
			if p.Name == d.Name && p.Count > 0 {
				ids = window(ids, int(p.Count)*int(t.local), int(p.Count))
			}
		}
		if mine[d.Name] == nil {
			mine[d.Name] = &bitset.Set{}
		}
		for _, i := range ids {
			mine[d.Name].Add(i)
		}
	}
	return func(name string, index int) bool { return mine[name].Has(index) }
}

// window is a stretch of a list, as far as it goes.
func window(ids []int, from, count int) []int {
	from = min(from, len(ids))
	return ids[from:min(from+count, len(ids))]
}

func hasGPU(devices []*pb.PartDevice) bool {
	return slices.ContainsFunc(devices, func(d *pb.PartDevice) bool { return d.Name == "gpu" })
}
