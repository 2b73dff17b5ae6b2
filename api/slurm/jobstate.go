package slurm

import (
	"strings"

	"muster/job"
)

// JobStates is a set of base states (bit 1<<State) and flags.
type JobStates struct {
	States uint32
	Flags  job.Flag
}

// absentStates are words of Slurm for states that no job is in here.
const absentStates = ",expediting,ex,resv_del_hold,rd,requeue_fed,rf,"

// Add takes a state by its long or compact word, in any case. It tells whether
// the word is one.
func (s *JobStates) Add(word string) bool {
	for st := job.Pending; st <= job.OutOfMemory; st++ {
		if strings.EqualFold(word, st.String()) || strings.EqualFold(word, job.Word(st, 0, true)) {
			s.States |= 1 << st
			return true
		}
	}
	for f := job.Completing; f <= job.Signaling<<4; f <<= 1 {
		long := job.Word(0, f, false)
		if long != "?" && (strings.EqualFold(word, long) || strings.EqualFold(word, job.Word(0, f, true))) {
			s.Flags |= f
			return true
		}
	}
	return word != "" && strings.Contains(absentStates, ","+strings.ToLower(word)+",")
}

// JobStateWords is the list that squeue gives with an unknown state.
const JobStateWords = "pending,running,suspended,completed,cancelled,failed,timeout,node_fail,preempted," +
	"boot_fail,deadline,out_of_memory,completing,configuring,expediting,resizing,resv_del_hold,requeued," +
	"requeue_fed,requeue_hold,revoked,signaling,special_exit,stage_out,stopped"
