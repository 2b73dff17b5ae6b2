package admit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
)

// isField tells whether a word names a field, with its least abbreviation.
func isField(word, name string, least int) bool {
	return len(word) >= least && strings.HasPrefix(name, word)
}

// fullName is the name of a QOS option as sacctmgr prints it.
func fullName(word string) string {
	for _, name := range []string{"Flags", "Priority", "GrpJobs", "GrpSubmitJobs", "GrpTRES", "MaxWall", "MaxTRESPerUser", "MaxTRESPerAccount",
		"MaxJobsPerUser", "MaxJobsPerAccount", "MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount", "MaxTRESPerJob", "MinTRESPerJob"} {
		if strings.EqualFold(name, word) {
			return name
		}
	}
	return word
}

// setLimit sets a limit that associations and QOS both have; ok is false if the
// word is none of them.
func setLimit(l *accounting.Limits, p api.Pair) (ok bool, err error) {
	switch p.Name {
	case "grpjobs", "grpjob":
		return true, setBound(&l.GrpJobs, p)
	case "grpsubmit", "grpsubmitjobs", "grpsubmitjob":
		return true, setBound(&l.GrpSubmit, p)
	case "grptres":
		return true, setAmounts(&l.GrpTRES, p)
	case "grpcpus", "grpcpu":
		return true, setAmounts(&l.GrpTRES, api.Pair{Name: p.Name, Value: "cpu=" + p.Value})
	case "grpnodes", "grpnode":
		return true, setAmounts(&l.GrpTRES, api.Pair{Name: p.Name, Value: "node=" + p.Value})
	case "maxtres", "maxtresperjob", "maxtrespj":
		return true, setAmounts(&l.MaxTRES, p)
	case "maxcpus", "maxcpusperjob":
		return true, setAmounts(&l.MaxTRES, api.Pair{Name: p.Name, Value: "cpu=" + p.Value})
	case "maxnodes", "maxnodesperjob":
		return true, setAmounts(&l.MaxTRES, api.Pair{Name: p.Name, Value: "node=" + p.Value})
	case "grptresmins", "grptresmin":
		return true, setAmounts(&l.GrpTRESMins, p)
	case "grpcpumins", "grpcpumin":
		return true, setAmounts(&l.GrpTRESMins, api.Pair{Name: p.Name, Value: "cpu=" + p.Value})
	case "grpwall":
		return true, setWall(&l.GrpWall, p)
	case "maxtresmins", "maxtresminsperjob", "maxtresminspj":
		return true, setAmounts(&l.MaxTRESMins, p)
	case "maxcpumins", "maxcpuminsperjob":
		return true, setAmounts(&l.MaxTRESMins, api.Pair{Name: p.Name, Value: "cpu=" + p.Value})
	case "maxwall", "maxwalldurationperjob", "maxwallduration":
		return true, setWall(&l.MaxWall, p)
	}
	return false, nil
}

// setAssoc sets a field of an association.
func (b *bookChange) setAssoc(a *accounting.Association, p api.Pair) error {
	if ok, err := setLimit(&a.Limits, p); ok {
		return err
	}
	switch p.Name {
	case "maxjobs", "maxjob":
		return setBound(&a.Limits.MaxJobs, p)
	case "maxsubmit", "maxsubmitjobs", "maxsubmitjob":
		return setBound(&a.Limits.MaxSubmit, p)
	case "priority", "prio":
		return setBound(&a.Priority, p)
	case "fairshare", "share", "shares":
		return setShares(a, p)
	case "qos", "qoslevel":
		return b.setAllowed(a, p)
	case "defaultqos", "defqos":
		if a.Default = strings.ToLower(p.Value); a.Default == "-1" {
			a.Default = ""
		}
		return nil
	case "parent":
		if a.User == "" {
			a.Parent = strings.ToLower(p.Value)
			return nil
		}
	}
	return unknown(p)
}

func setShares(a *accounting.Association, p api.Pair) error {
	if strings.EqualFold(p.Value, "parent") {
		a.Shares = accounting.SharesOfParent
		return nil
	}
	n, err := strconv.ParseInt(p.Value, 10, 32)
	if err != nil || n < -1 {
		return value(p, errors.New("want a number of shares, or parent"))
	}
	a.Shares = uint32(max(n, 0))
	if n == -1 {
		a.Shares = 1
	}
	return nil
}

// setAllowed sets or changes the list of QOS.
func (b *bookChange) setAllowed(a *accounting.Association, p api.Pair) error {
	names := lower(p.Value)
	for _, n := range names {
		if b.book.QOSNamed(strings.TrimLeft(n, "+-")) == nil {
			var known []string
			for _, q := range b.book.QOS {
				known = append(known, q.Name)
			}
			return invalid(fmt.Sprintf("sacctmgr: error: You gave a bad qos '%s'. Valid QOS's are %s\n%s", n, strings.Join(known, ","), unknown(p)))
		}
	}
	if p.Op == "" {
		a.QOS = names
		return nil
	}
	list := slices.Clone(a.QOS)
	for _, n := range names {
		list = slices.DeleteFunc(list, func(s string) bool { return strings.TrimLeft(s, "+-") == n })
		relative := len(list) == 0 || strings.ContainsAny(list[0][:1], "+-")
		switch {
		case relative && (p.Op == "+" || slices.Contains(b.book.Allowed(b.book.Above(a)), n)):
			list = append(list, p.Op+n)
		case !relative && p.Op == "+":
			list = append(list, n)
		}
	}
	a.QOS = list
	return nil
}

func setAdmin(u *accounting.User, p api.Pair) error {
	switch level := strings.ToLower(p.Value); {
	case isField(level, "none", 1), level == "-1":
		u.Admin = accounting.AdminNone
	case isField(level, "operator", 1):
		u.Admin = accounting.Operator
	case isField(level, "administrator", 1):
		u.Admin = accounting.Administrator
	default:
		return value(p, errors.New("want None, Operator or Administrator"))
	}
	return nil
}

// setQOSField sets a field of a QOS.
func setQOSField(q *accounting.QOS, p api.Pair) error {
	if ok, err := setLimit(&q.Limits, p); ok {
		return err
	}
	switch p.Name {
	case "description", "descr", "desc":
		q.Description = p.Value
	case "priority", "prio":
		n, err := strconv.ParseUint(p.Value, 10, 31)
		if err != nil {
			return value(p, errors.New("want a number of 0 or more"))
		}
		q.Priority = uint32(n)
	case "flags", "flag":
		return setFlags(q, p)
	case "usagefactor":
		return setFactor(&q.UsageFactor, p)
	case "maxjobsperuser", "maxjobspu", "maxjobs":
		return setBound(&q.PerUser.Jobs, p)
	case "maxjobsperaccount", "maxjobspa":
		return setBound(&q.PerAccount.Jobs, p)
	case "maxsubmitjobsperuser", "maxsubmitjobspu", "maxsubmitpu", "maxsubmitjobs", "maxsubmit":
		return setBound(&q.PerUser.Submit, p)
	case "maxsubmitjobsperaccount", "maxsubmitjobspa", "maxsubmitpa":
		return setBound(&q.PerAccount.Submit, p)
	case "maxtresperuser", "maxtrespu":
		return setAmounts(&q.PerUser.TRES, p)
	case "maxtresperaccount", "maxtrespa":
		return setAmounts(&q.PerAccount.TRES, p)
	case "mintres", "mintresperjob", "mintrespj":
		return setAmounts(&q.MinTRES, p)
	case "preempt", "preempts", "preemptmode", "gracetime", "grace", "preemptexempttime", "preemptexempt":
		return setPreempt(q, p)
	default:
		return unknown(p)
	}
	return nil
}

// setFlags replaces the flags; with + or - it adds or takes away; -1 clears them.
func setFlags(q *accounting.QOS, p api.Pair) error {
	flags := q.Flags
	if p.Op == "" {
		flags = 0
	}
	for _, name := range lower(p.Value) {
		f := accounting.QOSFlag(name)
		switch {
		case name == "-1":
			flags = 0
		case f&^(accounting.DenyOnLimit|accounting.NoDecay|accounting.RequiresReservation|accounting.UsageFactorSafe) != 0:
			return value(p, fmt.Errorf("nothing acts on the flag %s yet", f))
		case f == 0:
			return invalid(fmt.Sprintf(" Unknown QOS flag used in:\n  '%s'\n Valid QOS flags are\n  'DenyOnLimit,EnforceUsageThreshold,PartitionMinNodes,PartitionMaxNodes,"+
				"PartitionTimeLimit,RequiresReservation,OverPartQOS,NoReserve,NoDecay,Relative,UsageFactorSafe'", p.Value))
		case p.Op == "-":
			flags &^= f
		default:
			flags |= f
		}
	}
	q.Flags = flags
	return nil
}

// setFactor reads a factor of at most three decimals; -1 sets it to 1.
func setFactor(b *accounting.Bound, p api.Pair) error {
	if p.Value == "-1" {
		*b = 0
		return nil
	}
	whole, rest, _ := strings.Cut(p.Value, ".")
	rest = strings.TrimRight(rest, "0")
	n, err := strconv.ParseUint(whole+(rest + "000")[:3], 10, 31)
	if err != nil || len(rest) > 3 || p.Op != "" {
		return value(p, errors.New("want a factor of at most three decimals, such as 0.5"))
	}
	*b = accounting.AtMost(n)
	return nil
}

// setBound reads a number; -1 removes the limit.
func setBound(b *accounting.Bound, p api.Pair) error {
	n, err := strconv.ParseInt(p.Value, 10, 32)
	if err != nil || n < -1 || p.Op != "" {
		return value(p, errors.New("want a number, or -1 for no limit"))
	}
	*b = 0
	if n >= 0 {
		*b = accounting.AtMost(uint64(n))
	}
	return nil
}

func setWall(b *accounting.Bound, p api.Pair) error {
	if p.Value == "-1" {
		*b = 0
		return nil
	}
	m, err := slurm.ParseTimeLimit(p.Value)
	if err != nil {
		return value(p, err)
	}
	*b = accounting.AtMost(uint64(m))
	return nil
}

// setAmounts reads a list such as cpu=4,gres/gpu=2; -1 removes one.
func setAmounts(l *accounting.Amounts, p api.Pair) error {
	if p.Value == "-1" || p.Value == "" {
		*l = nil
		return nil
	}
	next := *l
	for _, item := range lower(p.Value) {
		name, text, ok := strings.Cut(item, "=")
		family, _, named := strings.Cut(name, "/")
		switch {
		case !ok, named != (family == "gres" || family == "license"), !slices.Contains([]string{"cpu", "mem", "node", "billing", "gres", "license"}, family):
			return value(p, errors.New("want a list of cpu, mem, node, billing, gres/NAME or license/NAME with =COUNT"))
		case text == "-1":
			next = next.Without(name)
			continue
		}
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil && name == "mem" {
			n, err = slurm.ParseMegabytes(text)
		}
		if err != nil {
			return value(p, fmt.Errorf("%s: %q is no count", name, text))
		}
		next = next.With(name, n)
	}
	*l = next
	return nil
}
