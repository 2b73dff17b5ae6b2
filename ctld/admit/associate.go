package admit

import (
	"slices"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// textPolicy is Slurm's refusal of a job that a limit keeps out of the queue.
const textPolicy = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"

// settleAccount fills in account and QOS of a job whose user left them open, and
// refuses those that he may not use, as far as the cluster enforces that.
func (s *submission) settleAccount(q *job.Request, account, qos *string) error {
	book, rules := s.root.Book(), s.root.Rules()
	*account, *qos = s.openAccount(q, *account, *qos)
	assoc := s.association(q, *account)
	if assoc == nil && rules.Associations {
		return &api.Error{Kind: api.ErrDenied, Text: slurm.TextAccount}
	}
	unknown := book.QOSNamed(*qos) == nil
	if rules.Associations && unknown || rules.QOS && !slices.Contains(book.Allowed(assoc), *qos) {
		return &api.Error{Kind: api.ErrDenied, Text: slurm.TextQOS}
	}
	return s.checkReserved(q, *qos)
}

// checkReserved refuses a job without a reservation in a QOS with RequiresReservation,
// where QOS are enforced. A job keeps its reservation, so nothing is judged at its start.
func (s *submission) checkReserved(q *job.Request, name string) error {
	qos := s.root.Book().QOSNamed(name)
	if qos == nil || !s.root.Rules().QOS || !qos.Flags.Has(accounting.RequiresReservation) || q.Reservation != "" {
		return nil
	}
	return &api.Error{Kind: api.ErrDenied, Text: slurm.TextQOS, Hint: "QOS " + name + " is only for jobs of a reservation (--reservation)"}
}

// association is the user's in an account, for the first of the job's partitions
// that has one; nil if there is none.
func (s *submission) association(q *job.Request, account string) *accounting.Association {
	for _, p := range q.Partitions {
		if a := s.root.Book().Of(account, s.owner.User, p); a != nil {
			return a
		}
	}
	return s.root.Book().Assoc(account, s.owner.User, "")
}

// checkPolicy refuses what a submit limit keeps out, or, with DenyOnLimit, what
// could never start.
func (s *submission) checkPolicy(out *state.NewJob) error {
	rules := s.root.Rules()
	if !rules.Limits {
		return nil
	}
	q := &out.Request
	k := accounting.Ask{Account: out.Account, User: s.owner.User, QOS: out.QOS, Wall: q.Timing.Limit}
	if len(q.Partitions) > 0 {
		k.Partition = q.Partitions[0]
	}
	if p := s.root.Partition(k.Partition); p != nil {
		k.Wall = p.Limit(q)
	}
	k.Want = accounting.Use{Submitted: 1, CPUs: uint64(q.Size.MinCPUs), Nodes: uint64(max(1, q.Size.MinNodes))}
	for _, d := range q.Gres.PerJob {
		k.Want.Others = k.Want.Others.With("gres/"+d.Name, d.Count)
	}
	for _, d := range q.Gres.PerNode {
		k.Want.Others = k.Want.Others.With("gres/"+d.Name, d.Count*k.Want.Nodes)
	}
	if out.Tasks != nil {
		k.Want.Submitted = uint64(out.Tasks.Len())
	}
	no := rules.Queue(s.root, &k)
	if !no.Is() {
		no = rules.Possible(&k)
	}
	if no.Is() {
		return &api.Error{Kind: api.ErrDenied, Text: textPolicy, Hint: no.Reason.String() + ": " + no.Detail}
	}
	return nil
}

// setPriority works out the priority of a new job that asks for none.
func (s *submission) setPriority(out *state.NewJob) {
	if out.Priority != 0 {
		out.Fixed = true
		return
	}
	ranker := service.Ranker(s.root)
	if ranker == nil || out.Held.Is() {
		return
	}
	j := job.Job{Owner: &out.Owner, Request: &out.Request, Account: out.Account, QOS: out.QOS}
	out.Priority = ranker.Rank(&j, s.now).Priority
}

// checkAccount refuses a change to an account or QOS that the job's user may not
// use.
func (u *jobUpdate) checkAccount() error {
	account, qos := u.job.Account, u.job.QOS
	if u.cmd.Account == nil && u.cmd.QOS == nil {
		if u.job.Request.Reservation != u.request.Reservation {
			return u.checkReserved(&u.request, qos)
		}
		return nil
	}
	if u.cmd.Account != nil {
		account = *u.cmd.Account
	}
	if u.cmd.QOS != nil {
		qos = *u.cmd.QOS
	}
	u.owner = *u.job.Owner
	if err := u.settleAccount(&u.request, &account, &qos); err != nil {
		return err
	}
	if u.cmd.Account != nil {
		u.cmd.Account = &account
	}
	if u.cmd.QOS != nil {
		u.cmd.QOS = &qos
	}
	return nil
}
