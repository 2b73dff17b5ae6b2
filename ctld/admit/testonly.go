package admit

import (
	"cmp"
	"slices"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// maxReleases bounds how many ends of running jobs a test looks ahead to.
const maxReleases = 512

// willRun says when and where a job could start if nothing waited ahead of it:
// now, or once enough of the running jobs have reached their limit.
func (s *submission) willRun(n *state.NewJob) (api.TestResult, error) {
	for _, name := range n.Request.Partitions {
		p := s.root.Partition(name)
		if r, ok := s.willRunIn(&n.Request, p); ok {
			return r, nil
		}
	}
	return api.TestResult{}, invalid(slurm.TextNodeConfig)
}

func (s *submission) willRunIn(q *job.Request, p *partition.Partition) (api.TestResult, bool) {
	all, _ := s.candidates(q, p)
	hosts := slices.DeleteFunc(all, func(c partition.Candidate) bool { return !c.Host.Node.Available() })
	ends := s.occupy(hosts)
	need := partition.NewNeed(q, p, &s.cluster.Policy)
	start := max(s.now, q.Timing.Begin)
	var placer partition.Placer
	for i := 0; ; i++ {
		if placed, _, ok := placer.Place(need, hosts); ok {
			r := api.TestResult{Job: s.nextJob(), Start: start, Nodes: hostlist.Compress(nodeNames(hosts, placed)), Partition: p.Name}
			for _, one := range placed {
				r.CPUs += uint32(one.CPUs)
			}
			return r, true
		}
		if i == len(ends) || i == maxReleases {
			return api.TestResult{}, false
		}
		start = max(start, ends[i].Times.LimitEnd)
		s.release(hosts, ends[i])
	}
}

// occupy takes what running jobs hold off the hosts and lists these jobs, the
// first to end first; those without a limit never end.
func (s *submission) occupy(hosts []partition.Candidate) []*job.Job {
	var ends []*job.Job
	seen := make(map[job.ID]bool)
	for i := range hosts {
		h := &hosts[i]
		h.Free.Devices = slices.Clone(h.Free.Devices)
		for j := range s.root.OnNode(h.Host.Node.ID) {
			for k := range j.Alloc.Nodes {
				if share := &j.Alloc.Nodes[k]; share.Node == h.Host.Node.ID && !share.Released {
					addRoom(&h.Free, h.Host.Of(share), -1)
				}
			}
			if !seen[j.ID] && j.Times.LimitEnd != 0 {
				seen[j.ID] = true
				ends = append(ends, j)
			}
		}
	}
	slices.SortFunc(ends, func(a, b *job.Job) int {
		return cmp.Or(cmp.Compare(a.Times.LimitEnd, b.Times.LimitEnd), cmp.Compare(a.ID, b.ID))
	})
	return ends
}

// release gives back what a job holds.
func (s *submission) release(hosts []partition.Candidate, j *job.Job) {
	for i := range hosts {
		h := &hosts[i]
		for k := range j.Alloc.Nodes {
			if share := &j.Alloc.Nodes[k]; share.Node == h.Host.Node.ID && !share.Released {
				addRoom(&h.Free, h.Host.Of(share), 1)
			}
		}
	}
}

func addRoom(to *partition.Room, r partition.Room, sign int) {
	to.Cores += sign * r.Cores
	to.MemoryMB += int64(sign) * r.MemoryMB
	for i := range min(len(to.Devices), len(r.Devices)) {
		to.Devices[i] += int64(sign) * r.Devices[i]
	}
}

// nextJob is the id that the next job would probably get.
func (s *submission) nextJob() job.ID {
	var last job.ID
	for j := range s.root.Jobs() {
		last = j.ID
	}
	return last + 1
}
