package state

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/wire"
	"muster/job"
)

// Crontab is a user's list of recurring jobs (scrontab(1)). Each entry is one job,
// whose request says when it recurs; the text is kept for the user to edit.
type Crontab struct {
	UID  uint32
	Text string
}

// Code implements wire.Message.
func (t *Crontab) Code(c *wire.Coder) {
	wire.Uint(c, 1, &t.UID)
	c.String(2, &t.Text)
}

type crontabRow struct {
	Crontab
	sum Hash
}

// SetCrontab replaces a user's crontab and its jobs; an empty text removes it. Jobs
// of the old one that wait are cancelled, those that run go on and do not recur.
type SetCrontab struct {
	Table Crontab
	Jobs  []NewJob // one for each entry
}

// Kind implements Command.
func (*SetCrontab) Kind() Kind { return KindSetCrontab }

// Code implements wire.Message.
func (s *SetCrontab) Code(c *wire.Coder) {
	wire.Struct(c, 1, &s.Table)
	wire.Slice(c, 2, &s.Jobs)
}

// Crontab finds a user's crontab; nil if there is none.
func (r *Root) Crontab(uid uint32) *Crontab {
	if at, found := r.findCrontab(uid); found {
		return &r.crontabs[at].Crontab
	}
	return nil
}

func (r *Root) findCrontab(uid uint32) (at int, found bool) {
	return slices.BinarySearchFunc(r.crontabs, uid, func(t *crontabRow, uid uint32) int { return cmp.Compare(t.UID, uid) })
}

// setCrontab does a SetCrontab.
func (m *Machine) setCrontab(c *SetCrontab) Result {
	for i := range c.Jobs {
		if n := &c.Jobs[i]; n.Owner.UID != c.Table.UID || n.Request.Cron.Spec == "" || n.Tasks != nil {
			return Result{Code: Invalid, Text: "an entry of a crontab is one job of its user, with its times, and no array"}
		}
	}
	var old []job.ID
	for j := range m.work.JobsOfUser(c.Table.UID) {
		if j.Request.Cron.Spec != "" {
			old = append(old, j.ID)
		}
	}
	for _, id := range old {
		if r := m.stopCron(m.edit(id)); r.State == job.Pending {
			m.endWaiting(r, job.Cancelled, job.ReasonNone, true)
		} else {
			m.put(r)
		}
	}
	m.putCrontab(c.Table)
	res := Result{}
	for i := range c.Jobs {
		one := m.submit(&Submit{Jobs: c.Jobs[i : i+1]})
		if one.Code != OK { // those before stay: their entries are right
			one.Jobs = res.Jobs
			return one
		}
		res.Jobs = append(res.Jobs, one.Jobs...)
	}
	return res
}

// stopCron makes a row that is not in the table yet one that does not recur.
func (m *Machine) stopCron(r *jobRow) *jobRow {
	req := *r.Request
	req.Cron = job.Cron{}
	r.Request = &req
	return r
}

// putCrontab puts a crontab in the place of the user's old one.
func (m *Machine) putCrontab(t Crontab) {
	list := slices.Clone(m.work.crontabs)
	at, found := m.work.findCrontab(t.UID)
	if found {
		m.work.hash.sub(list[at].sum)
		list = slices.Delete(list, at, at+1)
	}
	if t.Text != "" {
		row := &crontabRow{Crontab: t}
		row.sum = m.sum.of(tableCrontabs, uint64(t.UID), &row.Crontab)
		m.work.hash.add(row.sum)
		list = slices.Insert(list, at, row)
	}
	m.work.crontabs = list
}

// disabled marks lines of a crontab whose job was cancelled, as scrontab shows them.
const disabled = "#DISABLED: "

// cancelCron takes a job that somebody cancels out of its user's crontab: it does
// not recur, and its lines are commented out.
func (m *Machine) cancelCron(r *jobRow) {
	cron := r.Request.Cron
	m.stopCron(r)
	t := m.work.Crontab(r.Owner.UID)
	if t == nil {
		return
	}
	lines := strings.Split(t.Text, "\n")
	for n := cron.First; n <= cron.Last && int(n) < len(lines); n++ {
		lines[n] = disabled + lines[n]
	}
	m.putCrontab(Crontab{UID: t.UID, Text: strings.Join(lines, "\n")})
}
