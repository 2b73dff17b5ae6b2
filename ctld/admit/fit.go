package admit

import (
	"fmt"
	"slices"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
	"muster/partition"
)

// textPartitionLimits is Slurm's refusal of a request beyond a partition's
// limits where those are enforced at submission.
const textPartitionLimits = "Requested partition configuration not available now"

// checkPartitions: every partition must exist, be open to the user and take new
// jobs; some partition must have nodes that could run the job when empty. A held
// job is not placed yet: it may be changed before it is released.
func (s *submission) checkPartitions(q *job.Request, account, qos string) error {
	if len(q.Partitions) == 0 {
		return &api.Error{Kind: api.ErrInvalid, Text: "No partition specified or system default partition",
			Hint: "name one with --partition, or mark one as default in the cluster file"}
	}
	who := &partition.Asker{UID: s.owner.UID, Account: account, QOS: qos, Groups: s.owner.GroupNames}
	var refusals []error
	q.Size.LikelyNodes = 0
	for _, name := range q.Partitions {
		p := s.root.Partition(name)
		if p == nil {
			return invalid("invalid partition specified: " + name + "\n" + slurm.TextPartition)
		}
		if !p.Accepts() {
			return invalid(slurm.TextPartitionDown)
		}
		refused, err := s.permit(q, p, who)
		if err != nil {
			return err
		}
		if refused == nil && !s.held {
			var nodes int
			if nodes, refused = s.couldRun(q, p); q.Size.LikelyNodes == 0 {
				q.Size.LikelyNodes = uint32(nodes)
			}
		}
		if refused != nil {
			refusals = append(refusals, refused)
		}
	}
	if len(refusals) == len(q.Partitions) || len(refusals) > 0 && s.cluster.Policy.EnforcePartLimits == "ALL" {
		return refusals[0]
	}
	return nil
}

// permit judges the partition's rules. The first result is a refusal by this
// partition alone, the error one of the whole job.
func (s *submission) permit(q *job.Request, p *partition.Partition, who *partition.Asker) (refused, err error) {
	reason, detail := p.Permit(q, who)
	enforce := s.cluster.Policy.EnforcePartLimits
	lenient := enforce == "" || enforce == "NO" // the job waits, and says why
	switch reason {
	case job.ReasonNone:
		return nil, nil
	case job.ReasonPartitionConfig:
		if p.AdmitsGroups(who) {
			break
		}
		if lenient {
			return nil, nil
		}
		return &api.Error{Kind: api.ErrDenied, Text: slurm.TextGroup, Hint: detail}, nil
	case job.ReasonAccountNotAllowed, job.ReasonQOSNotAllowed:
		if lenient {
			return nil, nil
		}
	case job.ReasonPartitionNodeLimit, job.ReasonPartitionTimeLimit:
		if lenient {
			s.notNow()
			return nil, nil
		}
	}
	switch reason {
	case job.ReasonAccountNotAllowed:
		return nil, &api.Error{Kind: api.ErrDenied, Text: "Job's account not permitted to use this partition (" + detail + ")"}
	case job.ReasonQOSNotAllowed:
		return nil, &api.Error{Kind: api.ErrDenied, Text: "Job's QOS not permitted to use this partition (" + detail + ")"}
	case job.ReasonPartitionNodeLimit, job.ReasonPartitionTimeLimit:
		text := textPartitionLimits
		if reason == job.ReasonPartitionTimeLimit {
			text = slurm.TextTimeLimit
		}
		return &api.Error{Kind: api.ErrInvalid, Text: text, Hint: detail}, nil
	case job.ReasonReservation:
		return &api.Error{Kind: api.ErrDenied, Text: slurm.TextReservation, Hint: detail}, nil
	}
	return &api.Error{Kind: api.ErrDenied, Text: slurm.TextDenied, Hint: detail}, nil
}

// notNow tells who asks for an allocation and waits for it that the partition as it is
// will not give it. A batch job's owner is not there to read it.
func (s *submission) notNow() {
	if s.r.Method == api.MethodAllocate && !slices.Contains(s.notes, textPartitionLimits) {
		s.notes = append(s.notes, textPartitionLimits)
	}
}

// couldRun tells whether the partition's nodes, all empty and up, could run the
// job, and how many it would take; 0 is not known. More nodes or tasks than the
// partition has are let in: the partition may grow, and the job says why it waits.
func (s *submission) couldRun(q *job.Request, p *partition.Partition) (nodes int, refused error) {
	need := partition.NewNeed(q, p, &s.cluster.Policy)
	if need.MinNodes > len(p.Nodes) {
		s.notNow()
		return 0, nil
	}
	hosts, missing := s.candidates(q, p)
	if missing != "" && s.shaped(q, p) {
		return 0, s.tooMuch(need, nil, true)
	}
	if missing != "" {
		return 0, &api.Error{Kind: api.ErrInvalid, Text: slurm.TextNodeConfig, Hint: fmt.Sprintf("node %s is not in partition %s", missing, p.Name)}
	}
	counted, refused := countedNodes(q, hosts)
	if refused != nil {
		return 0, refused
	}
	var placer partition.Placer
	if placed, _, ok := placer.Place(need, hosts); ok {
		return max(len(placed), counted), nil
	}
	if need.MaxNodes == 0 && need.Tasks > need.MinNodes {
		small := *need
		small.Tasks = need.MinNodes
		if _, _, ok := placer.Place(&small, hosts); ok {
			s.notNow()
			return 0, nil
		}
	}
	return 0, s.tooMuch(need, hosts, len(hosts) == 0 && s.shaped(q, p))
}

// countedNodes is how many nodes the counts of --constraint ask for, each of
// which so many of the hosts must meet.
func countedNodes(q *job.Request, hosts []partition.Candidate) (nodes int, refused error) {
	f, err := partition.ParseFeatures(q.Place.Constraint)
	if err != nil {
		return 0, hinted(slurm.TextFeature, err)
	}
	for i := range f.Groups {
		g, have := &f.Groups[i], 0
		for k := range hosts {
			if g.Expr.Matches(hosts[k].Host.Node.FeaturesOf()) {
				have++
			}
		}
		if have < g.Count {
			return 0, &api.Error{Kind: api.ErrInvalid, Text: slurm.TextNodeConfig, Hint: fmt.Sprintf("of %d nodes wanted by --constraint=%s there are %d", g.Count, q.Place.Constraint, have)}
		}
		nodes += g.Count
	}
	return nodes, nil
}

// tooMuch says what of a request no node has.
func (s *submission) tooMuch(need *partition.Need, hosts []partition.Candidate, shapeless bool) error {
	var cpus int
	var memory int64
	for _, h := range hosts {
		cpus = max(cpus, h.Free.Cores*h.Host.Threads)
		memory = max(memory, h.Free.MemoryMB)
	}
	text := slurm.TextNodeConfig
	switch {
	case len(hosts) == 0 && shapeless:
		text = "Socket, core and/or thread specification can not be satisfied\n" + text
	case len(hosts) == 0:
	case int64(leastMemory(need)) > memory:
		text = "Memory specification can not be satisfied\n" + text
	case max(need.CPUsPerTask*max(need.PerNode, 1), need.MinCPUs) > cpus:
		text = "CPU count per node can not be satisfied\n" + text
	}
	return invalid(text)
}

// leastMemory is the least that a node must have for the job, in MB.
func leastMemory(need *partition.Need) uint64 {
	switch need.Memory.Per {
	case job.MemoryPerNode:
		return need.Memory.MB
	case job.MemoryPerCPU:
		return need.Memory.MB * uint64(max(need.CPUsPerTask, 1))
	}
	return 0
}

// shaped tells whether the job asks for a shape that no node of a partition has.
func (s *submission) shaped(q *job.Request, p *partition.Partition) bool {
	bare := *q
	bare.Size.SocketsPerNode, bare.Size.CoresPerSocket, bare.Size.ThreadsPerCore = 0, 0, 0
	for _, id := range p.Nodes {
		if n := s.root.Node(id); n != nil {
			h := partition.NewHost(n)
			if partition.Suits(&bare, h) && !partition.Suits(q, h) {
				return true
			}
		}
	}
	return false
}

// candidates are the nodes of a partition that the request does not rule out, as
// if they were empty. missing is a node of --nodelist that is none of them.
func (s *submission) candidates(q *job.Request, p *partition.Partition) (hosts []partition.Candidate, missing string) {
	var features *partition.Features
	if q.Place.Constraint != "" {
		features, _ = partition.ParseFeatures(q.Place.Constraint) // was read before
	}
	found, picks := make(map[string]bool), partition.PicksNodes(q)
	for i, id := range p.Nodes {
		n := s.root.Node(id)
		if n == nil || slices.Contains(q.Place.Exclude, n.Name) {
			continue
		}
		h := partition.NewHost(n)
		if !partition.Suits(q, h) || features != nil && !mayMatch(features, n.FeaturesOf()) {
			continue
		}
		required := slices.Contains(q.Place.Nodes, n.Name)
		if picks && !required {
			continue
		}
		found[n.Name] = required
		hosts = append(hosts, partition.Candidate{Host: h, Free: h.All(), Index: i, Required: required && !picks})
	}
	for _, name := range q.Place.Nodes {
		if !picks && !found[name] {
			return hosts, name
		}
	}
	return hosts, ""
}

// nodeNames lists the names of chosen candidates.
func nodeNames(hosts []partition.Candidate, placed []partition.Placed) []string {
	var names []string
	for _, p := range placed {
		names = append(names, hosts[p.At].Host.Node.Name)
	}
	return names
}

// mayMatch tells whether a node could be one of those that meet a constraint.
func mayMatch(f *partition.Features, has []string) bool {
	if len(f.Groups) > 0 {
		return true // nodes outside the counted groups may have anything
	}
	for i := range f.Any {
		if f.Any[i].Matches(has) {
			return true
		}
	}
	return false
}
