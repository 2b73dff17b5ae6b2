package rollup

import (
	"maps"
	"slices"

	"muster/accounting"
	"muster/job"
)

// Use is what was used between two moments, both the start of an hour.
type Use struct {
	From, To int64
	Sums     map[Key]*Sum
	Events   []accounting.Event // that touch the stretch, by the order of their ends
	hours    *Batch
}

// NewUse is an empty one. From is taken back, and to forth, to the start of an hour
// of the cluster's zone.
func NewUse(c Calendar, from, to int64) *Use {
	from = c.Start(Hour, from)
	if start := c.Start(Hour, to); start < to {
		to = c.Next(Hour, start)
	}
	return &Use{From: from, To: to, Sums: map[Key]*Sum{}, hours: NewBatch(c)}
}

// Cover calls f with the stretches that From to To is made of: whole months, then
// days, then hours, as few as can be.
func (u *Use) Cover(f func(g Grain, start int64) error) error {
	c := u.hours.Calendar
	for t := u.From; t < u.To; {
		for _, g := range Grains() {
			if next := c.Next(g, t); c.Start(g, t) == t && next <= u.To {
				if err := f(g, t); err != nil {
					return err
				}
				t = next
				break
			}
		}
	}
	return nil
}

// Take adds a sum that lies within the stretch.
func (u *Use) Take(k Key, s *Sum) {
	if u.Sums[k] == nil {
		u.Sums[k] = &Sum{}
	}
	u.Sums[k].Add(s)
}

// TakeHour adds what became of the cluster's time in an hour within the stretch.
func (u *Use) TakeHour(start int64, c *Cluster) { u.hours.hour(start).Add(c) }

// Add takes in a record that is in no sum yet, or, as of now, a job that has not
// ended or an event that lasts.
func (u *Use) Add(r *accounting.Record, now int64) {
	if e := r.Event; e != nil {
		if from, to := u.clip(e.From.Unix(), e.To.Unix()); from < to {
			u.hours.each(Hour, from, to, func(start int64, seconds uint64) { u.hours.hour(start).event(e, seconds) })
			u.Events = append(u.Events, *e)
		}
		return
	}
	u.addJob(r.Job, now)
}

func (u *Use) addJob(j *job.Job, now int64) {
	from, to, cpus := waits(j, now)
	from, to = u.clip(from, to)
	u.hours.each(Hour, from, to, func(start int64, seconds uint64) { add(&u.hours.hour(start).Wanted, "cpu", cpus*seconds) })
	if j.Alloc == nil || j.State == job.Pending {
		return
	}
	held := HeldBy(j.Alloc)
	from, to = u.clip(Runs(j, now))
	u.hours.each(Hour, from, to, func(start int64, seconds uint64) { addAll(&u.hours.hour(start).Allocated, held, seconds) })
	sum := &Sum{}
	addAll(&sum.Held, held, uint64(max(0, to-from)))
	if end := j.Times.End.Unix(); j.State.Ended() && end >= u.From && end < u.To {
		sum.Done = DoneOf(j)
	}
	if from < to || sum.Done.Jobs > 0 {
		u.Take(KeyOf(j), sum)
	}
}

func (u *Use) clip(from, to int64) (int64, int64) { return max(from, u.From), min(to, u.To) }

// Resources lists what the cluster had or jobs held, by name.
func (u *Use) Resources() []string {
	seen := map[string]bool{}
	for _, h := range u.hours.Hours {
		for _, l := range []accounting.Amounts{h.Reported, h.Allocated} {
			for _, a := range l {
				seen[a.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Parts is what became of a resource's time, divided hour by hour.
func (u *Use) Parts(resource string) Parts {
	var p Parts
	for _, h := range u.hours.Hours {
		p = p.Plus(h.PartsOf(resource))
	}
	return p
}

// Keys are whose use it is, in order.
func (u *Use) Keys() []Key { return slices.SortedFunc(maps.Keys(u.Sums), Key.Compare) }
