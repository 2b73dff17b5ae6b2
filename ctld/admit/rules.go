package admit

import (
	"reflect"
	"slices"

	"muster/accounting"
	"muster/api"
	"muster/job"
	"muster/partition"
)

// asked is what the site's rules look at of a job. Account and QOS that the user left
// open count as those he would get, so that leaving them out is no way round a rule.
func (s *submission) asked(q *job.Request, account, qos string) *partition.Asked {
	account, qos = s.openAccount(q, account, qos)
	a := &partition.Asked{
		User: s.owner.User, Groups: append([]string{s.owner.Group}, s.owner.GroupNames...),
		Account: account, QOS: qos, Partitions: slices.Clone(q.Partitions),
		Devices: partition.DevicesAsked(&q.Gres), Nodes: partition.NodesAsked(q), Limit: q.Timing.Limit,
	}
	if a.Limit == 0 {
		for _, name := range q.Partitions {
			if p := s.root.Partition(name); p != nil {
				a.Limit = max(a.Limit, p.Limit(q))
			}
		}
	}
	return a
}

// openAccount fills in the account and QOS that a user left open.
func (s *submission) openAccount(q *job.Request, account, qos string) (string, string) {
	book := s.root.Book()
	if account == "" {
		if u := book.User(s.owner.User); u != nil {
			account = u.Default
		}
	}
	if qos == "" {
		if qos = book.DefaultOf(s.association(q, account)); qos == "" {
			qos = accounting.DefaultQOS
		}
	}
	return account, qos
}

// applyRules changes a request as the site's rules say, or refuses it with a rule's text.
// It runs on the leader, before the command is made.
func (s *submission) applyRules(q *job.Request) error {
	if len(s.cluster.Rules) == 0 {
		return nil
	}
	before := s.asked(q, q.Account, q.QOS)
	after := *before
	if r := partition.Judge(s.cluster.Rules, &after); r != nil {
		return denied(r.Refuse)
	}
	if !slices.Equal(before.Partitions, after.Partitions) {
		q.Partitions = after.Partitions
		if s.held {
			q.Partitions = onceEach(q.Partitions)
		} else {
			s.sortPartitions(q)
		}
	}
	if after.Account != before.Account {
		q.Account = after.Account
	}
	if after.QOS != before.QOS {
		q.QOS = after.QOS
	}
	return nil
}

// applyRules judges a change of a waiting job, if it changes what rules look at: a user
// can't submit what is allowed and make of it what is not. Root's changes stand.
func (u *jobUpdate) applyRules() error {
	if len(u.cluster.Rules) == 0 || u.byRoot() || u.job.State != job.Pending {
		return nil
	}
	account, qos := u.job.Account, u.job.QOS
	before := u.asked(u.job.Request, account, qos)
	if u.cmd.Account != nil {
		account = *u.cmd.Account
	}
	if u.cmd.QOS != nil {
		qos = *u.cmd.QOS
	}
	wanted := u.asked(&u.request, account, qos)
	if reflect.DeepEqual(before, wanted) {
		return nil
	}
	after := *wanted
	if r := partition.Judge(u.cluster.Rules, &after); r != nil {
		return &api.Error{Kind: api.ErrDenied, Text: r.Refuse}
	}
	if !slices.Equal(wanted.Partitions, after.Partitions) {
		u.request.Partitions, u.changed, u.placing = after.Partitions, true, true
		u.sortPartitions(&u.request)
	}
	if after.Account != wanted.Account {
		u.cmd.Account = &after.Account
	}
	if after.QOS != wanted.QOS {
		u.cmd.QOS = &after.QOS
	}
	return nil
}
