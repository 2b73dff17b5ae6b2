package slurm

// The texts of Slurm's errors that programs read.
const (
	TextDenied         = "Access/permission denied"
	TextGroup          = "User's group not permitted to use this partition"
	TextNotHetLeader   = "Job not heterogeneous job leader"
	TextWholeHet       = "Operation not permitted on individual component of heterogeneous job"
	TextInvalidUser    = "Invalid user id"
	TextNoSuchJob      = "Invalid job id specified"
	TextPending        = "Job is pending execution"
	TextFinished       = "Job/step already completing or completed"
	TextEnded          = "Job has already finished" // of a change, a hold or a release
	TextNotPending     = "Job is no longer pending execution"
	TextHeld           = "Job is in held state, pending scheduler release"
	TextPriority       = "Changes to job priority are not persistent, change nice instead"
	TextTime           = "Invalid time specified"
	TextNotRunning     = "Job is not running"
	TextDisabled       = "Requested operation is presently disabled"
	TextNodeConfig     = "Requested node configuration is not available"
	TextPartition      = "Invalid partition name specified"
	TextNodeName       = "Invalid node name specified"
	TextNodeCount      = "Node count specification invalid"
	TextFeature        = "Invalid feature specification"
	TextPrefer         = "Invalid preferred feature specification"
	TextTimeMin        = "Invalid time-min specification (exceeds job's time or other limits)"
	TextTooLong        = "Pathname of a file, directory or other parameter too long"
	TextWCKey          = "Invalid wckey specification"
	TextReservation    = "Requested reservation is invalid"
	TextReservationUse = "Access denied to requested reservation"
	TextLicense        = "Invalid license specification"
	TextNice           = "Invalid --nice value"
	TextAccount        = "Invalid account or account/partition combination specified"
	TextQOS            = "Invalid qos specification"
	TextTimeLimit      = "Requested time limit is invalid (missing or exceeds some limit)"
	TextPartitionDown  = "Required partition not available (inactive or drain)"
	TextTaskCount      = "Task count specification invalid"
	TextNotSupported   = "Requested operation not supported on this system"
	TextCronCancel     = "Cannot cancel scrontab jobs without --cron flag."
	TextCronModify     = "Cannot modify scrontab jobs through scontrol"
	TextScriptMissing  = "Batch script is missing"
	TextNoPreemption   = "Preemption is required but is disabled on this system"
	TextTooMany        = "Resource temporarily unavailable"
	TextTRES           = "Invalid Trackable RESource (TRES) specification"
)

// TextCluster is Slurm's refusal of a list of clusters (-M) of which none is known.
func TextCluster(list string) string {
	return "'" + list + "' can't be reached now, or it is an invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available clusters."
}
