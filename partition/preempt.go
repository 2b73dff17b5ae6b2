package partition

import "strings"

// What may be preempted by what (slurm.conf(5), PreemptType).
const (
	PreemptByQOS  = "qos"            // a job whose QOS is in the list of the other's QOS
	PreemptByTier = "partition_prio" // a job in a partition of a lower PriorityTier
)

// PreemptMode is what happens to a job that makes room for another (slurm.conf(5),
// PreemptMode).
type PreemptMode uint8

// The modes. The numbers are stored.
const (
	PreemptUnset   PreemptMode = iota // what is set above it holds
	PreemptOff                        // it is never preempted
	PreemptCancel                     // it is ended
	PreemptRequeue                    // it is requeued, or ended if it may not be requeued
)

// preemptModes are the words by mode.
func preemptModes() [4]string { return [4]string{"", "OFF", "CANCEL", "REQUEUE"} }

// ParsePreemptMode reads a word in any case; CLUSTER and "" are PreemptUnset. ok is
// false for words that are not known, and for SUSPEND and GANG, which are not
// supported.
func ParsePreemptMode(word string) (m PreemptMode, ok bool) {
	word = strings.ToUpper(word)
	if word == "CLUSTER" {
		return PreemptUnset, true
	}
	for m, name := range preemptModes() {
		if name == word {
			return PreemptMode(m), true
		}
	}
	return PreemptUnset, false
}

// String is Slurm's word, "" for PreemptUnset.
func (m PreemptMode) String() string {
	if names := preemptModes(); int(m) < len(names) {
		return names[m]
	}
	return "?"
}

// Preemption is the cluster's rule for making room.
type Preemption struct {
	Type   string      // PreemptByQOS, PreemptByTier, or "": none
	Mode   PreemptMode // where neither QOS nor partition says
	Exempt uint32      // seconds that a job runs before it may be preempted
}
