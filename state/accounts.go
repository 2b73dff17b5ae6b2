package state

import (
	"muster/accounting"
	"muster/internal/wire"
	"muster/job"
)

// Accounting changes who may use what (sacctmgr(1)).
type Accounting struct {
	// Seen is the serial number of the book that the changes were made from. With
	// another one now nothing is done: Conflict; look again.
	Seen    uint64
	Changes []accounting.Change
}

// Kind implements Command.
func (*Accounting) Kind() Kind { return KindAccounting }

// Code implements wire.Message.
func (a *Accounting) Code(c *wire.Coder) {
	c.Uint64(1, &a.Seen)
	wire.Slice(c, 2, &a.Changes)
}

// Book is who may use what.
func (r *Root) Book() *accounting.Book { return r.book }

// Rules judge jobs by the book as far as the configuration enforces it.
func (r *Root) Rules() *accounting.Rules {
	rules := accounting.RulesOf(r.book, r.cluster.Policy.Enforce)
	rules.Used = r
	return rules
}

// accounting changes the book.
func (m *Machine) accounting(c *Accounting) Result {
	old := m.work.book
	if c.Seen != old.Serial {
		return Result{Code: Conflict, Text: "somebody else has changed the accounts meanwhile"}
	}
	next, err := old.With(c.Changes)
	if err != nil {
		return Result{Code: Invalid, Text: err.Error()}
	}
	if in := m.inUse(c.Changes); in != "" {
		return Result{Code: InUse, Text: in}
	}
	m.setBook(next)
	m.pruneUsage()
	m.renewShares()
	return Result{}
}

// inUse says which association or QOS to be deleted still has jobs; "" if none.
func (m *Machine) inUse(changes []accounting.Change) string {
	for i := range changes {
		switch c := &changes[i]; {
		case !c.Delete:
		case c.Assoc != nil && c.Assoc.User != "":
			h := accounting.Holder{Kind: accounting.HeldByAssoc, Account: c.Assoc.Account, User: c.Assoc.User}
			if c.Assoc.Partition != "" {
				h.Kind, h.Partition = accounting.HeldByPart, c.Assoc.Partition
			}
			if u := m.work.Use(h); !u.Empty() {
				return "Job(s) active, cancel job(s) before remove: " + c.Assoc.String()
			}
		case c.QOS != nil:
			if u := m.work.Use(accounting.Holder{Kind: accounting.HeldByQOS, QOS: c.QOS.Name}); !u.Empty() {
				return "Job(s) active, cancel job(s) before remove: QOS " + c.QOS.Name
			}
		}
	}
	return ""
}

// setBook replaces the book. Records that both books have are the same ones and
// are in the hash already.
func (m *Machine) setBook(next *accounting.Book) {
	old := bookRecords(m.work.book)
	fresh := map[wire.Message]bool{}
	for _, r := range bookRecords(next) {
		fresh[r] = true
	}
	for _, r := range old {
		if fresh[r] {
			delete(fresh, r)
			continue
		}
		m.work.hash.sub(m.sum.of(tableBook, 0, &bookRecord{r}))
	}
	for _, r := range bookRecords(next) {
		if fresh[r] {
			m.work.hash.add(m.sum.of(tableBook, 0, &bookRecord{r}))
		}
	}
	if m.work.book.Serial > 0 {
		m.work.hash.sub(m.sum.of(tableBook, 1, serial(m.work.book)))
	}
	m.work.hash.add(m.sum.of(tableBook, 1, serial(next)))
	m.work.book = next
}

// serial is the record that carries the serial number of a book.
func serial(b *accounting.Book) *Accounting { return &Accounting{Seen: b.Serial} }

// bookRecords lists all records of a book, by kind and name.
func bookRecords(b *accounting.Book) []wire.Message {
	var out []wire.Message
	for _, r := range b.Accounts {
		out = append(out, r)
	}
	for _, r := range b.Users {
		out = append(out, r)
	}
	for _, r := range b.QOS {
		out = append(out, r)
	}
	for _, r := range b.Assocs {
		out = append(out, r)
	}
	return out
}

// bookRecord codes one record of the book with its kind, as a change that puts it.
type bookRecord struct{ wire.Message }

// Code implements wire.Message.
func (r *bookRecord) Code(c *wire.Coder) {
	change := asChange(r.Message)
	change.Code(c)
}

func asChange(r wire.Message) accounting.Change {
	var c accounting.Change
	switch r := r.(type) {
	case *accounting.Account:
		c.Account = r
	case *accounting.User:
		c.User = r
	case *accounting.QOS:
		c.QOS = r
	case *accounting.Association:
		c.Assoc = r
	}
	return c
}

// writeBook writes the book into a snapshot: the serial number, then the records.
func (s *snapshotWriter) writeBook(b *accounting.Book) {
	all := serial(b)
	for _, r := range bookRecords(b) {
		all.Changes = append(all.Changes, asChange(r))
	}
	s.put(tableBook, all)
}

// readBook reads what writeBook wrote.
func (s *restorer) readBook(b []byte) error {
	all := &Accounting{}
	if err := wire.Decode(b, all); err != nil {
		return err
	}
	empty := &accounting.Book{}
	next, err := empty.With(all.Changes)
	if err != nil {
		return err
	}
	next.Serial = all.Seen
	m := s.m
	m.work.book = next
	s.hash.add(m.sum.of(tableBook, 1, serial(next)))
	for _, r := range bookRecords(next) {
		s.hash.add(m.sum.of(tableBook, 0, &bookRecord{r}))
	}
	return nil
}

// mayBelong says why accounting does not let a waiting job start; "" if it does.
// The planner has asked the same: this is for a burst of starts of one plan, and
// for what changed since.
func (m *Machine) mayBelong(r *jobRow, c *Start) string {
	rules := m.work.Rules()
	if !rules.Associations {
		return ""
	}
	k := accounting.Ask{Account: r.Account, User: r.Owner.User, Partition: c.Alloc.Partition, QOS: r.QOS, Want: accounting.UseOf(&c.Alloc), Wall: c.Limit}
	if no := rules.Start(&m.work, &k); no.Is() {
		return no.Reason.String() + ": " + no.Detail
	}
	return ""
}

// maySubmit says why accounting does not take new jobs; "" if it does.
func (m *Machine) maySubmit(jobs []NewJob) string {
	rules := m.work.Rules()
	if !rules.Limits {
		return ""
	}
	for i := range jobs {
		n := &jobs[i]
		k := accounting.Ask{Account: n.Account, User: n.Owner.User, Partition: firstPartition(&n.Request), QOS: n.QOS, Want: accounting.Use{Submitted: 1}}
		if n.Tasks != nil {
			k.Want.Submitted = uint64(n.Tasks.Len())
		}
		if len(jobs) > 1 {
			k.Want.Submitted = uint64(len(jobs))
		}
		if no := rules.Queue(&m.work, &k); no.Is() {
			return no.Reason.String() + ": " + no.Detail
		}
	}
	return ""
}

func firstPartition(q *job.Request) string {
	if len(q.Partitions) == 0 {
		return ""
	}
	return q.Partitions[0]
}
