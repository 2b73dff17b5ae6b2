package format

import (
	"fmt"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// AppendEfficiency writes what a job used of what it had, as seff of Slurm's
// contributed programs words it: CPU time against the time of its CPUs, and the
// largest memory of any of its steps against what it was given. now is the time
// until which a job that has not ended has run.
func AppendEfficiency(dst []byte, r *api.JobRecord, cluster string, now job.Time) []byte {
	dst = fmt.Appendf(dst, "Job ID: %d\n", r.ID)
	if r.Array.JobID != 0 && r.Array.Waiting == "" {
		dst = fmt.Appendf(dst, "Array Job ID: %d_%d\n", r.Array.JobID, r.Array.Task)
	}
	dst = fmt.Appendf(dst, "Cluster: %s\nUser/Group: %s/%s\n", cluster, r.Owner.User, r.Owner.Group)
	state := job.Word(r.State, r.Flags, false)
	if r.State.Ended() && r.End != nil {
		dst = fmt.Appendf(dst, "State: %s (exit code %d)\n", state, r.End.ExitCode)
	} else {
		dst = fmt.Appendf(dst, "State: %s\n", state)
	}
	cpus, nodes := max(1, uint64(r.Used.CPUs)), max(1, uint64(r.Used.Nodes))
	if cpus == 1 {
		dst = append(dst, "Cores: 1\n"...)
	} else {
		dst = fmt.Appendf(dst, "Nodes: %d\nCores per node: %d\n", nodes, cpus/nodes)
	}
	if r.State == job.Pending {
		return append(dst, "Efficiency not available for jobs in the PENDING state.\n"...)
	}
	return appendUsed(dst, r, cpus, nodes, uint64(RunSeconds(r, now)))
}

// appendUsed writes the part of a job that has run, for wall seconds.
func appendUsed(dst []byte, r *api.JobRecord, cpus, nodes, wall uint64) []byte {
	var micros, peakKB uint64
	for _, s := range Steps(r) {
		micros += s.Usage.UserUS + s.Usage.SystemUS
		peakKB = max(peakKB, s.Usage.MaxRSSKB)
	}
	used := (micros + 500_000) / 1_000_000
	dst = fmt.Appendf(dst, "CPU Utilized: %s\nCPU Efficiency: %.2f%% of %s core-walltime\nJob Wall-clock time: %s\n",
		span(used), percent(used, wall*cpus), span(wall*cpus), span(wall))
	memoryKB, share, of := r.Used.MemoryMB*1024, r.Used.MemoryMB*1024/nodes, "node"
	if r.Memory.Per == job.MemoryPerCPU {
		share, of = memoryKB/cpus, "core"
	}
	dst = fmt.Appendf(dst, "Memory Utilized: %s\nMemory Efficiency: %.2f%% of %s (%s/%s)\n",
		kilobytes(peakKB), percent(peakKB, memoryKB), kilobytes(memoryKB), kilobytes(share), of)
	if r.State == job.Running {
		dst = append(dst, "WARNING: Efficiency statistics can only be obtained after the job has ended: what it uses is recorded then.\n"...)
	}
	return dst
}

func span(seconds uint64) string { return string(slurm.AppendSpan(nil, int64(seconds))) }

// percent is part of whole in hundredths; 0 of nothing.
func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole) * 100
}

// kilobytes writes a size with two digits and the largest unit that leaves it at
// 1 or more.
func kilobytes(kb uint64) string {
	if kb == 0 {
		return "0.00 MB"
	}
	size, unit := float64(kb), 0
	for size >= 1024 && unit < len("KMGTPE")-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.2f %cB", size, "KMGTPE"[unit])
}
