package dispatch

import (
	"muster/api/pb"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// inlineBytes: smaller scripts and environments go with the launch; what is
// larger, or what the node was sent lately, it has or fetches by its hash.
const inlineBytes = 64 << 10

// sentBlobs remembers the last blobs that went to a node. Nodes keep at least
// as many.
type sentBlobs struct {
	last [32]job.Hash
	next int
}

// fresh tells whether a blob must be sent, and remembers it.
func (b *sentBlobs) fresh(h job.Hash) bool {
	for _, x := range b.last {
		if x == h {
			return false
		}
	}
	b.last[b.next] = h
	b.next = (b.next + 1) % len(b.last)
	return true
}

// inline is the content of a blob, or nil if the node does not need it now.
func (s *Session) inline(h job.Hash) []byte {
	if h == (job.Hash{}) || !s.sent.fresh(h) {
		return nil
	}
	data, err := s.d.cfg.Core.LocalBlob(h)
	if err != nil || len(data) > inlineBytes {
		return nil
	}
	return data
}

// launch is all that node n needs to run its share (number i) of a job.
func (s *Session) launch(root *state.Root, n *partition.Node, j *job.Job, i int) *pb.Launch {
	share := &j.Alloc.Nodes[i]
	l := &pb.Launch{
		Attempt: attemptOf(j), BootId: n.BootID, JournalId: n.Journal,
		Batch: runsScript(j, n.ID), NodeIndex: uint32(i),
		Uid: j.Owner.UID, Gid: j.Owner.GID, User: j.Owner.User, Group: j.Owner.Group, Groups: j.Owner.Groups,
		Info: info(root, j), Part: part(share), EndMs: s.endMS(root, j), StartMs: int64(j.Times.Start),
	}
	if sig := j.Request.Signal; sig.Number != 0 {
		l.Signal = &pb.SignalBefore{Number: uint32(sig.Number), BeforeS: uint32(sig.Before), Shell: sig.Shell}
	}
	if p := root.Cluster().Programs; p.Prolog != "" || p.Epilog != "" {
		l.Programs = &pb.Programs{Prolog: p.Prolog, Epilog: p.Epilog, TimeS: p.Time}
	}
	for k := range j.Alloc.Nodes {
		l.Nodes = append(l.Nodes, nodePart(root, &j.Alloc.Nodes[k]))
	}
	if l.Batch {
		b := &j.Request.Batch
		l.Script = &pb.Batch{Script: bytesOf(b.Script), Environment: bytesOf(b.Environment),
			ScriptData: s.inline(b.Script), EnvironmentData: s.inline(b.Environment)}
	}
	return l
}

// runsScript tells whether node n runs the job's batch script. That of a
// heterogeneous job runs in its first component alone: sbatch(1).
func runsScript(j *job.Job, n job.NodeID) bool {
	return j.Alloc.BatchNode == n && !j.Request.Interactive && j.Het.Offset == 0
}

func bytesOf(h job.Hash) []byte {
	if h == (job.Hash{}) {
		return nil
	}
	return h[:]
}

func info(root *state.Root, j *job.Job) *pb.JobInfo {
	r := j.Request
	in := &pb.JobInfo{
		Name: r.Name, Partition: j.Alloc.Partition, Account: j.Account, Qos: j.QOS, Reservation: j.Alloc.Reservation,
		ArrayJob: uint32(j.Array.JobID), ArrayTask: job.NoTask, Restarts: j.Attempt, Request: wire.Encode(nil, r),
		Licenses: r.Licenses, Sluid: j.SLUID, HetLeader: uint32(j.Het.Leader), HetOffset: j.Het.Offset,
	}
	if c := root.Cluster(); c != nil {
		in.Cluster, in.TimeZone = c.Name, c.TimeZone
	}
	if lead := root.Job(j.Het.Leader); lead != nil {
		for _, id := range lead.Het.IDs {
			in.Het = append(in.Het, hetPart(root, id))
		}
	}
	if j.Array.JobID != 0 {
		in.ArrayTask = j.Array.Task
	}
	if b := j.Array.Bounds; b != nil {
		in.ArrayCount, in.ArrayMin, in.ArrayMax, in.ArrayStep = b.Count, b.Min, b.Max, b.Step
	}
	return in
}

// hetPart is what the environment says of a component. One that has no
// allocation any more is named without nodes.
func hetPart(root *state.Root, id job.ID) *pb.HetPart {
	p := &pb.HetPart{Job: uint32(id)}
	j := root.Job(id)
	if j == nil {
		return p
	}
	p.Name, p.Account, p.Qos = j.Request.Name, j.Account, j.QOS
	if j.Alloc != nil {
		p.Partition = j.Alloc.Partition
		for k := range j.Alloc.Nodes {
			p.Nodes = append(p.Nodes, nodePart(root, &j.Alloc.Nodes[k]))
		}
	}
	return p
}

func nodePart(root *state.Root, share *job.Share) *pb.NodePart {
	p := &pb.NodePart{Name: share.Name, Cpus: share.CPUs, Tasks: share.Tasks}
	if n := root.Node(share.Node); n != nil && len(n.Address) > 0 {
		p.Address = n.Address[0]
	}
	return p
}

func part(share *job.Share) *pb.Part {
	p := &pb.Part{Cpus: share.CPUs, MemoryMb: share.MemoryMB, Whole: share.Whole}
	if share.Cores != nil {
		for c := range share.Cores.All {
			p.Cores = append(p.Cores, uint32(c))
		}
	}
	for i := range share.Devices {
		d := &share.Devices[i]
		pd := &pb.PartDevice{Name: d.Name, Type: d.Type, Count: d.Count}
		if d.Index != nil {
			for x := range d.Index.All {
				pd.Index = append(pd.Index, uint32(x))
			}
		}
		p.Devices = append(p.Devices, pd)
	}
	return p
}
