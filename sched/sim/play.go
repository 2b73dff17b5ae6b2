package sim

import (
	"fmt"
	"math"
	"slices"

	"muster/job"
	"muster/sched"
	"muster/sched/feed"
	"muster/state"
)

// boot is the boot id of all played nodes.
const boot = "simulated"

// play is a run under way.
type play struct {
	*Setup
	machine *state.Machine
	feed    *feed.Feed
	index   uint64
	now     job.Time
	next    int               // task to submit next
	of      map[job.ID]int    // places in Tasks of jobs in memory; of an array, by its own ID, for ever
	ids     map[job.ID]job.ID // of jobs, by the IDs of Tasks that others depend on
	ends    endQueue
	wake    job.Time // when a cycle is due though nothing happens; never if there is none
	ranks   ranks
	done    []job.ID // ended, and still in memory
	result  Result
	list    []state.Command // for the next entry
}

const never = job.Time(math.MaxInt64)

func newPlay(s *Setup) (*play, error) {
	p := &play{Setup: s, machine: state.New(), feed: feed.New(), of: map[job.ID]int{}, ids: awaited(s.Tasks), wake: never}
	if len(s.Tasks) > 0 {
		p.now = max(1, s.Tasks[0].At-1000)
	}
	list := []state.Command{&state.Configure{Cluster: s.Cluster}}
	for i := range s.Cluster.Nodes {
		list = append(list, &state.NodeRegister{Name: s.Cluster.Nodes[i].Name, BootID: boot, Journal: boot})
	}
	results, err := p.apply(list)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Code != state.OK {
			return nil, fmt.Errorf("the cluster is refused: %s", r.Text)
		}
	}
	for n := range p.machine.Root().Nodes() {
		p.result.CPUs += uint64(n.Size().CPUs)
		for _, d := range n.Gres.Devices {
			if d.Name == "gpu" {
				p.result.Devices++
			}
		}
	}
	return p, nil
}

// apply makes one entry of commands.
func (p *play) apply(list []state.Command) ([]state.Result, error) {
	e := state.Entry{Now: p.now, Commands: make([]state.Envelope, len(list))}
	for i, c := range list {
		e.Commands[i] = state.Seal(c, state.Actor{}, state.RequestID{})
	}
	p.index++
	return p.machine.Apply(p.index, &e)
}

// moveOn sets the time to that of the next event; false at the end of all.
func (p *play) moveOn() bool {
	at := p.wake
	if p.next < len(p.Tasks) {
		at = min(at, p.Tasks[p.next].At)
	}
	if len(p.ends) > 0 {
		at = min(at, p.ends[0].at)
	}
	if at == never {
		return false
	}
	p.now = max(p.now, at)
	return true
}

// turn lets all happen that is due, and plans.
func (p *play) turn() error {
	if err := p.happen(); err != nil {
		return err
	}
	for {
		more, err := p.cycle()
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
	}
}

// happen applies what the nodes report and what users submit, and what follows
// from time alone.
func (p *play) happen() error {
	p.list = p.list[:0]
	for len(p.ends) > 0 && p.ends[0].at <= p.now {
		p.report(p.ends.pop())
	}
	p.tidy()
	if len(p.list) == 0 && (p.next == len(p.Tasks) || p.Tasks[p.next].At > p.now) {
		p.list = append(p.list, &state.Tick{})
	}
	reports := len(p.list)
	for p.next < len(p.Tasks) && p.Tasks[p.next].At <= p.now {
		n := p.Tasks[p.next].New
		if len(n.Deps) > 0 {
			if err := p.submitted(reports); err != nil { // it may depend on one of them
				return err
			}
			reports = 0
			n.Deps = p.depsOf(n.Deps)
		}
		p.list = append(p.list, &state.Submit{Jobs: []state.NewJob{n}})
		p.next++
	}
	if err := p.submitted(reports); err != nil {
		return err
	}
	return p.rank()
}

// submitted applies the list: so many reports, then the submits of the tasks up to
// the next one.
func (p *play) submitted(reports int) error {
	if len(p.list) == 0 {
		return nil
	}
	results, err := p.apply(p.list)
	p.list = p.list[:0]
	if err != nil {
		return err
	}
	results = results[reports:]
	first := p.next - len(results)
	for i, r := range results {
		if r.Code != state.OK {
			return fmt.Errorf("job %d of the workload is refused: %s", first+i+1, r.Text)
		}
		p.of[r.Jobs[0]] = first + i
		if id := p.Tasks[first+i].ID; p.awaits(id) {
			p.ids[id] = r.Jobs[0]
		}
	}
	return nil
}

// report says of an attempt that it has ended, and notes it.
func (p *play) report(e ending) {
	j := p.machine.Root().Job(e.job)
	if j == nil || !j.State.Active() || j.Attempt != e.attempt {
		return // it was ended otherwise
	}
	for i := range j.Alloc.Nodes {
		n := &j.Alloc.Nodes[i]
		p.list = append(p.list, &state.Report{Job: e.job, Attempt: e.attempt, Node: n.Name, BootID: boot, Ended: n.Node == j.Alloc.BatchNode,
			Released: true, TimedOut: e.timeout, At: p.now})
	}
	p.note(j)
}

// note keeps the span of an attempt that ends now.
func (p *play) note(j *job.Job) {
	s := Span{Job: j.ID, Task: p.taskOf(j), Index: j.Array.Task, Submit: j.Times.Submit, Start: j.Times.Start, End: p.now, CPUs: j.Alloc.CPUs, Partition: j.Alloc.Partition,
		Nodes: make([]job.NodeID, len(j.Alloc.Nodes)), Final: j.Cancel == nil || j.Cancel.Flags&job.Requeued == 0, State: job.Completed}
	if j.Cancel != nil {
		s.State = j.Cancel.To
	}
	for i := range j.Alloc.Nodes {
		s.Nodes[i] = j.Alloc.Nodes[i].Node
		for _, d := range j.Alloc.Nodes[i].Devices {
			if d.Name == "gpu" {
				s.Devices += d.Count
			}
		}
	}
	p.result.Spans = append(p.result.Spans, s)
	if s.Final && !p.awaits(p.Tasks[s.Task].ID) {
		p.done = append(p.done, j.ID)
	}
}

// tidyEvery is how many ended jobs are kept in memory before they are taken out.
const tidyEvery = 512

// tidy takes ended jobs out of memory, as a controller does.
func (p *play) tidy() {
	if len(p.done) < tidyEvery {
		return
	}
	_, next := p.machine.Root().OutboxRange()
	p.list = append(p.list, &state.OutboxDone{Through: next - 1}, &state.Purge{Jobs: slices.Clone(p.done)})
	for _, id := range p.done {
		if at, ok := p.of[id]; ok && p.Tasks[at].New.Tasks == nil {
			delete(p.of, id)
		}
	}
	p.done = p.done[:0]
}

// cycle plans once and applies the plan. It tells whether the planner has to look
// again at once: the plan was cut, or it ended jobs to make room.
func (p *play) cycle() (bool, error) {
	root := p.machine.Root()
	if idle(root) {
		p.wake = never
		return false, nil
	}
	view := p.feed.Update(root)
	plan := view.Plan(p.now, p.Budget)
	p.result.Cycles++
	p.result.Plans += plan.Steps
	p.result.Delays += len(plan.Delays)
	if p.Record != nil {
		if err := p.Record.Add(root, p.now, p.Budget, plan); err != nil {
			return false, err
		}
	}
	p.wake = p.nextWake(view, plan)
	list := feed.Commands(plan, root)
	if change := feed.Promises(plan, root); change != nil {
		list = append(list, change)
	}
	if len(list) == 0 {
		return false, nil
	}
	results, err := p.apply(list)
	if err != nil {
		return false, err
	}
	again := plan.Cut
	for i, c := range list {
		switch c := c.(type) {
		case *state.Start:
			p.startedOne(results[i].Code, results[i].Jobs, 0)
		case *state.StartHet:
			for k := range c.Components {
				p.startedOne(results[i].Code, results[i].Jobs, k)
			}
		case *state.End:
			again = true
			p.ended(c)
		}
	}
	return again, nil
}

// idle tells whether there is nothing to plan: no job waits, and no promise is left
// to be dropped.
func idle(root *state.Root) bool {
	for range root.Waiting() {
		return false
	}
	return len(root.Promises()) == 0
}

// nextWake is the first time after now at which a cycle is due though no job
// comes or ends: a planned start, a begin time, the edge of a reservation, or a
// new reckoning of priorities.
func (p *play) nextWake(v *sched.View, plan *sched.Plan) job.Time {
	at := never
	if len(v.Waiting) == 0 {
		return at
	}
	later := func(t job.Time) {
		if t > p.now {
			at = min(at, t)
		}
	}
	for i := range plan.Verdicts {
		later(plan.Verdicts[i].Planned)
	}
	for i := range v.Waiting {
		j := v.Waiting[i].Job
		later(j.Request.Timing.Begin)
		for k := range j.Deps {
			later(j.Deps[k].Due)
		}
	}
	for _, r := range v.Reservations {
		later(r.Start)
		later(r.End)
	}
	if at < never || len(p.ends) > 0 || p.next < len(p.Tasks) {
		later(p.ranks.due)
	}
	return at
}

// startedOne notes when a job that was started will end.
func (p *play) startedOne(code state.Code, started []job.ID, at int) {
	if code != state.OK || at >= len(started) {
		p.result.Refused++
		return
	}
	j := p.machine.Root().Job(started[at])
	e := ending{at: p.now + p.runOf(j), job: j.ID, attempt: j.Attempt}
	if end := j.Times.LimitEnd; end != 0 && end < e.at {
		e.at, e.timeout = end, true
	}
	p.ends.push(e)
}

// ended has the nodes report, in the next turn, the jobs that the planner ends.
func (p *play) ended(c *state.End) {
	root := p.machine.Root()
	for _, t := range c.Targets {
		if j := root.Job(t.Job); j != nil && j.State.Active() {
			p.ends.push(ending{at: p.now, job: j.ID, attempt: j.Attempt})
		}
	}
}

// finish counts what is left.
func (p *play) finish() *Result {
	root := p.machine.Root()
	for i := range p.Tasks {
		p.result.Unstart += max(1, p.Tasks[i].New.Tasks.Len())
	}
	for i := range p.result.Spans {
		if p.result.Spans[i].Final {
			p.result.Unstart--
		}
	}
	p.result.Hash = root.Hash()
	return &p.result
}
