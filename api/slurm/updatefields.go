package slurm

import "strings"

// Entity is what scontrol update, create and delete are about.
type Entity uint8

// The entities.
const (
	UpdateJob Entity = iota + 1
	UpdateNode
	UpdatePartition
	UpdateReservation
)

// updateField is one field of scontrol update: it may be cut to min bytes.
type updateField struct {
	name string // as typed
	min  int
	is   string // the field it is another name of; "" is itself
	time bool   // a moment, resolved by the client
}

// updateFields: in the order in which scontrol looks them up, since a short
// abbreviation means the first that fits.
var updateFields = map[Entity][]updateField{
	UpdateJob: {
		{"JobId", 3, "", false}, {"AdminComment", 6, "", false}, {"SiteFactor", 5, "", false}, {"ArrayTaskThrottle", 10, "", false},
		{"Comment", 3, "", false}, {"DelayBoot", 5, "", false}, {"Extra", 3, "", false}, {"TimeLimit", 5, "", false}, {"TimeMin", 5, "", false},
		{"Priority", 2, "", false}, {"Nice", 2, "", false}, {"CPUsPerTask", 9, "", false}, {"NumCPUs", 6, "", false},
		{"NumTasks", 8, "", false}, {"ReqProcs", 8, "NumTasks", false}, {"Requeue", 4, "", false}, {"ReqNodes", 8, "NumNodes", false},
		{"NumNodes", 8, "", false}, {"ReqSockets", 4, "", false}, {"ReqCores", 4, "", false}, {"TasksPerNode", 2, "", false},
		{"ReqThreads", 4, "", false}, {"MinCPUsNode", 4, "", false}, {"MinMemoryNode", 10, "", false}, {"MinMemoryCPU", 10, "", false},
		{"MinTmpDiskNode", 5, "", false}, {"Partition", 2, "", false}, {"QOS", 2, "", false}, {"ReservationName", 3, "", false},
		{"Name", 2, "JobName", false}, {"JobName", 4, "", false}, {"WCKey", 1, "", false}, {"StdErr", 6, "", false}, {"StdIn", 5, "", false},
		{"StdOut", 6, "", false}, {"Switches", 5, "", false}, {"wait-for-switch", 5, "", false}, {"OverSubscribe", 2, "", false}, {"Shared", 2, "OverSubscribe", false},
		{"Contiguous", 3, "", false}, {"CoreSpec", 4, "", false}, {"ThreadSpec", 4, "", false}, {"TresPerJob", 8, "", false}, {"TresPerNode", 8, "", false}, {"TresPerSocket", 8, "", false},
		{"TresPerTask", 8, "", false}, {"ExcNodeList", 3, "", false}, {"NodeList", 8, "ReqNodeList", false}, {"ReqNodeList", 8, "", false},
		{"Features", 1, "", false}, {"Prefer", 3, "", false}, {"Gres", 2, "TresPerNode", false}, {"Account", 1, "", false}, {"BurstBuffer", 1, "", false},
		{"Dependency", 1, "", false}, {"Licenses", 1, "", false}, {"EligibleTime", 2, "StartTime", true}, {"StartTime", 2, "", true},
		{"EndTime", 2, "", true}, {"UserId", 3, "", false}, {"Deadline", 3, "", true}, {"WorkDir", 2, "", false}, {"MailType", 5, "", false}, {"MailUser", 5, "", false},
		{"ResetAccrueTime", 5, "", false},
	},
	UpdateNode: {
		{"NodeName", 1, "", false}, {"ActiveFeatures", 3, "", false}, {"AvailableFeatures", 3, "Features", false}, {"Features", 1, "", false},
		{"Comment", 3, "", false}, {"Extra", 3, "", false}, {"Weight", 1, "", false}, {"Reason", 1, "", false}, {"State", 1, "", false},
	},
	UpdatePartition: {
		{"PartitionName", 1, "", false}, {"MaxTime", 4, "", false}, {"DefaultTime", 8, "", false}, {"MaxCPUsPerNode", 4, "", false},
		{"MaxNodes", 4, "", false}, {"MinNodes", 2, "", false}, {"Default", 7, "", false}, {"DisableRootJobs", 1, "", false},
		{"Hidden", 1, "", false}, {"LLN", 1, "", false}, {"RootOnly", 3, "", false}, {"ReqResv", 3, "", false}, {"OverSubscribe", 5, "", false},
		{"Shared", 2, "OverSubscribe", false}, {"PreemptMode", 3, "", false}, {"PriorityJobFactor", 9, "", false}, {"PriorityTier", 9, "", false},
		{"State", 2, "", false}, {"Nodes", 1, "", false}, {"AllowGroups", 6, "", false}, {"AllowAccounts", 6, "", false}, {"AllowQos", 6, "", false},
		{"DenyAccounts", 5, "", false}, {"DenyQos", 5, "", false}, {"Alternate", 3, "", false}, {"GraceTime", 5, "", false}, {"DefMemPerCPU", 10, "", false}, {"DefMemPerNode", 10, "", false},
		{"MaxMemPerCPU", 10, "", false}, {"MaxMemPerNode", 10, "", false}, {"QOS", 3, "", false}, {"Exclusive", 9, "", false},
	},
	UpdateReservation: {
		{"ReservationName", 1, "", false}, {"Accounts", 1, "", false}, {"Comment", 3, "", false}, {"Flags", 2, "", false}, {"Users", 1, "", false},
		{"StartTime", 1, "", true}, {"EndTime", 1, "", true}, {"Duration", 1, "", false}, {"NodeCnt", 5, "", false}, {"NodeCount", 5, "NodeCnt", false},
		{"CoreCnt", 5, "", false}, {"Nodes", 5, "", false}, {"Features", 2, "", false}, {"Licenses", 1, "", false}, {"PartitionName", 1, "", false},
		{"Skip", 2, "", false},
	},
}

// FindUpdateField finds a field of an entity by its name or an abbreviation, in
// any case. isTime: its value is a moment.
func FindUpdateField(e Entity, tag string) (name string, isTime, ok bool) {
	for _, f := range updateFields[e] {
		n := max(len(tag), f.min)
		if len(tag) >= f.min && n <= len(f.name) && strings.EqualFold(tag, f.name[:n]) {
			if f.is != "" {
				return f.is, f.time, true
			}
			return f.name, f.time, true
		}
	}
	return "", false, false
}
