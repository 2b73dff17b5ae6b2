package slurm

// The texts of Slurm's errors that programs read.
const (
	TextDenied         = "Access/permission denied"
	TextGroup          = "User's group not permitted to use this partition"
	TextNotHetLeader   = "Job not heterogeneous job leader"
	TextInvalidUser    = "Invalid user id"
	TextNoSuchJob      = "Invalid job id specified"
	TextPending        = "Job is pending execution"
	TextFinished       = "Job/step already completing or completed"
	TextDisabled       = "Requested operation is presently disabled"
	TextNodeConfig     = "Requested node configuration is not available"
	TextPartition      = "Invalid partition name specified"
	TextNodeName       = "Invalid node name specified"
	TextNodeCount      = "Node count specification invalid"
	TextFeature        = "Invalid feature specification"
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
	TextScriptMissing  = "Batch script is missing"
)
