package sched

import (
	"muster/accounting"
	"muster/job"
)

// gateKey names the jobs that the same limits hold for.
type gateKey struct{ account, user, qos, partition string }

// gate remembers what a cycle has found out about the limits of some jobs, so
// that not each of them is judged by all limits. Nearly each limit bounds one resource,
// or the time, by itself (of those on their product a job may pass here that is held
// when it is placed); so what passed for one job with more of everything
// passes, and what did not pass for one with less does not. Starts only take away:
// a refusal stays true, and what passed is counted down by all starts since.
type gate struct {
	passed  accounting.Use // this much, and as many jobs, passed
	wall    job.Minutes
	since   accounting.Use // what had been started when it passed
	starts  int            // how many that were
	valid   bool
	narrow  bool           // much more than a job wants did not pass
	refused accounting.Use // this much did not
	refWall job.Minutes
	why     Why
	strange Why // none of these jobs belongs
}

// bars judges a job by its gate first, then by the limits.
func (l *accountLedger) bars(k *accounting.Ask) Why {
	g := l.gateOf(k)
	if g.strange.Reason != job.ReasonNone {
		return g.strange
	}
	if g.why.Reason != job.ReasonNone && covers(&k.Want, &g.refused) && k.Wall >= g.refWall {
		return g.why
	}
	if g.valid && k.Wall <= g.wall {
		if g.starts == l.starts {
			if covers(&g.passed, &k.Want) {
				return Why{}
			}
		} else {
			want, have := k.Want.Plus(&l.total), g.passed.Plus(&g.since)
			if covers(&have, &want) {
				return Why{}
			}
		}
	}
	if !g.narrow {
		wide := *k
		wide.Want, wide.Wall = widened(&k.Want), job.Unlimited
		if l.whyAtLeast(&wide).Reason == job.ReasonNone {
			g.pass(&wide, l)
			return Why{}
		}
		g.narrow = true
	}
	why := l.whyAtLeast(k)
	if why.Reason == job.ReasonNone {
		g.pass(k, l)
	}
	if why.Reason != job.ReasonNone && (g.why.Reason == job.ReasonNone || covers(&g.refused, &k.Want) && k.Wall <= g.refWall) {
		g.refused, g.refWall, g.why = k.Want, k.Wall, why
	}
	return why
}

// pass notes that an ask passed after some starts. What passed before them, for
// another job, still does if there were no starts since.
func (g *gate) pass(k *accounting.Ask, l *accountLedger) {
	if g.valid && g.starts == l.starts {
		g.passed, g.wall = most(&g.passed, &k.Want), max(g.wall, k.Wall)
		return
	}
	g.passed, g.wall, g.since, g.starts, g.valid = k.Want, k.Wall, l.total, l.starts, true
}

// most is the greater of two amounts of everything.
func most(a, b *accounting.Use) accounting.Use {
	out := accounting.Use{Jobs: max(a.Jobs, b.Jobs), CPUs: max(a.CPUs, b.CPUs), Nodes: max(a.Nodes, b.Nodes),
		MemoryMB: max(a.MemoryMB, b.MemoryMB), Billing: max(a.Billing, b.Billing), Others: a.Others}
	for _, x := range b.Others {
		if n, _ := out.Others.Get(x.Name); n < x.Count {
			out.Others = out.Others.With(x.Name, x.Count)
		}
	}
	return out
}

func (l *accountLedger) gateOf(k *accounting.Ask) *gate {
	key := gateKey{account: k.Account, user: k.User, qos: k.QOS}
	if l.byPartition {
		key.partition = k.Partition
	}
	g := l.gates[key]
	if g == nil {
		no := l.Rules.Member(k)
		g = &gate{strange: Why{no.Reason, no.Detail}}
		l.gates[key] = g
	}
	return g
}

// widened is a good deal more of everything that is wanted.
func widened(u *accounting.Use) accounting.Use {
	out := accounting.Use{Jobs: u.Jobs + 64, CPUs: 4*u.CPUs + 1024, Nodes: 4*u.Nodes + 64, MemoryMB: u.MemoryMB, Billing: u.Billing}
	for _, a := range u.Others {
		out.Others = out.Others.With(a.Name, 4*a.Count+32)
	}
	return out
}

// covers tells whether a is at least b in everything.
func covers(a, b *accounting.Use) bool {
	if a.Jobs < b.Jobs || a.CPUs < b.CPUs || a.Nodes < b.Nodes || a.MemoryMB < b.MemoryMB || a.Billing < b.Billing {
		return false
	}
	for _, x := range b.Others {
		if n, _ := a.Others.Get(x.Name); n < x.Count {
			return false
		}
	}
	return true
}
