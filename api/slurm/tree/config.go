package tree

import (
	"strconv"
	"strings"

	"muster/api"
)

// configKeys are the keys of scontrol show config --json, in Slurm's order. The
// last letter tells what the value is: # a number, ? a truth value, * a list of
// texts, ! a number that may be missing; none: a text. What has no counterpart here
// has the value that Slurm shows for a thing that is not set.
const configKeys = `
AccountingStorageTRES* AccountingStorageBackupHost AccountingStorageEnforce* AccountingStorageExternalHost
AccountingStorageHost AccountingStorageParameters* AccountingStoragePort# AccountingStorageType
AcctGatherEnergyType* AcctGatherProfileType AcctGatherInterconnectType AcctGatherFilesystemType
AcctGatherNodeFreq# ConfFlags* AuthAltTypes* AuthInfo AuthAltParameters AuthType BatchStartTimeout#
BurstBufferType BcastExclude* BcastParameters* CertgenParameters* CertgenType CertmgrParameters CertmgrType
CliFilterParameters* CliFilterPlugins* ClusterName CommunicationParameters* CompleteWait#
CommunicationParametersFlags* AccountingStoreFlags* SlurmdParametersFlags* controllers* CpuFreqDef
CpuFreqGovernors* CredType DataParserParameters DebugFlags* DefMemPerCPU! DependencyParameters* EioTimeout#
EnforcePartLimits* Epilog* EpilogMsgTime# EpilogSlurmctld* EpilogTimeout! FederationParameters* FirstJobId#
FairShareDampeningFactor# GetNameInfoCacheTimeout# GresTypes* GroupUpdateTime# GroupUpdateForce? GpuFreqDef
HashPlugin HealthCheckInterval# HealthCheckNodeState* HealthCheckProgram HealthCheckTimeout# HttpParserType
HostUnreachRetryCount# InactiveLimit# InteractiveStepOptions JobAcctGatherFrequency* JobAcctGatherType
JobAcctGatherParams* JobAcctOomKill? JobCompHost JobCompLoc JobCompParams JobCompPort# JobCompType JobCompUser
JobDefaults* JobFileAppend? JobRequeue? JobSubmitPlugins* KeepaliveInterval# KeepaliveProbes# KeepaliveTime#
KillOnBadExit? KillWait# LaunchParameters* Licenses* LicenseParameters* LogTimeFormat MailDomain MailProg
MaxArraySize# MaxBatchRequeue# MaxDBDMsgs# MaxJobCount# MaxJobId# MaxMemPerCPU! MaxNodeCount# MaxStepCount#
MaxTasksPerNode# MCSPlugin MCSParameters* MetricsAuthUsers* MetricsParameters* MetricsType MinJobAge#
MpiDefault MpiParams* MessageTimeout# NamespaceType NodeFeaturesPlugins* OverTimeLimit# PluginDir
PlugStackConfig PreemptExemptTime! PreemptMode* PreemptParameters* PreemptType PrEpParameters PrEpPlugins*
PriorityDecayHalfLife PriorityCalcPeriod PriorityFavorSmall? PriorityFlags* PriorityMaxAge PriorityParameters
PriorityUsageResetPeriod PriorityType PriorityWeightAge# PriorityWeightAssoc# PriorityWeightFairshare#
PriorityWeightJobSize# PriorityWeightPartition# PriorityWeightQOS# PriorityWeightTRES PrivateData*
ProctrackType Prolog* PrologSlurmctld* PrologTimeout! PropagatePrioProcess PrologFlags*
PropagateResourceLimits* PropagateResourceLimitsExcept* RebootProgram ReconfigFlags* RequeueExit*
RequeueExitHold* ResumeFailProgram ResumeProgram ResumeRate# ResumeTimeout# ResvEpilog ResvOverRun# ResvProlog
ReturnToService SlurmSchedLogFile SlurmSchedLogLevel# SchedulerParameters* SchedulerTimeSlice# SchedulerType
ScronParameters* SelectType SelectTypeParameters* PrioritySiteFactorPlugin PrioritySiteFactorParameters
SlurmUserId# SlurmUser SlurmdUserId# SlurmdUser SlurmctldAddr SlurmctldDebug SlurmctldHttpAuthParams*
SlurmctldLogFile SlurmctldPidFile SlurmctldPort# SlurmctldPortCount# SlurmctldPrimaryOffProg
SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout# SlurmctldParameters* SlurmdDebug
SlurmdHttpAuthParams* SlurmdLogFile SlurmdParameters* SlurmdPidFile SlurmdPort# SlurmdSpoolDir
SlurmdSyslogDebug SlurmdTimeout# SrunEpilog SrunPortRange! SrunProlog StateSaveLocation SuspendExcNodes*
SuspendExcParts* SuspendExcStates* SuspendProgram SuspendRate# SuspendTime! SuspendTimeout# SwitchType
SwitchParameters* TaskEpilog TaskPlugin* TaskPluginParam* TaskProlog TLSParameters* TLSType TCPTimeout# TmpFS
TopologyParam* TopologyPlugin TreeWidth# UnkillableStepProgram UnkillableStepTimeout# UrlParserType
VSizeFactor# WaitTime# X11Parameters*
`

// Config writes the configuration as scontrol show config --json does.
func Config(w *Writer, c *api.ConfigReply) {
	values := make(map[string]string, len(c.Pairs))
	for _, p := range c.Pairs {
		if strings.HasPrefix(p.Key, "SlurmctldHost[") {
			values["controllers"] += "," + p.Value
		}
		if p.Value != "(null)" {
			values[strings.ToLower(p.Key)] = p.Value
		}
	}
	w.Map("slurm_conf", func() {
		for key := range strings.FieldsSeq(configKeys) {
			name := strings.TrimRight(key, "#?*!")
			writeSetting(w, name, key[len(name):], values[strings.ToLower(name)])
		}
	})
	w.Map("slurm_conf_meta", func() {
		w.Int("LastUpdate", c.Now.Unix())
		w.Int("BOOT_TIME", leadingNumber(values["boot_time"]))
		w.Number("ClusterId", false, false, 0)
		w.Int("HashValue", 0)
		next, known := values["next_job_id"]
		w.Number("NEXT_JOB_ID", known, false, leadingNumber(next))
		w.Text("SLURM_CONF", "")
		w.Text("SLURM_VERSION", api.SlurmVersion)
	})
}

// writeSetting writes one setting, of which value is the text form.
func writeSetting(w *Writer, name, kind, value string) {
	switch {
	case name == "controllers":
		w.List(name, func() { writeControllers(w, value) })
	case name == "SrunPortRange":
		w.Map(name, func() {
			w.Int("minimum", 0)
			w.Int("maximum", 0)
			w.Bool("set", false)
		})
	case name == "SlurmUser" || name == "SlurmdUser":
		user, _, _ := strings.Cut(value, "(")
		w.Text(name, user)
	case kind == "#":
		w.Int(name, leadingNumber(value))
	case kind == "?":
		w.Bool(name, value == "1" || strings.EqualFold(value, "yes"))
	case kind == "*":
		w.Texts(name, listed(value))
	case kind == "!":
		n, err := strconv.ParseInt(value, 10, 64)
		w.Number(name, err == nil, value == "UNLIMITED" || value == "INFINITE", n)
	default:
		w.Text(name, value)
	}
}

// writeControllers writes the controllers, given as name(address),….
func writeControllers(w *Writer, list string) {
	for _, c := range listed(strings.TrimPrefix(list, ",")) {
		name, address, _ := strings.Cut(strings.TrimSuffix(c, ")"), "(")
		w.Map("", func() {
			w.Text("address", address)
			w.Text("machine", name)
		})
	}
}

// listed splits a list at commas; "none" is an empty one.
func listed(value string) []string {
	if value == "" || value == "none" {
		return nil
	}
	return strings.Split(value, ",")
}

// leadingNumber is the number at the start of a text such as "5 sec", or 0.
func leadingNumber(value string) int64 {
	digits, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
