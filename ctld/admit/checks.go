package admit

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
	"muster/partition"
)

// Bounds on single values of a request.
const (
	maxName  = 1024      // names of jobs, accounts and alike, in bytes
	maxPath  = 4096      // directories and file names
	maxArgs  = 128 << 10 // all arguments of the script together
	maxCount = 1 << 31   // tasks, CPUs
)

// checkText bounds the texts of a request and refuses bytes that no line of
// output could hold.
func (s *submission) checkText(q *job.Request) error {
	b := &q.Batch
	for _, t := range []struct{ what, text string }{
		{"job name", q.Name}, {"QOS", q.QOS}, {"workload key", q.WCKey}, {"reservation", q.Reservation},
		{"mail user", q.Mail.User}, {"host name", b.SubmitHost},
	} {
		if len(t.text) > maxName {
			return &api.Error{Kind: api.ErrInvalid, Text: slurm.TextTooLong, Hint: fmt.Sprintf("the %s has more than %d bytes", t.what, maxName)}
		}
		if strings.ContainsAny(t.text, "\x00\n") {
			return invalid(fmt.Sprintf("The %s has a line break in it", t.what))
		}
	}
	for _, t := range []struct{ what, text string }{
		{"working directory", b.WorkDir}, {"output file", b.Stdout}, {"error file", b.Stderr}, {"input file", b.Stdin},
		{"submit directory", b.SubmitDir}, {"script's path", b.Command},
	} {
		if len(t.text) > maxPath || strings.ContainsRune(t.text, 0) {
			return invalid(fmt.Sprintf("The %s is longer than %d bytes or has a NUL byte in it", t.what, maxPath))
		}
	}
	if !slurm.ValidMailUser(q.Mail.User) {
		return invalid("The mail user must not begin with - nor have blanks or control characters in it")
	}
	if strings.HasPrefix(q.WCKey, "*") {
		return invalid(slurm.TextWCKey)
	}
	for _, text := range []string{q.Account, q.Comment, q.Extra, strings.Join(q.Partitions, ",")} {
		if len(text) > maxName {
			return invalid(slurm.TextTooLong)
		}
	}
	if !path.IsAbs(b.WorkDir) {
		return invalid(fmt.Sprintf("The working directory %q is no absolute path", b.WorkDir))
	}
	size := 0
	for _, a := range b.Args {
		if size += len(a) + 1; size > maxArgs || strings.ContainsRune(a, 0) {
			return invalid(fmt.Sprintf("The script's arguments have more than %d bytes or a NUL byte in them", maxArgs))
		}
	}
	return nil
}

// checkNumbers checks counts against each other and against what users may ask.
func (s *submission) checkNumbers(q *job.Request) error {
	z := &q.Size
	tasks := uint64(max(1, z.Tasks, z.MinNodes))
	switch {
	case z.MaxNodes != 0 && z.MaxNodes < z.MinNodes, z.MinNodes > 1<<20, z.MaxNodes > 1<<20:
		return invalid(slurm.TextNodeCount)
	case tasks*uint64(max(1, z.CPUsPerTask))*uint64(max(1, z.TasksPerNode)) >= maxCount*1024, z.Tasks >= maxCount:
		return invalid(slurm.TextNodeConfig)
	case q.Nice < 0 && !s.byOperator():
		return invalid(slurm.TextNice)
	case q.Signal.Resv && s.cluster.Policy.Preempt.Type == "":
		return invalid(slurm.TextNoPreemption) // the signal is for jobs that make room for a reservation
	case q.Memory.MB > 1<<40, q.Place.TmpDiskMB > 1<<40:
		return invalid(slurm.TextNodeConfig)
	case q.Timing.Deadline != 0 && !s.endsInTime(q):
		return invalid(slurm.TextTimeLimit)
	case q.Timing.Begin < 0 || q.Timing.Deadline < 0:
		return invalid(slurm.TextTimeLimit)
	}
	for i, n := range z.NodeCounts {
		if n == 0 || i > 0 && n <= z.NodeCounts[i-1] {
			return invalid(slurm.TextNodeCount)
		}
	}
	return nil
}

// checkTimeMin: the least time that will do is no more than the limit, which may
// be the partition's default.
func (s *submission) checkTimeMin(q *job.Request) error {
	if q.Timing.MinLimit == 0 {
		return nil
	}
	limit := q.Timing.Limit
	if limit == 0 {
		if p := s.root.Partition(q.Partitions[0]); p != nil {
			limit = p.Limit(q)
		}
	}
	if limit != 0 && q.Timing.MinLimit > limit {
		return invalid(slurm.TextTimeMin)
	}
	return nil
}

// checkDevices: every kind of device that is asked for must exist somewhere.
func (s *submission) checkDevices(q *job.Request) error {
	known := make(map[string]bool)
	for _, spec := range []gres.Spec{q.Gres.PerNode, q.Gres.PerJob, q.Gres.PerSocket, q.Gres.PerTask} {
		if len(spec) == 0 {
			continue
		}
		if len(known) == 0 {
			s.deviceNames(known)
		}
		for _, item := range spec {
			if !known[item.Name] {
				return &api.Error{Kind: api.ErrInvalid, Text: gres.ErrorText, Hint: fmt.Sprintf("no node of this cluster has %q", item.Name)}
			}
		}
	}
	return nil
}

// deviceNames adds the names of all kinds of device in the cluster.
func (s *submission) deviceNames(known map[string]bool) {
	known[""] = true // so that it is filled once only
	for n := range s.root.Nodes() {
		for _, k := range n.Gres.Kinds() {
			known[k.Name] = true
		}
	}
	delete(known, "")
}

func (s *submission) checkLicenses(q *job.Request) error {
	l, err := partition.ParseLicenses(q.Licenses)
	if err != nil {
		return hinted(slurm.TextLicense, err)
	}
	err = l.Check(q.Licenses, func(name string) uint32 {
		for _, have := range s.cluster.Licenses {
			if have.Name == name {
				return have.Total
			}
		}
		return 0
	})
	if err != nil {
		return hinted(slurm.TextLicense, err)
	}
	return nil
}

// hinted is a refusal in Slurm's words with ours as a hint.
func hinted(text string, why error) error {
	return &api.Error{Kind: api.ErrInvalid, Text: text, Hint: strings.TrimPrefix(why.Error(), text+": ")}
}

// featureLists yields --constraint and --prefer with Slurm's refusals of them.
func featureLists(q *job.Request) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_ = yield(q.Place.Constraint, slurm.TextFeature) && yield(q.Place.Prefer, slurm.TextPrefer)
	}
}

// checkFeatures: a constraint must be readable and speak of features that nodes
// have.
func (s *submission) checkFeatures(q *job.Request) error {
	for text, refusal := range featureLists(q) {
		if text == "" {
			continue
		}
		f, err := partition.ParseFeatures(text)
		if err != nil {
			return hinted(refusal, err)
		}
		for _, name := range f.Names() {
			if !s.hasFeature(name) {
				return &api.Error{Kind: api.ErrInvalid, Text: refusal, Hint: fmt.Sprintf("no node has the feature %q", name)}
			}
		}
	}
	return nil
}

func (s *submission) hasFeature(name string) bool {
	for n := range s.root.Nodes() {
		for _, f := range n.Features {
			if f == name {
				return true
			}
		}
	}
	return false
}

// checkNodes: nodes that are named must exist, and none both required and excluded.
func (s *submission) checkNodes(q *job.Request) error {
	for _, list := range [][]string{q.Place.Nodes, q.Place.Exclude} {
		for _, name := range list {
			if s.root.NodeNamed(name) == nil {
				return &api.Error{Kind: api.ErrInvalid, Text: slurm.TextNodeName, Hint: fmt.Sprintf("there is no node %q", name)}
			}
		}
	}
	for _, name := range q.Place.Nodes {
		if slices.Contains(q.Place.Exclude, name) {
			return &api.Error{Kind: api.ErrInvalid, Text: slurm.TextNodeName, Hint: fmt.Sprintf("node %s is both required and excluded", name)}
		}
	}
	return nil
}

// checkReservation: at least one of the reservations must let the user in.
func (s *submission) checkReservation(q *job.Request, account string) error {
	if q.Reservation == "" {
		return nil
	}
	for name := range strings.SplitSeq(q.Reservation, ",") {
		r := s.root.Reservation(name)
		switch {
		case r == nil:
			return invalid(slurm.TextReservation)
		case !s.byRoot() && !r.MayUse(s.owner.User, account):
			return denied(slurm.TextReservationUse)
		}
	}
	return nil
}

// endsInTime tells whether a job that starts as soon as it may can end before
// its deadline, with the least time that it asks for.
func (s *submission) endsInTime(q *job.Request) bool {
	t := &q.Timing
	least := t.Limit
	if t.MinLimit != 0 {
		least = t.MinLimit
	}
	if least == 0 && len(q.Partitions) > 0 {
		if p := s.root.Partition(q.Partitions[0]); p != nil {
			least = p.DefaultTime
		}
	}
	start := max(s.now, t.Begin)
	if least == 0 || least == job.Unlimited {
		return start < t.Deadline
	}
	return start+job.Time(least)*60_000 <= t.Deadline
}
