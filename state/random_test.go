package state

import (
	"bytes"
	"strings"
	"testing"

	"muster/internal/bitset"
	"muster/job"

	"pgregory.net/rapid"
)

// player draws commands that fit, more or less, the state that it sees.
type player struct {
	*rapid.T
	w     *world
	boots int
	ends  map[[2]uint64]int // ends seen in the outbox by job and attempt
	seen  uint64            // outbox numbers looked at
}

// TestRandomCommands plays random commands and checks after each one that no
// resource is promised twice and every end is recorded once; at the end, that
// the log gives the same state with restores in between and with other entries.
func TestRandomCommands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{T: rt, w: newWorld(rt), ends: map[[2]uint64]int{}, seen: 1}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			c := p.command()
			env := Seal(c, p.w.by, RequestID{})
			if rapid.IntRange(0, 3).Draw(rt, "by a client") == 0 {
				env.Request = RequestID{byte(rapid.IntRange(1, 9).Draw(rt, "request"))}
			}
			res := p.w.apply(env)[0]
			if strings.Contains(res.Text, "internal error") {
				rt.Fatalf("%T %+v: %s", c, c, res.Text)
			}
			checkRoot(rt, p.w.m.Root())
			p.checkEnds()
		}
		p.checkTerminal()
		p.replay()
	})
}

func (p *player) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(p.T, label) }

func (p *player) anyJob() job.ID {
	return job.ID(1 + p.pick("job", max(int(p.w.m.Root().counters.Job), 2)))
}

func (p *player) node() string { return []string{"n1", "n2", "n3", "n4"}[p.pick("node", 4)] }

func (p *player) target() Target {
	t := Target{Job: p.anyJob()}
	if p.pick("some tasks", 3) == 0 {
		t.Tasks = p.tasks()
	}
	return t
}

func (p *player) tasks() *bitset.Set {
	s := bitset.Of(p.pick("task", 6))
	for range p.pick("more tasks", 4) {
		s.Add(p.pick("task", 6))
	}
	return s
}

func (p *player) command() Command {
	switch p.pick("command", 20) {
	case 0, 1, 2, 3:
		return p.submitCmd()
	case 4, 5, 6, 7, 8:
		return p.startAny()
	case 9, 10, 11, 12:
		return p.reportAny()
	case 13:
		to := []job.State{job.Cancelled, job.Timeout, job.Preempted, job.Deadline}[p.pick("to", 4)]
		return &End{Targets: []Target{p.target()}, To: to, Flags: job.Flag(p.pick("requeue", 2)) * job.Requeued}
	case 14:
		return &Requeue{Targets: []Target{p.target()}, Hold: job.Hold(p.pick("hold", 2)), Special: p.pick("special", 4) == 0}
	case 15:
		return &Suspend{Targets: []Target{p.target()}, Resume: p.pick("resume", 2) == 0}
	case 16:
		return p.updateAny()
	case 17, 18:
		return p.nodeCmd()
	}
	return p.housekeeping()
}

func (p *player) submitCmd() Command {
	n := newJob()
	n.Owner.UID = uint32(1000 + p.pick("uid", 2))
	n.Request.Requeue = p.pick("may requeue", 3) > 0
	n.Request.NoKill = p.pick("no kill", 4) == 0
	n.Request.KillOnDep = job.Tri(p.pick("kill", 3))
	n.Request.Batch.Script[0] = byte(1 + p.pick("script", 3))
	n.Held = job.Hold(p.pick("held", 4) / 3)
	n.Request.Mail.Types = []uint32{0, ^uint32(0), ^job.MailArrayTasks}[p.pick("mail", 3)]
	if p.pick("begin", 8) == 0 {
		n.Request.Timing.Begin = p.w.now + 3000
	}
	if p.pick("array", 3) == 0 {
		n.Tasks, n.Limit = p.tasks(), uint32(p.pick("throttle", 3))
	}
	for range p.pick("dependencies", 3) {
		d := job.Dependency{Kind: job.DependKind(1 + p.pick("kind", 6)), On: p.anyJob(), Task: job.NoTask}
		switch {
		case d.Kind == job.DependSingleton:
			d.On = 0
		case d.Kind == job.DependAfter:
			d.Delay = job.Minutes(p.pick("delay", 2))
		case p.pick("on a task", 4) == 0:
			d.Task = uint32(p.pick("task", 6))
		}
		n.Deps = append(n.Deps, d)
	}
	n.AnyDep = p.pick("any", 3) == 0
	if p.pick("het", 10) == 0 && n.Tasks == nil {
		return &Submit{Jobs: []NewJob{n, n}}
	}
	return &Submit{Jobs: []NewJob{n}}
}

func (p *player) startAny() Command {
	id, task := p.anyJob(), job.NoTask
	if j := p.w.m.Root().Job(id); j != nil && j.Array.JobID != 0 {
		task = j.Array.Task
		if j.Array.Waiting != nil {
			task = uint32(j.Array.Waiting.Next(0))
		}
	}
	nodes := []string{p.node()}
	if other := p.node(); other != nodes[0] && p.pick("two nodes", 2) == 0 {
		nodes = append(nodes, other)
	}
	for _, n := range nodes {
		if p.w.m.Root().NodeNamed(n) == nil {
			return &Tick{}
		}
	}
	s := p.w.startCmd(id, task, p.pick("core", 5), nodes...)
	s.Alloc.Partition = []string{"main", "main", "fenced"}[p.pick("partition", 3)]
	sh := &s.Alloc.Nodes[0]
	sh.MemoryMB = uint64(1000 * p.pick("GB", 9))
	switch p.pick("extra", 6) {
	case 0:
		sh.Devices = []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 1, Index: bitset.Of(p.pick("gpu", 3))}}
	case 1:
		sh.Devices = []job.DeviceShare{{Name: "scratch", Count: uint64(1 + p.pick("scratch", 8))}}
	case 2:
		s.Alloc.Licenses = []job.License{{Name: "lic", Count: uint32(1 + p.pick("licences", 3))}}
	case 3:
		sh.Whole = true
	}
	if j := p.w.m.Root().Job(id); j != nil && len(j.Het.IDs) > 0 {
		all := &StartHet{}
		for _, id := range j.Het.IDs {
			one := *s
			one.Job = id
			if id != s.Job {
				one.Alloc = p.w.startCmd(id, task, p.pick("core", 5), nodes[p.pick("which node", len(nodes))]).Alloc
			}
			all.Components = append(all.Components, one)
		}
		return all
	}
	return s
}

func (p *player) reportAny() Command {
	c := &Report{Job: p.anyJob(), Node: p.node(), Ended: p.pick("ended", 3) > 0, Released: p.pick("released", 3) > 0,
		OOM: p.pick("oom", 6) == 0, Failed: p.pick("failed", 6) == 0, At: p.w.now}
	for j := range p.w.m.Root().Holding() {
		if p.pick("this one", 2) == 0 {
			c.Job, c.Attempt = j.ID, j.Attempt
			c.Node = j.Alloc.Nodes[p.pick("rank", len(j.Alloc.Nodes))].Name
		}
	}
	c.Result.ExitCode = uint32(p.pick("code", 3))
	return c
}

func (p *player) updateAny() Command {
	c := &Update{Target: p.target()}
	switch p.pick("part", 5) {
	case 0, 1:
		h := job.Hold(p.pick("hold", 2))
		c.Held = &h
	case 2:
		v := uint32(1 + p.pick("priority", 100))
		c.Priority = &v
	case 3:
		v := job.Minutes(1 + p.pick("limit", 100))
		c.Limit = &v
	case 4:
		c.Deps = &Dependencies{List: []job.Dependency{{Kind: job.DependAfterAny, On: p.anyJob(), Task: job.NoTask}}}
	}
	return c
}

func (p *player) nodeCmd() Command {
	r := p.w.m.Root()
	name := p.node()
	n := r.NodeNamed(name)
	if n == nil {
		return &Tick{}
	}
	switch p.pick("node change", 5) {
	case 0:
		p.boots++
		return &NodeRegister{Name: name, BootID: string(rune('a' + p.boots)), Journal: "j"}
	case 1:
		c := &NodeRegister{Name: name, BootID: n.BootID, Journal: n.Journal}
		for j := range r.OnNode(n.ID) {
			if p.pick("listed", 2) == 0 {
				c.Running = append(c.Running, AttemptID{j.ID, j.Attempt})
			}
		}
		return c
	case 2:
		return &NodeSilent{Nodes: []job.NodeID{n.ID}, Down: p.pick("down", 2) == 0}
	case 3:
		return &NodeSilent{Nodes: []job.NodeID{n.ID}, Heard: true}
	}
	return &NodeAdmin{Names: []string{name}, State: []string{"DOWN", "DRAIN", "RESUME"}[p.pick("state", 3)]}
}

func (p *player) housekeeping() Command {
	switch p.pick("housekeeping", 8) {
	case 0:
		_, next := p.w.m.Root().OutboxRange()
		return &OutboxDone{Through: next - uint64(1+p.pick("behind", 2))}
	case 1:
		c := &Purge{}
		for j := range p.w.m.Root().FinishedBefore(p.w.now) {
			c.Jobs = append(c.Jobs, j.ID)
		}
		return c
	case 4:
		c := &SetCrontab{Table: Crontab{UID: uint32(1000 + p.pick("uid", 2)), Text: []string{"", "a\n", "a\nb\n"}[p.pick("crontab", 3)]}}
		for range p.pick("entries", 3) {
			n := newJob()
			n.Owner.UID, n.Request.Cron = c.Table.UID, job.Cron{Spec: "@daily", First: uint32(p.pick("first", 2)), Last: uint32(p.pick("last", 2))}
			c.Jobs = append(c.Jobs, n)
		}
		return c
	case 2:
		return &Reprioritize{List: []Priority{{p.anyJob(), uint32(p.pick("priority", 50))}}}
	case 3:
		if p.pick("rare", 3) == 0 {
			return p.configureCmd()
		}
	}
	p.w.now += job.Time(1000 * p.pick("seconds", 120))
	switch p.pick("due", 4) {
	case 0, 1:
		return p.mailCmd()
	case 2:
		return &Decay{Reset: testStart + p.w.now/3_600_000*3_600_000}
	}
	return &Tick{}
}

// configureCmd takes nodes away, or brings them back, in this shape or that.
func (p *player) configureCmd() Command {
	c := &Configure{Cluster: testCluster([]string{"n1", "n2", "n3", "n4"}[:2+p.pick("nodes", 3)]...), Force: p.pick("force", 2) == 0}
	for i := range c.Cluster.Nodes {
		n := &c.Cluster.Nodes[i]
		switch p.pick("shape", 6) {
		case 0:
			n.Declared.MemoryMB = 50
		case 1:
			n.Declared.Sockets, n.Declared.CoresPerSocket = 2, 2
		case 2:
			n.Gres.Devices = n.Gres.Devices[:1]
		}
	}
	return c
}

// mailCmd strikes off some mails, or makes some about limits due.
func (p *player) mailCmd() Command {
	done := &MailDone{}
	for n := range p.w.m.Root().Mails() {
		if p.pick("sent", 2) == 0 {
			done.Numbers = append(done.Numbers, n)
		}
	}
	if len(done.Numbers) > 0 {
		return done
	}
	return &MailDue{List: []LimitMail{{Job: p.anyJob(), Events: uint32(p.pick("events", 1<<11))}}}
}

// checkEnds counts each new record of the outbox.
func (p *player) checkEnds() {
	for n, j := range p.w.m.Root().OutboxJobs(p.seen) {
		p.seen = n + 1
		k := [2]uint64{uint64(j.ID), uint64(j.Attempt)}
		if p.ends[k]++; p.ends[k] > 1 {
			p.Fatalf("attempt %d of job %d ended twice", j.Attempt, j.ID)
		}
		if !j.State.Ended() || j.Alloc.Held() {
			p.Fatalf("outbox %d holds %s", n, job.Word(j.State, j.Flags, false))
		}
	}
}

// checkTerminal: every attempt that is over, of jobs in memory, was recorded.
func (p *player) checkTerminal() {
	for j := range p.w.m.Root().Jobs() {
		over := j.Attempt
		if j.Terminal() {
			over++
		}
		for a := range over {
			if p.ends[[2]uint64{uint64(j.ID), uint64(a)}] != 1 {
				p.Fatalf("attempt %d of job %d is over and was not recorded: %+v", a, j.ID, j)
			}
		}
	}
}

// replay applies the log again, with restores in between, and with each entry
// cut into one for each command.
func (p *player) replay() {
	want := snapshot(p, p.w.m.Root())
	m := New()
	for i, b := range p.w.log {
		e, err := DecodeEntry(b)
		if err != nil {
			p.Fatalf("%v", err)
		}
		if _, err := m.Apply(uint64(i+1), e); err != nil {
			p.Fatalf("%v", err)
		}
		if rapid.IntRange(0, 7).Draw(p.T, "restore here") == 0 {
			next := restored(p, snapshot(p, m.Root()))
			sameRoots(p, m.Root(), next.Root())
			m = next
		}
	}
	if !bytes.Equal(want, snapshot(p, m.Root())) {
		p.Fatalf("the log replayed with restores gives another snapshot")
	}
	sameRoots(p, p.w.m.Root(), m.Root())
}

// Commands give the same state in one entry or in many of the same time.
func TestEntriesMayBeCutAnyhow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{T: rt, w: newWorld(rt)}
		cut := New()
		index := uint64(0)
		give := func(e *Entry) {
			for _, c := range e.Commands {
				index++
				if _, err := cut.Apply(index, &Entry{Now: e.Now, Commands: []Envelope{c}}); err != nil {
					rt.Fatalf("%v", err)
				}
			}
		}
		for _, b := range p.w.log {
			e, _ := DecodeEntry(b)
			give(e)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "entries") {
			var list []Envelope
			for range rapid.IntRange(1, 6).Draw(rt, "commands") {
				list = append(list, Seal(p.command(), p.w.by, RequestID{}))
			}
			p.w.apply(list...)
			e, _ := DecodeEntry(p.w.log[len(p.w.log)-1])
			give(e)
			if cut.Root().Hash() != p.w.m.Root().Hash() {
				rt.Fatalf("the state differs after %d commands in one entry", len(list))
			}
		}
	})
}
