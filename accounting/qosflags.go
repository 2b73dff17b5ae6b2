package accounting

import "strings"

// QOSFlags are the flags of a QOS (sacctmgr(1), Flags), as bits.
type QOSFlags uint32

// The flags.
const (
	// DenyOnLimit: what passes a limit by itself is refused at submit.
	DenyOnLimit QOSFlags = 1 << iota
	// EnforceUsageThreshold: no job whose fair share is below UsageThreshold starts.
	EnforceUsageThreshold
	// NoDecay: the QOS's own use does not decay.
	NoDecay
	// NoReserve: its jobs get no promised start.
	NoReserve
	// OverPartQOS: its limits go before those of the partition's QOS.
	OverPartQOS
	// PartitionMaxNodes, PartitionMinNodes and PartitionTimeLimit: these limits of a
	// partition do not hold for its jobs.
	PartitionMaxNodes
	PartitionMinNodes
	PartitionTimeLimit
	// RequiresReservation: its jobs must name a reservation, at submit and after.
	RequiresReservation
	// UsageFactorSafe: with safe limits UsageFactor counts for what a job would add, by
	// its time limit, to what GrpTRESMins and GrpWall bound.
	UsageFactorSafe
)

// Has tells whether all of some flags are set.
func (f QOSFlags) Has(g QOSFlags) bool { return f&g == g }

// qosFlagNames are the names by bit, in Slurm's order.
func qosFlagNames() []string {
	return []string{"DenyOnLimit", "EnforceUsageThreshold", "NoDecay", "NoReserve", "OverPartQOS", "PartitionMaxNodes",
		"PartitionMinNodes", "PartitionTimeLimit", "RequiresReservation", "UsageFactorSafe"}
}

// String lists the names with commas between them.
func (f QOSFlags) String() string {
	var out []string
	for i, name := range qosFlagNames() {
		if f>>i&1 != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ",")
}

// QOSFlag finds a flag by its name, in any case; 0 if there is none.
func QOSFlag(name string) QOSFlags {
	for i, known := range qosFlagNames() {
		if strings.EqualFold(name, known) {
			return 1 << i
		}
	}
	return 0
}
