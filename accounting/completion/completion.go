// Package completion writes the line that a job leaves when it has ended, for
// programs outside: what JobCompType of slurm.conf(5) is for.
package completion

import (
	"encoding/json"
	"fmt"

	"muster/internal/hostlist"
	"muster/job"
)

// line are the names and their order. Times are seconds since the epoch, 0 where
// it has not happened; what could not be measured is 0.
type line struct {
	Record      uint64            `json:"record"` // counts the records of the cluster: the same on all controllers
	Cluster     string            `json:"cluster"`
	JobID       job.ID            `json:"job_id"`
	ArrayJobID  job.ID            `json:"array_job_id,omitempty"`
	ArrayTaskID *uint32           `json:"array_task_id,omitempty"`
	HetJobID    job.ID            `json:"het_job_id,omitempty"`
	HetOffset   uint32            `json:"het_job_offset,omitempty"`
	Restarts    uint32            `json:"restart_cnt"`
	Name        string            `json:"name"`
	User        string            `json:"user"`
	UID         uint32            `json:"uid"`
	Account     string            `json:"account"`
	QOS         string            `json:"qos"`
	Partition   string            `json:"partition"`
	WCKey       string            `json:"wckey,omitempty"`
	Reservation string            `json:"reservation,omitempty"`
	State       string            `json:"state"`
	ExitCode    uint32            `json:"exit_code"`
	Signal      uint8             `json:"signal"`
	FailedNode  string            `json:"failed_node,omitempty"`
	Submit      int64             `json:"submit"`
	Eligible    int64             `json:"eligible"`
	Start       int64             `json:"start"`
	End         int64             `json:"end"`
	Limit       *uint32           `json:"time_limit_min"` // null: none, or not settled when it ended
	Nodes       string            `json:"nodes"`
	NodeCount   int               `json:"node_cnt"`
	CPUs        uint32            `json:"cpus"`
	MemoryMB    uint64            `json:"memory_mb"`
	Gres        map[string]uint64 `json:"gres,omitempty"`
	CPUSeconds  float64           `json:"cpu_seconds"` // user and system, all steps
	MaxRSSKB    uint64            `json:"max_rss_kb"`  // the highest of any step
	WorkDir     string            `json:"work_dir"`
	Comment     string            `json:"comment,omitempty"`
}

// Append writes the line of a job that has ended, with its line break. record is
// the number of its record in the ledger.
func Append(dst []byte, cluster string, record uint64, j *job.Job) ([]byte, error) {
	l := line{
		Record: record, Cluster: cluster, JobID: j.ID, HetJobID: j.Het.Leader, HetOffset: j.Het.Offset, Restarts: j.Attempt,
		User: j.Owner.User, UID: j.Owner.UID, Account: j.Account, QOS: j.QOS,
		State: job.Word(j.State, 0, false), ExitCode: j.End.ExitCode, Signal: j.End.Signal, FailedNode: j.End.FailedNode,
		Submit: j.Times.Submit.Unix(), Eligible: j.Times.Eligible.Unix(), Start: j.Times.Start.Unix(), End: j.Times.End.Unix(),
	}
	if a := &j.Array; a.JobID != 0 {
		l.ArrayJobID = a.JobID
		if a.Task != job.NoTask {
			l.ArrayTaskID = &a.Task
		}
	}
	if m := j.Times.Limit; m != job.Unlimited && m != 0 {
		n := uint32(m)
		l.Limit = &n
	}
	l.asked(j.Request)
	l.held(j.Alloc)
	l.used(j)
	b, err := json.Marshal(&l)
	if err != nil {
		return dst, fmt.Errorf("line of job %d: %w", j.ID, err)
	}
	return append(append(dst, b...), '\n'), nil
}

func (l *line) asked(q *job.Request) {
	if q == nil {
		return
	}
	l.Name, l.WCKey, l.Reservation, l.WorkDir, l.Comment = q.Name, q.WCKey, q.Reservation, q.Batch.WorkDir, q.Comment
	if len(q.Partitions) > 0 {
		l.Partition = q.Partitions[0]
	}
}

func (l *line) held(a *job.Allocation) {
	if a == nil {
		return
	}
	var names []string
	for i := range a.Nodes {
		n := &a.Nodes[i]
		names = append(names, n.Name)
		for _, d := range n.Devices {
			if l.Gres == nil {
				l.Gres = make(map[string]uint64)
			}
			name := d.Name
			if d.Type != "" {
				name += ":" + d.Type
			}
			l.Gres[name] += d.Count
		}
	}
	l.Nodes, l.NodeCount, l.CPUs, l.MemoryMB = hostlist.Compress(names), len(names), a.CPUs, a.MemoryMB
}

// used adds up what the script and the steps used.
func (l *line) used(j *job.Job) {
	micros, peak := j.End.Usage.UserUS+j.End.Usage.SystemUS, j.End.Usage.MaxRSSKB
	for i := range j.Steps {
		if j.Steps[i].ID == job.BatchStep {
			continue // the script's, which End has
		}
		u := &j.Steps[i].Usage
		micros += u.UserUS + u.SystemUS
		peak = max(peak, u.MaxRSSKB)
	}
	l.CPUSeconds, l.MaxRSSKB = float64(micros/1000)/1000, peak
}
