package job

// Reason is the code for why a job waits, or ended as it did: the words that
// squeue(1) prints and Slurm's document of job reason codes explains.
type Reason uint16

// The reasons. The numbers are stored: add at the end only.
const (
	ReasonNone Reason = iota
	ReasonProlog
	ReasonPriority
	ReasonDependency
	ReasonResources
	ReasonPartitionNodeLimit
	ReasonPartitionTimeLimit
	ReasonPartitionDown
	ReasonPartitionInactive
	ReasonJobHeldAdmin
	ReasonJobHeldUser
	ReasonNvidiaImexChannels
	ReasonBeginTime
	ReasonLicenses
	ReasonAssociationJobLimit
	ReasonAssociationResourceLimit
	ReasonAssociationTimeLimit
	ReasonReservation
	ReasonReqNodeNotAvail
	ReasonSchedDefer
	ReasonNodeDown
	ReasonBadConstraints
	ReasonSystemFailure
	ReasonJobLaunchFailure
	ReasonNonZeroExitCode
	ReasonRaisedSignal
	ReasonTimeLimit
	ReasonInactiveLimit
	ReasonInvalidAccount
	ReasonInvalidQOS
	ReasonQOSUsageThreshold
	ReasonQOSJobLimit
	ReasonQOSResourceLimit
	ReasonQOSTimeLimit
	ReasonCleaning
	ReasonQOSNotAllowed
	ReasonAccountNotAllowed
	ReasonDependencyNeverSatisfied
	ReasonQOSGrpCpuLimit
	ReasonQOSGrpCPUMinutesLimit
	ReasonQOSGrpCPURunMinutesLimit
	ReasonQOSGrpJobsLimit
	ReasonQOSGrpMemLimit
	ReasonQOSGrpNodeLimit
	ReasonQOSGrpSubmitJobsLimit
	ReasonQOSGrpWallLimit
	ReasonQOSMaxCpuPerJobLimit
	ReasonQOSMaxCpuMinutesPerJobLimit
	ReasonQOSMaxNodePerJobLimit
	ReasonQOSMaxWallDurationPerJobLimit
	ReasonQOSMaxCpuPerUserLimit
	ReasonQOSMaxJobsPerUserLimit
	ReasonQOSMaxNodePerUserLimit
	ReasonQOSMaxSubmitJobPerUserLimit
	ReasonQOSMinCpuNotSatisfied
	ReasonAssocGrpCpuLimit
	ReasonAssocGrpCPUMinutesLimit
	ReasonAssocGrpCPURunMinutesLimit
	ReasonAssocGrpJobsLimit
	ReasonAssocGrpMemLimit
	ReasonAssocGrpNodeLimit
	ReasonAssocGrpSubmitJobsLimit
	ReasonAssocGrpWallLimit
	ReasonAssocMaxJobsLimit
	ReasonAssocMaxCpuPerJobLimit
	ReasonAssocMaxCpuMinutesPerJobLimit
	ReasonAssocMaxNodePerJobLimit
	ReasonAssocMaxWallDurationPerJobLimit
	ReasonAssocMaxSubmitJobLimit
	ReasonJobHoldMaxRequeue
	ReasonJobArrayTaskLimit
	ReasonBurstBufferResources
	ReasonBurstBufferStageIn
	ReasonBurstBufferOperation
	ReasonAssocGrpUnknown
	ReasonAssocGrpUnknownMinutes
	ReasonAssocGrpUnknownRunMinutes
	ReasonAssocMaxUnknownPerJob
	ReasonAssocMaxUnknownPerNode
	ReasonAssocMaxUnknownMinutesPerJob
	ReasonAssocMaxCpuPerNode
	ReasonAssocGrpMemMinutes
	ReasonAssocGrpMemRunMinutes
	ReasonAssocMaxMemPerJob
	ReasonAssocMaxMemPerNode
	ReasonAssocMaxMemMinutesPerJob
	ReasonAssocGrpNodeMinutes
	ReasonAssocGrpNodeRunMinutes
	ReasonAssocMaxNodeMinutesPerJob
	ReasonAssocGrpEnergy
	ReasonAssocGrpEnergyMinutes
	ReasonAssocGrpEnergyRunMinutes
	ReasonAssocMaxEnergyPerJob
	ReasonAssocMaxEnergyPerNode
	ReasonAssocMaxEnergyMinutesPerJob
	ReasonAssocGrpGRES
	ReasonAssocGrpGRESMinutes
	ReasonAssocGrpGRESRunMinutes
	ReasonAssocMaxGRESPerJob
	ReasonAssocMaxGRESPerNode
	ReasonAssocMaxGRESMinutesPerJob
	ReasonAssocGrpLicense
	ReasonAssocGrpLicenseMinutes
	ReasonAssocGrpLicenseRunMinutes
	ReasonAssocMaxLicensePerJob
	ReasonAssocMaxLicenseMinutesPerJob
	ReasonAssocGrpBB
	ReasonAssocGrpBBMinutes
	ReasonAssocGrpBBRunMinutes
	ReasonAssocMaxBBPerJob
	ReasonAssocMaxBBPerNode
	ReasonAssocMaxBBMinutesPerJob
	ReasonQOSGrpUnknown
	ReasonQOSGrpUnknownMinutes
	ReasonQOSGrpUnknownRunMinutes
	ReasonQOSMaxUnknownPerJob
	ReasonQOSMaxUnknownPerNode
	ReasonQOSMaxUnknownPerUser
	ReasonQOSMaxUnknownMinutesPerJob
	ReasonQOSMinUnknown
	ReasonQOSMaxCpuPerNode
	ReasonQOSGrpMemoryMinutes
	ReasonQOSGrpMemoryRunMinutes
	ReasonQOSMaxMemoryPerJob
	ReasonQOSMaxMemoryPerNode
	ReasonQOSMaxMemoryPerUser
	ReasonQOSMaxMemoryMinutesPerJob
	ReasonQOSMinMemory
	ReasonQOSGrpNodeMinutes
	ReasonQOSGrpNodeRunMinutes
	ReasonQOSMaxNodeMinutesPerJob
	ReasonQOSMinNode
	ReasonQOSGrpEnergy
	ReasonQOSGrpEnergyMinutes
	ReasonQOSGrpEnergyRunMinutes
	ReasonQOSMaxEnergyPerJob
	ReasonQOSMaxEnergyPerNode
	ReasonQOSMaxEnergyPerUser
	ReasonQOSMaxEnergyMinutesPerJob
	ReasonQOSMinEnergy
	ReasonQOSGrpGRES
	ReasonQOSGrpGRESMinutes
	ReasonQOSGrpGRESRunMinutes
	ReasonQOSMaxGRESPerJob
	ReasonQOSMaxGRESPerNode
	ReasonQOSMaxGRESPerUser
	ReasonQOSMaxGRESMinutesPerJob
	ReasonQOSMinGRES
	ReasonQOSGrpLicense
	ReasonQOSGrpLicenseMinutes
	ReasonQOSGrpLicenseRunMinutes
	ReasonQOSMaxLicensePerJob
	ReasonQOSMaxLicensePerUser
	ReasonQOSMaxLicenseMinutesPerJob
	ReasonQOSMinLicense
	ReasonQOSGrpBB
	ReasonQOSGrpBBMinutes
	ReasonQOSGrpBBRunMinutes
	ReasonQOSMaxBBPerJob
	ReasonQOSMaxBBPerNode
	ReasonQOSMaxBBPerUser
	ReasonQOSMinBB
	ReasonDeadLine
	ReasonMaxBBPerAccount
	ReasonMaxCpuPerAccount
	ReasonMaxEnergyPerAccount
	ReasonMaxGRESPerAccount
	ReasonMaxNodePerAccount
	ReasonMaxLicensePerAccount
	ReasonMaxMemoryPerAccount
	ReasonMaxUnknownPerAccount
	ReasonMaxJobsPerAccount
	ReasonMaxSubmitJobsPerAccount
	ReasonPartitionConfig
	ReasonAccountingPolicy
	ReasonFedJobLock
	ReasonOutOfMemory
	ReasonMaxMemPerLimit
	ReasonAssocGrpBilling
	ReasonAssocGrpBillingMinutes
	ReasonAssocGrpBillingRunMinutes
	ReasonAssocMaxBillingPerJob
	ReasonAssocMaxBillingPerNode
	ReasonAssocMaxBillingMinutesPerJob
	ReasonQOSGrpBilling
	ReasonQOSGrpBillingMinutes
	ReasonQOSGrpBillingRunMinutes
	ReasonQOSMaxBillingPerJob
	ReasonQOSMaxBillingPerNode
	ReasonQOSMaxBillingPerUser
	ReasonQOSMaxBillingMinutesPerJob
	ReasonMaxBillingPerAccount
	ReasonQOSMinBilling
	ReasonReservationDeleted
	ReasonReservationInvalid
	ReasonConstraints
	ReasonMaxBBRunMinsPerAccount
	ReasonMaxBillingRunMinsPerAccount
	ReasonMaxCpuRunMinsPerAccount
	ReasonMaxEnergyRunMinsPerAccount
	ReasonMaxGRESRunMinsPerAccount
	ReasonMaxNodeRunMinsPerAccount
	ReasonMaxLicenseRunMinsPerAccount
	ReasonMaxMemoryRunMinsPerAccount
	ReasonMaxUnknownRunMinsPerAccount
	ReasonMaxBBRunMinsPerUser
	ReasonMaxBillingRunMinsPerUser
	ReasonMaxCpuRunMinsPerUser
	ReasonMaxEnergyRunMinsPerUser
	ReasonMaxGRESRunMinsPerUser
	ReasonMaxNodeRunMinsPerUser
	ReasonMaxLicenseRunMinsPerUser
	ReasonMaxMemoryRunMinsPerUser
	ReasonMaxUnknownRunMinsPerUser
	ReasonMaxPoweredUpNodes
	ReasonMpiPortsBusy
)

// reasonNames: the word of each Reason.
var reasonNames = [...]string{
	ReasonNone:                            "None",
	ReasonProlog:                          "Prolog",
	ReasonPriority:                        "Priority",
	ReasonDependency:                      "Dependency",
	ReasonResources:                       "Resources",
	ReasonPartitionNodeLimit:              "PartitionNodeLimit",
	ReasonPartitionTimeLimit:              "PartitionTimeLimit",
	ReasonPartitionDown:                   "PartitionDown",
	ReasonPartitionInactive:               "PartitionInactive",
	ReasonJobHeldAdmin:                    "JobHeldAdmin",
	ReasonJobHeldUser:                     "JobHeldUser",
	ReasonNvidiaImexChannels:              "NvidiaImexChannels",
	ReasonBeginTime:                       "BeginTime",
	ReasonLicenses:                        "Licenses",
	ReasonAssociationJobLimit:             "AssociationJobLimit",
	ReasonAssociationResourceLimit:        "AssociationResourceLimit",
	ReasonAssociationTimeLimit:            "AssociationTimeLimit",
	ReasonReservation:                     "Reservation",
	ReasonReqNodeNotAvail:                 "ReqNodeNotAvail",
	ReasonSchedDefer:                      "SchedDefer",
	ReasonNodeDown:                        "NodeDown",
	ReasonBadConstraints:                  "BadConstraints",
	ReasonSystemFailure:                   "SystemFailure",
	ReasonJobLaunchFailure:                "JobLaunchFailure",
	ReasonNonZeroExitCode:                 "NonZeroExitCode",
	ReasonRaisedSignal:                    "RaisedSignal",
	ReasonTimeLimit:                       "TimeLimit",
	ReasonInactiveLimit:                   "InactiveLimit",
	ReasonInvalidAccount:                  "InvalidAccount",
	ReasonInvalidQOS:                      "InvalidQOS",
	ReasonQOSUsageThreshold:               "QOSUsageThreshold",
	ReasonQOSJobLimit:                     "QOSJobLimit",
	ReasonQOSResourceLimit:                "QOSResourceLimit",
	ReasonQOSTimeLimit:                    "QOSTimeLimit",
	ReasonCleaning:                        "Cleaning",
	ReasonQOSNotAllowed:                   "QOSNotAllowed",
	ReasonAccountNotAllowed:               "AccountNotAllowed",
	ReasonDependencyNeverSatisfied:        "DependencyNeverSatisfied",
	ReasonQOSGrpCpuLimit:                  "QOSGrpCpuLimit",
	ReasonQOSGrpCPUMinutesLimit:           "QOSGrpCPUMinutesLimit",
	ReasonQOSGrpCPURunMinutesLimit:        "QOSGrpCPURunMinutesLimit",
	ReasonQOSGrpJobsLimit:                 "QOSGrpJobsLimit",
	ReasonQOSGrpMemLimit:                  "QOSGrpMemLimit",
	ReasonQOSGrpNodeLimit:                 "QOSGrpNodeLimit",
	ReasonQOSGrpSubmitJobsLimit:           "QOSGrpSubmitJobsLimit",
	ReasonQOSGrpWallLimit:                 "QOSGrpWallLimit",
	ReasonQOSMaxCpuPerJobLimit:            "QOSMaxCpuPerJobLimit",
	ReasonQOSMaxCpuMinutesPerJobLimit:     "QOSMaxCpuMinutesPerJobLimit",
	ReasonQOSMaxNodePerJobLimit:           "QOSMaxNodePerJobLimit",
	ReasonQOSMaxWallDurationPerJobLimit:   "QOSMaxWallDurationPerJobLimit",
	ReasonQOSMaxCpuPerUserLimit:           "QOSMaxCpuPerUserLimit",
	ReasonQOSMaxJobsPerUserLimit:          "QOSMaxJobsPerUserLimit",
	ReasonQOSMaxNodePerUserLimit:          "QOSMaxNodePerUserLimit",
	ReasonQOSMaxSubmitJobPerUserLimit:     "QOSMaxSubmitJobPerUserLimit",
	ReasonQOSMinCpuNotSatisfied:           "QOSMinCpuNotSatisfied",
	ReasonAssocGrpCpuLimit:                "AssocGrpCpuLimit",
	ReasonAssocGrpCPUMinutesLimit:         "AssocGrpCPUMinutesLimit",
	ReasonAssocGrpCPURunMinutesLimit:      "AssocGrpCPURunMinutesLimit",
	ReasonAssocGrpJobsLimit:               "AssocGrpJobsLimit",
	ReasonAssocGrpMemLimit:                "AssocGrpMemLimit",
	ReasonAssocGrpNodeLimit:               "AssocGrpNodeLimit",
	ReasonAssocGrpSubmitJobsLimit:         "AssocGrpSubmitJobsLimit",
	ReasonAssocGrpWallLimit:               "AssocGrpWallLimit",
	ReasonAssocMaxJobsLimit:               "AssocMaxJobsLimit",
	ReasonAssocMaxCpuPerJobLimit:          "AssocMaxCpuPerJobLimit",
	ReasonAssocMaxCpuMinutesPerJobLimit:   "AssocMaxCpuMinutesPerJobLimit",
	ReasonAssocMaxNodePerJobLimit:         "AssocMaxNodePerJobLimit",
	ReasonAssocMaxWallDurationPerJobLimit: "AssocMaxWallDurationPerJobLimit",
	ReasonAssocMaxSubmitJobLimit:          "AssocMaxSubmitJobLimit",
	ReasonJobHoldMaxRequeue:               "JobHoldMaxRequeue",
	ReasonJobArrayTaskLimit:               "JobArrayTaskLimit",
	ReasonBurstBufferResources:            "BurstBufferResources",
	ReasonBurstBufferStageIn:              "BurstBufferStageIn",
	ReasonBurstBufferOperation:            "BurstBufferOperation",
	ReasonAssocGrpUnknown:                 "AssocGrpUnknown",
	ReasonAssocGrpUnknownMinutes:          "AssocGrpUnknownMinutes",
	ReasonAssocGrpUnknownRunMinutes:       "AssocGrpUnknownRunMinutes",
	ReasonAssocMaxUnknownPerJob:           "AssocMaxUnknownPerJob",
	ReasonAssocMaxUnknownPerNode:          "AssocMaxUnknownPerNode",
	ReasonAssocMaxUnknownMinutesPerJob:    "AssocMaxUnknownMinutesPerJob",
	ReasonAssocMaxCpuPerNode:              "AssocMaxCpuPerNode",
	ReasonAssocGrpMemMinutes:              "AssocGrpMemMinutes",
	ReasonAssocGrpMemRunMinutes:           "AssocGrpMemRunMinutes",
	ReasonAssocMaxMemPerJob:               "AssocMaxMemPerJob",
	ReasonAssocMaxMemPerNode:              "AssocMaxMemPerNode",
	ReasonAssocMaxMemMinutesPerJob:        "AssocMaxMemMinutesPerJob",
	ReasonAssocGrpNodeMinutes:             "AssocGrpNodeMinutes",
	ReasonAssocGrpNodeRunMinutes:          "AssocGrpNodeRunMinutes",
	ReasonAssocMaxNodeMinutesPerJob:       "AssocMaxNodeMinutesPerJob",
	ReasonAssocGrpEnergy:                  "AssocGrpEnergy",
	ReasonAssocGrpEnergyMinutes:           "AssocGrpEnergyMinutes",
	ReasonAssocGrpEnergyRunMinutes:        "AssocGrpEnergyRunMinutes",
	ReasonAssocMaxEnergyPerJob:            "AssocMaxEnergyPerJob",
	ReasonAssocMaxEnergyPerNode:           "AssocMaxEnergyPerNode",
	ReasonAssocMaxEnergyMinutesPerJob:     "AssocMaxEnergyMinutesPerJob",
	ReasonAssocGrpGRES:                    "AssocGrpGRES",
	ReasonAssocGrpGRESMinutes:             "AssocGrpGRESMinutes",
	ReasonAssocGrpGRESRunMinutes:          "AssocGrpGRESRunMinutes",
	ReasonAssocMaxGRESPerJob:              "AssocMaxGRESPerJob",
	ReasonAssocMaxGRESPerNode:             "AssocMaxGRESPerNode",
	ReasonAssocMaxGRESMinutesPerJob:       "AssocMaxGRESMinutesPerJob",
	ReasonAssocGrpLicense:                 "AssocGrpLicense",
	ReasonAssocGrpLicenseMinutes:          "AssocGrpLicenseMinutes",
	ReasonAssocGrpLicenseRunMinutes:       "AssocGrpLicenseRunMinutes",
	ReasonAssocMaxLicensePerJob:           "AssocMaxLicensePerJob",
	ReasonAssocMaxLicenseMinutesPerJob:    "AssocMaxLicenseMinutesPerJob",
	ReasonAssocGrpBB:                      "AssocGrpBB",
	ReasonAssocGrpBBMinutes:               "AssocGrpBBMinutes",
	ReasonAssocGrpBBRunMinutes:            "AssocGrpBBRunMinutes",
	ReasonAssocMaxBBPerJob:                "AssocMaxBBPerJob",
	ReasonAssocMaxBBPerNode:               "AssocMaxBBPerNode",
	ReasonAssocMaxBBMinutesPerJob:         "AssocMaxBBMinutesPerJob",
	ReasonQOSGrpUnknown:                   "QOSGrpUnknown",
	ReasonQOSGrpUnknownMinutes:            "QOSGrpUnknownMinutes",
	ReasonQOSGrpUnknownRunMinutes:         "QOSGrpUnknownRunMinutes",
	ReasonQOSMaxUnknownPerJob:             "QOSMaxUnknownPerJob",
	ReasonQOSMaxUnknownPerNode:            "QOSMaxUnknownPerNode",
	ReasonQOSMaxUnknownPerUser:            "QOSMaxUnknownPerUser",
	ReasonQOSMaxUnknownMinutesPerJob:      "QOSMaxUnknownMinutesPerJob",
	ReasonQOSMinUnknown:                   "QOSMinUnknown",
	ReasonQOSMaxCpuPerNode:                "QOSMaxCpuPerNode",
	ReasonQOSGrpMemoryMinutes:             "QOSGrpMemoryMinutes",
	ReasonQOSGrpMemoryRunMinutes:          "QOSGrpMemoryRunMinutes",
	ReasonQOSMaxMemoryPerJob:              "QOSMaxMemoryPerJob",
	ReasonQOSMaxMemoryPerNode:             "QOSMaxMemoryPerNode",
	ReasonQOSMaxMemoryPerUser:             "QOSMaxMemoryPerUser",
	ReasonQOSMaxMemoryMinutesPerJob:       "QOSMaxMemoryMinutesPerJob",
	ReasonQOSMinMemory:                    "QOSMinMemory",
	ReasonQOSGrpNodeMinutes:               "QOSGrpNodeMinutes",
	ReasonQOSGrpNodeRunMinutes:            "QOSGrpNodeRunMinutes",
	ReasonQOSMaxNodeMinutesPerJob:         "QOSMaxNodeMinutesPerJob",
	ReasonQOSMinNode:                      "QOSMinNode",
	ReasonQOSGrpEnergy:                    "QOSGrpEnergy",
	ReasonQOSGrpEnergyMinutes:             "QOSGrpEnergyMinutes",
	ReasonQOSGrpEnergyRunMinutes:          "QOSGrpEnergyRunMinutes",
	ReasonQOSMaxEnergyPerJob:              "QOSMaxEnergyPerJob",
	ReasonQOSMaxEnergyPerNode:             "QOSMaxEnergyPerNode",
	ReasonQOSMaxEnergyPerUser:             "QOSMaxEnergyPerUser",
	ReasonQOSMaxEnergyMinutesPerJob:       "QOSMaxEnergyMinutesPerJob",
	ReasonQOSMinEnergy:                    "QOSMinEnergy",
	ReasonQOSGrpGRES:                      "QOSGrpGRES",
	ReasonQOSGrpGRESMinutes:               "QOSGrpGRESMinutes",
	ReasonQOSGrpGRESRunMinutes:            "QOSGrpGRESRunMinutes",
	ReasonQOSMaxGRESPerJob:                "QOSMaxGRESPerJob",
	ReasonQOSMaxGRESPerNode:               "QOSMaxGRESPerNode",
	ReasonQOSMaxGRESPerUser:               "QOSMaxGRESPerUser",
	ReasonQOSMaxGRESMinutesPerJob:         "QOSMaxGRESMinutesPerJob",
	ReasonQOSMinGRES:                      "QOSMinGRES",
	ReasonQOSGrpLicense:                   "QOSGrpLicense",
	ReasonQOSGrpLicenseMinutes:            "QOSGrpLicenseMinutes",
	ReasonQOSGrpLicenseRunMinutes:         "QOSGrpLicenseRunMinutes",
	ReasonQOSMaxLicensePerJob:             "QOSMaxLicensePerJob",
	ReasonQOSMaxLicensePerUser:            "QOSMaxLicensePerUser",
	ReasonQOSMaxLicenseMinutesPerJob:      "QOSMaxLicenseMinutesPerJob",
	ReasonQOSMinLicense:                   "QOSMinLicense",
	ReasonQOSGrpBB:                        "QOSGrpBB",
	ReasonQOSGrpBBMinutes:                 "QOSGrpBBMinutes",
	ReasonQOSGrpBBRunMinutes:              "QOSGrpBBRunMinutes",
	ReasonQOSMaxBBPerJob:                  "QOSMaxBBPerJob",
	ReasonQOSMaxBBPerNode:                 "QOSMaxBBPerNode",
	ReasonQOSMaxBBPerUser:                 "QOSMaxBBPerUser",
	ReasonQOSMinBB:                        "QOSMinBB",
	ReasonDeadLine:                        "DeadLine",
	ReasonMaxBBPerAccount:                 "MaxBBPerAccount",
	ReasonMaxCpuPerAccount:                "MaxCpuPerAccount",
	ReasonMaxEnergyPerAccount:             "MaxEnergyPerAccount",
	ReasonMaxGRESPerAccount:               "MaxGRESPerAccount",
	ReasonMaxNodePerAccount:               "MaxNodePerAccount",
	ReasonMaxLicensePerAccount:            "MaxLicensePerAccount",
	ReasonMaxMemoryPerAccount:             "MaxMemoryPerAccount",
	ReasonMaxUnknownPerAccount:            "MaxUnknownPerAccount",
	ReasonMaxJobsPerAccount:               "MaxJobsPerAccount",
	ReasonMaxSubmitJobsPerAccount:         "MaxSubmitJobsPerAccount",
	ReasonPartitionConfig:                 "PartitionConfig",
	ReasonAccountingPolicy:                "AccountingPolicy",
	ReasonFedJobLock:                      "FedJobLock",
	ReasonOutOfMemory:                     "OutOfMemory",
	ReasonMaxMemPerLimit:                  "MaxMemPerLimit",
	ReasonAssocGrpBilling:                 "AssocGrpBilling",
	ReasonAssocGrpBillingMinutes:          "AssocGrpBillingMinutes",
	ReasonAssocGrpBillingRunMinutes:       "AssocGrpBillingRunMinutes",
	ReasonAssocMaxBillingPerJob:           "AssocMaxBillingPerJob",
	ReasonAssocMaxBillingPerNode:          "AssocMaxBillingPerNode",
	ReasonAssocMaxBillingMinutesPerJob:    "AssocMaxBillingMinutesPerJob",
	ReasonQOSGrpBilling:                   "QOSGrpBilling",
	ReasonQOSGrpBillingMinutes:            "QOSGrpBillingMinutes",
	ReasonQOSGrpBillingRunMinutes:         "QOSGrpBillingRunMinutes",
	ReasonQOSMaxBillingPerJob:             "QOSMaxBillingPerJob",
	ReasonQOSMaxBillingPerNode:            "QOSMaxBillingPerNode",
	ReasonQOSMaxBillingPerUser:            "QOSMaxBillingPerUser",
	ReasonQOSMaxBillingMinutesPerJob:      "QOSMaxBillingMinutesPerJob",
	ReasonMaxBillingPerAccount:            "MaxBillingPerAccount",
	ReasonQOSMinBilling:                   "QOSMinBilling",
	ReasonReservationDeleted:              "ReservationDeleted",
	ReasonReservationInvalid:              "ReservationInvalid",
	ReasonConstraints:                     "Constraints",
	ReasonMaxBBRunMinsPerAccount:          "MaxBBRunMinsPerAccount",
	ReasonMaxBillingRunMinsPerAccount:     "MaxBillingRunMinsPerAccount",
	ReasonMaxCpuRunMinsPerAccount:         "MaxCpuRunMinsPerAccount",
	ReasonMaxEnergyRunMinsPerAccount:      "MaxEnergyRunMinsPerAccount",
	ReasonMaxGRESRunMinsPerAccount:        "MaxGRESRunMinsPerAccount",
	ReasonMaxNodeRunMinsPerAccount:        "MaxNodeRunMinsPerAccount",
	ReasonMaxLicenseRunMinsPerAccount:     "MaxLicenseRunMinsPerAccount",
	ReasonMaxMemoryRunMinsPerAccount:      "MaxMemoryRunMinsPerAccount",
	ReasonMaxUnknownRunMinsPerAccount:     "MaxUnknownRunMinsPerAccount",
	ReasonMaxBBRunMinsPerUser:             "MaxBBRunMinsPerUser",
	ReasonMaxBillingRunMinsPerUser:        "MaxBillingRunMinsPerUser",
	ReasonMaxCpuRunMinsPerUser:            "MaxCpuRunMinsPerUser",
	ReasonMaxEnergyRunMinsPerUser:         "MaxEnergyRunMinsPerUser",
	ReasonMaxGRESRunMinsPerUser:           "MaxGRESRunMinsPerUser",
	ReasonMaxNodeRunMinsPerUser:           "MaxNodeRunMinsPerUser",
	ReasonMaxLicenseRunMinsPerUser:        "MaxLicenseRunMinsPerUser",
	ReasonMaxMemoryRunMinsPerUser:         "MaxMemoryRunMinsPerUser",
	ReasonMaxUnknownRunMinsPerUser:        "MaxUnknownRunMinsPerUser",
	ReasonMaxPoweredUpNodes:               "MaxPoweredUpNodes",
	ReasonMpiPortsBusy:                    "MpiPortsBusy",
}

// String is the word that squeue prints for %r.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "InvalidReason"
}
