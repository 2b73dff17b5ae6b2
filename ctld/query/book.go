package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/ctld/treefile"
	"muster/job"
	"muster/sched"
	"muster/state"
)

// bookList answers sacctmgr show, sshare and sprio: tables of texts.
func bookList(_ context.Context, core service.Core, r *service.Request) error {
	var q api.TableQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	t := &tables{root: root, book: root.Book(), cluster: root.Cluster().Name}
	switch q.Entity {
	case "account":
		t.accounts()
	case "user":
		t.users()
	case "assoc":
		t.assocs()
	case "qos":
		t.qos()
	case "cluster":
		t.clusters(core)
	case "tres":
		t.tres()
	case "dump":
		if keptFrom(root, r, "users") || keptFrom(root, r, "accounts") {
			return &api.Error{Kind: api.ErrDenied, Text: "the accounts are private here (PrivateData): only an operator may dump them"}
		}
		t.dump()
	case "share":
		t.shares()
	case "priority":
		t.priorities(max(core.Now(), root.Now()), visible(root, r))
	case "weight":
		t.weights()
	default:
		return api.Errorf(api.ErrInvalid, "there is no table %q", q.Entity)
	}
	t.hide(q.Entity, r)
	return send(r, &t.out)
}

// hide leaves a user his own rows where PrivateData keeps those of others from him.
func (t *tables) hide(entity string, r *service.Request) {
	word := map[string]string{"account": "accounts", "user": "users", "assoc": "users", "share": "usage"}[entity]
	if word == "" || !keptFrom(t.root, r, word) {
		return
	}
	var own []string
	for _, a := range t.book.OfUser(r.Caller.User) {
		own = append(own, a.Account)
	}
	user, account := slices.Index(t.out.Fields, "user"), slices.Index(t.out.Fields, "account")
	t.out.Rows = slices.DeleteFunc(t.out.Rows, func(row api.TableRow) bool {
		if user >= 0 && row.Values[user] != "" {
			return row.Values[user] != r.Caller.User
		}
		return account >= 0 && !slices.Contains(own, row.Values[account])
	})
}

// tables makes one table.
type tables struct {
	root    *state.Root
	book    *accounting.Book
	cluster string
	out     api.Table
}

func (t *tables) fields(names string) { t.out.Fields = strings.Fields(names) }

func (t *tables) row(values ...string) {
	t.out.Rows = append(t.out.Rows, api.TableRow{Values: values})
}

func (t *tables) accounts() {
	t.fields("account descr org coord")
	by := t.coordinators()
	for _, a := range t.book.Accounts {
		t.row(a.Name, a.Description, a.Organization, strings.Join(by[a.Name], ","))
	}
}

// coordinators lists, by account, who coordinates it or one above it.
func (t *tables) coordinators() map[string][]string {
	out := make(map[string][]string)
	var visit func(account string, above []string)
	visit = func(account string, above []string) {
		if a := t.book.Account(account); a != nil && len(a.Coordinators) > 0 {
			above = slices.Concat(above, a.Coordinators)
			slices.Sort(above)
			above = slices.Compact(above)
		}
		out[account] = above
		for _, b := range t.book.Below(account) {
			if b.User == "" {
				visit(b.Account, above)
			}
		}
	}
	if slices.ContainsFunc(t.book.Accounts, func(a *accounting.Account) bool { return len(a.Coordinators) > 0 }) {
		visit(accounting.RootAccount, nil)
	}
	return out
}

func (t *tables) users() {
	t.fields("user defaccount adminlevel coord")
	accounts := make(map[string][]string)
	by := t.coordinators()
	for _, a := range t.book.Accounts {
		for _, user := range by[a.Name] {
			accounts[user] = append(accounts[user], a.Name)
		}
	}
	for _, u := range t.book.Users {
		t.row(u.Name, u.Default, u.Admin.String(), strings.Join(accounts[u.Name], ","))
	}
}

// walk visits the tree from the top: an account, its users, what is below it.
func (t *tables) walk(a *accounting.Association, depth int, visit func(*accounting.Association, int)) {
	if a == nil || depth > len(t.book.Assocs) {
		return
	}
	visit(a, depth)
	if a.User != "" {
		return
	}
	for _, b := range t.book.Below(a.Account) {
		t.walk(b, depth+1, visit)
	}
}

func (t *tables) top() *accounting.Association {
	return t.book.Assoc(accounting.RootAccount, "", "")
}

func (t *tables) assocs() {
	t.fields("cluster account user partition share priority grpjobs grptres grpsubmit maxjobs maxtres maxsubmit maxwall grptresmins grpwall maxtresmins qos defaultqos depth parentname defaccount adminlevel")
	t.walk(t.top(), 0, func(a *accounting.Association, depth int) {
		l := t.book.Effective(a)
		def, admin := "", ""
		if u := t.book.User(a.User); u != nil {
			def, admin = u.Default, u.Admin.String()
		}
		t.row(t.cluster, a.Account, a.User, a.Partition, shares(a), bound(a.Priority), bound(l.GrpJobs), treefile.Amounts(l.GrpTRES), bound(l.GrpSubmit),
			bound(l.MaxJobs), treefile.Amounts(l.MaxTRES), bound(l.MaxSubmit), wall(l.MaxWall), treefile.Amounts(l.GrpTRESMins), wall(l.GrpWall), treefile.Amounts(l.MaxTRESMins), strings.Join(t.book.Allowed(a), ","), a.Default, strconv.Itoa(depth), a.Parent, def, admin)
	})
}

func (t *tables) qos() {
	t.fields("name priority gracetime preemptmode preempt preemptexempttime usagefactor flags grptres grpjobs grpsubmit maxtres maxwall maxtrespu maxjobspu maxsubmitpu maxtrespa maxjobspa maxsubmitpa mintres grptresmins grpwall maxtresmins description")
	for _, q := range t.book.QOS {
		l := &q.Limits
		t.row(q.Name, strconv.Itoa(int(q.Priority)), clock(uint64(q.GraceTime)), cmp.Or(strings.ToLower(q.PreemptMode.String()), "cluster"), strings.Join(q.Preempt, ","), exempt(q), usageFactor(q), q.Flags.String(), treefile.Amounts(l.GrpTRES), bound(l.GrpJobs), bound(l.GrpSubmit), treefile.Amounts(l.MaxTRES), wall(l.MaxWall),
			treefile.Amounts(q.PerUser.TRES), bound(q.PerUser.Jobs), bound(q.PerUser.Submit), treefile.Amounts(q.PerAccount.TRES), bound(q.PerAccount.Jobs), bound(q.PerAccount.Submit), treefile.Amounts(q.MinTRES), treefile.Amounts(l.GrpTRESMins), wall(l.GrpWall), treefile.Amounts(l.MaxTRESMins), q.Description)
	}
}

// dump is the file of sacctmgr dump, a row for each line.
func (t *tables) dump() {
	t.fields("line")
	for _, l := range treefile.Lines(t.book, t.cluster) {
		t.row(l.String())
	}
}

// usageFactor is the factor with six decimals.
func usageFactor(q *accounting.QOS) string {
	n, ok := q.UsageFactor.Get()
	if !ok {
		n = 1000
	}
	return fmt.Sprintf("%d.%03d000", n/1000, n%1000)
}

func (t *tables) clusters(core service.Core) {
	t.fields("cluster controlhost controlport share qos defaultqos")
	host, port := "", ""
	for _, c := range core.Controllers() {
		if c.Leader {
			host, port, _ = strings.Cut(c.Address, ":")
		}
	}
	top := t.top()
	if top == nil {
		top = &accounting.Association{Shares: 1}
	}
	t.row(t.cluster, host, port, shares(top), strings.Join(t.book.Allowed(top), ","), top.Default)
}

func (t *tables) tres() {
	t.fields("type name id")
	for i, full := range t.tresNames() {
		family, kind, _ := strings.Cut(full, "/")
		id := i + 1
		if id > builtinTRES {
			id += 1000 - builtinTRES
		}
		t.row(family, kind, strconv.Itoa(id))
	}
}

// builtinTRES is how many resources every cluster has.
const builtinTRES = 8

// tresNames lists the resources of the cluster: those of every cluster, then devices
// and licences by name.
func (t *tables) tresNames() []string {
	names := []string{"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"}
	var kinds []string
	for n := range t.root.Nodes() {
		for _, d := range n.Gres.Devices {
			kinds = append(kinds, "gres/"+d.Name)
		}
		for _, c := range n.Gres.Counts {
			kinds = append(kinds, "gres/"+c.Name)
		}
	}
	slices.Sort(kinds)
	names = append(names, slices.Compact(kinds)...)
	for _, l := range t.root.Cluster().Licenses {
		names = append(names, "license/"+l.Name)
	}
	return names
}

// priorities are the waiting jobs with the parts of their priority, of one user
// or, below 0, of all.
func (t *tables) priorities(now job.Time, only int64) {
	t.fields("jobid partition user account priority site age assoc fairshare jobsize partitionprio qosname qos nice nage nassoc nfairshare njobsize npartition nqos sluid cluster")
	ranker := service.Ranker(t.root)
	if ranker == nil {
		return
	}
	for j := range t.root.Waiting() {
		if only >= 0 && int64(j.Owner.UID) != only || j.Held.Is() || j.Times.Eligible == 0 || j.Times.Eligible > now {
			continue
		}
		f := ranker.Rank(j, now).Factors
		w := ranker.Weights
		part := func(factor uint64, weight uint32) string {
			return strconv.FormatUint(factor*uint64(weight)/sched.One, 10)
		}
		t.row(jobLabel(j), strings.Join(j.Request.Partitions, ","), j.Owner.User, j.Account, strconv.Itoa(int(j.Priority)), strconv.Itoa(int(j.Request.SitePriority)),
			part(f.Age, w.Age), part(f.Assoc, w.Assoc), part(f.FairShare, w.FairShare), part(f.JobSize, w.JobSize), part(f.Partition, w.Partition),
			j.QOS, part(f.QOS, w.QOS), strconv.Itoa(int(j.Request.Nice)),
			decimal(f.Age), decimal(f.Assoc), decimal(f.FairShare), decimal(f.JobSize), decimal(f.Partition), decimal(f.QOS),
			strconv.FormatUint(j.SLUID, 10), t.root.Cluster().Name)
	}
}

// jobLabel is the job's number, with the task for one of an array.
func jobLabel(j *job.Job) string {
	if j.Array.JobID != 0 && j.Array.Task != job.NoTask {
		return fmt.Sprintf("%d_%d", j.Array.JobID, j.Array.Task)
	}
	return strconv.Itoa(int(j.ID))
}

// decimal is a factor with seven decimals, as sprio prints it.
func decimal(n uint64) string { return fmt.Sprintf("%d.%06d0", n/sched.One, n%sched.One) }

func (t *tables) weights() {
	t.fields("site age assoc fairshare jobsize partitionprio qos")
	p := &t.root.Cluster().Policy.Priority
	n := func(w uint32) string { return strconv.FormatUint(uint64(w), 10) }
	t.row("1", n(p.Age), n(p.Assoc), n(p.FairShare), n(p.JobSize), n(p.Partition), n(p.QOS))
}

func shares(a *accounting.Association) string {
	if a.Shares == accounting.SharesOfParent {
		return "parent"
	}
	return strconv.FormatUint(uint64(a.Shares), 10)
}

func bound(b accounting.Bound) string {
	if n, ok := b.Get(); ok {
		return strconv.FormatUint(n, 10)
	}
	return ""
}

// clock prints seconds as hours, minutes and seconds.
func clock(s uint64) string { return string(slurm.AppendSpan(nil, int64(s))) }

// exempt prints the time that jobs of a QOS run before they may be preempted.
func exempt(q *accounting.QOS) string {
	if n, ok := q.Exempt.Get(); ok {
		return clock(n)
	}
	return ""
}

func wall(b accounting.Bound) string {
	n, ok := b.Get()
	if !ok {
		return ""
	}
	return string(slurm.AppendLimit(nil, job.Minutes(n)))
}
