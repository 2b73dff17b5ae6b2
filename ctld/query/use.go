package query

import (
	"context"

	"muster/accounting"
	"muster/accounting/rollup"
	"muster/api"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// mostHours bounds the period that one call sums up: ten years.
const mostHours = 10 * 366 * 24

// use answers sreport and muster report.
func use(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.UseQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	if q.From >= q.To || q.From < 0 || (q.To-q.From)/3_600_000 > mostHours {
		return api.Errorf(api.ErrInvalid, "a period begins before it ends and has at most ten years")
	}
	u, err := core.Ledger().Use(ctx, q.From, q.To)
	if err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	reply := api.UseReply{
		Now: core.Now(), From: job.Time(u.From * 1000), To: job.Time(u.To * 1000),
		Cluster: root.Cluster().Name, Zone: root.Cluster().TimeZone, Accounts: accountTree(root.Book()),
	}
	own := ownUseOnly(root, r)
	for _, k := range u.Keys() {
		if !own || k.User == r.Caller.User {
			reply.Rows = append(reply.Rows, useRow(k, u.Sums[k]))
		}
	}
	for _, name := range u.Resources() {
		p := u.Parts(name)
		reply.Parts = append(reply.Parts, api.UseParts{Resource: name, Allocated: p.Allocated, Down: p.Down, PlannedDown: p.PlannedDown,
			Idle: p.Idle, Planned: p.Planned, Reported: p.Reported, Over: p.Over})
	}
	for i := range u.Events {
		e := &u.Events[i]
		reply.Events = append(reply.Events, api.UseEvent{Kind: e.Kind.String(), Name: e.Name, Reason: e.Reason, By: e.By,
			From: e.From, To: e.To, Has: useAmounts(e.Has), Nodes: e.Nodes})
	}
	return send(r, &reply)
}

// ownUseOnly tells whether PrivateData keeps the use of others from the caller.
func ownUseOnly(root *state.Root, r *service.Request) bool {
	return keptFrom(root, r, "usage")
}

func useRow(k rollup.Key, s *rollup.Sum) api.UseRow {
	return api.UseRow{Account: k.Account, User: k.User, Partition: k.Partition, QOS: k.QOS, WCKey: k.WCKey, Reservation: k.Reservation,
		Held: useAmounts(s.Held), Done: api.UseDone(s.Done)}
}

func useAmounts(l accounting.Amounts) []api.UseAmount {
	out := make([]api.UseAmount, len(l))
	for i, a := range l {
		out[i] = api.UseAmount{Name: a.Name, Seconds: a.Count}
	}
	return out
}

// accountTree lists the accounts, each after the one above it.
func accountTree(b *accounting.Book) []api.UseAccount {
	var out []api.UseAccount
	var walk func(name, parent string)
	walk = func(name, parent string) {
		out = append(out, api.UseAccount{Name: name, Parent: parent})
		for _, a := range b.Below(name) {
			if a.User == "" {
				walk(a.Account, name)
			}
		}
	}
	if b.Serial > 0 {
		walk(accounting.RootAccount, "")
	}
	return out
}
