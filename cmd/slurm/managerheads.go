package main

// managerHeads are the columns of sacctmgr show for an entity, in Slurm's order;
// nil if there is no such listing. A column without a field is one of a limit that
// this version has not: nobody can set it.
func managerHeads(entity string) []head {
	switch entity {
	case "account":
		return []head{{"Account", 10, "account", "name"}, {"Descr", 20, "descr", "description"}, {"Org", 20, "org", "organization"}}
	case "association":
		return associationHeads()
	case "cluster":
		return []head{{"Cluster", 10, "cluster", "name"}, {"ControlHost", 15, "controlhost", ""}, {"ControlPort", 12, "controlport", ""}, {"RPC", 5, "", ""}, {"Share", 9, "share", "fairshare"},
			{"GrpJobs", 7, "", ""}, {"GrpTRES", 13, "", ""}, {"GrpSubmit", 9, "", ""}, {"MaxJobs", 7, "", ""}, {"MaxTRES", 13, "", ""}, {"MaxSubmit", 9, "", ""}, {"MaxWall", 11, "", ""},
			{"QOS", 20, "qos", ""}, {"Def QOS", 9, "defaultqos", ""}}
	case "event":
		return []head{{"Cluster", 10, "", ""}, {"NodeName", -15, "", ""}, {"TimeStart", 19, "", ""}, {"TimeEnd", 19, "", ""}, {"State", 6, "", ""}, {"Reason", 30, "", ""}, {"User", 10, "", ""}}
	case "federation":
		return []head{{"Federation", 10, "", ""}, {"Cluster", 10, "", ""}, {"ID", 2, "", ""}, {"Features", 20, "", ""}, {"FedState", 12, "", ""}}
	case "problem":
		return []head{{"Cluster", 10, "", ""}, {"Account", 10, "", ""}, {"User", 10, "", ""}, {"Problem", 40, "", ""}}
	case "qos":
		return qosHeads()
	case "reservation":
		return []head{{"Cluster", 10, "", ""}, {"Name", 15, "", ""}, {"TRES", 30, "", ""}, {"TimeStart", 19, "", ""}, {"TimeEnd", 19, "", ""}, {"UnusedWall", 10, "", ""}}
	case "resource":
		return []head{{"Name", 10, "", ""}, {"Server", 10, "", ""}, {"Type", 8, "", ""}, {"Count", 6, "", ""}, {"LastConsumed", 12, "", ""}, {"Allocated", 9, "", ""}, {"ServerType", 10, "", ""}, {"Flags", 20, "", ""}}
	case "transaction":
		return []head{{"Time", 19, "", ""}, {"Action", 20, "", ""}, {"Actor", 10, "", ""}, {"Where", 20, "", ""}, {"Info", 20, "", ""}}
	case "tre":
		return []head{{"Type", 8, "type", ""}, {"Name", 15, "name", ""}, {"ID", 6, "id", ""}}
	case "user":
		return []head{{"User", 10, "user", "name"}, {"Def Acct", 10, "defaccount", "defaultaccount"}, {"Admin", 9, "adminlevel", ""}}
	case "wckey":
		return []head{{"WCKey", 10, "", ""}, {"Cluster", 10, "", ""}, {"User", 10, "", ""}}
	}
	return nil
}

func associationHeads() []head {
	return []head{
		{"Cluster", 10, "cluster", ""}, {"Account", 10, "account", ""}, {"User", 10, "user", ""}, {"Partition", 10, "partition", ""}, {"Share", 9, "share", "fairshare"},
		{"Priority", 10, "priority", ""}, {"GrpJobs", 7, "grpjobs", ""}, {"GrpTRES", 13, "grptres", ""}, {"GrpSubmit", 9, "grpsubmit", "grpsubmitjobs"}, {"GrpWall", 11, "grpwall", ""},
		{"GrpTRESMins", 13, "grptresmins", ""}, {"MaxJobs", 7, "maxjobs", ""}, {"MaxTRES", 13, "maxtres", "maxtresperjob"}, {"MaxTRESPerNode", 14, "", ""}, {"MaxSubmit", 9, "maxsubmit", "maxsubmitjobs"},
		{"MaxWall", 11, "maxwall", "maxwalldurationperjob"}, {"MaxTRESMins", 13, "maxtresmins", "maxtresminsperjob"}, {"QOS", 20, "qos", ""}, {"Def QOS", 9, "defaultqos", ""}, {"GrpTRESRunMins", 13, "", ""},
	}
}

// namedHeads are those that are shown only if --format names them.
func namedHeads() []head {
	return []head{{"Par Name", 10, "parentname", ""}}
}

// userAssociationHeads are those of sacctmgr -s show user.
func userAssociationHeads() []head {
	return []head{
		{"User", 10, "user", "name"}, {"Def Acct", 10, "defaccount", "defaultaccount"}, {"Admin", 9, "adminlevel", ""}, {"Cluster", 10, "cluster", ""}, {"Account", 10, "account", ""},
		{"Partition", 10, "partition", ""}, {"Share", 9, "share", "fairshare"}, {"Priority", 10, "priority", ""}, {"MaxJobs", 7, "maxjobs", ""}, {"MaxNodes", 8, "", ""}, {"MaxCPUs", 8, "", ""},
		{"MaxSubmit", 9, "maxsubmit", ""}, {"MaxWall", 11, "maxwall", ""}, {"MaxCPUMins", 11, "", ""}, {"QOS", 20, "qos", ""}, {"Def QOS", 9, "defaultqos", ""},
	}
}

func qosHeads() []head {
	return []head{
		{"Name", 10, "name", ""}, {"Priority", 10, "priority", ""}, {"GraceTime", 10, "gracetime", ""}, {"Preempt", 10, "preempt", ""}, {"PreemptExemptTime", 19, "preemptexempttime", ""}, {"PreemptMode", 11, "preemptmode", ""},
		{"Flags", 40, "flags", ""}, {"UsageThres", 10, "", ""}, {"UsageFactor", 11, "usagefactor", ""}, {"GrpTRES", 13, "grptres", ""}, {"GrpTRESMins", 13, "grptresmins", ""}, {"GrpTRESRunMins", 13, "", ""},
		{"GrpJobs", 7, "grpjobs", ""}, {"GrpSubmit", 9, "grpsubmit", "grpsubmitjobs"}, {"GrpWall", 11, "grpwall", ""}, {"MaxTRES", 13, "maxtres", "maxtresperjob"}, {"MaxTRESPerNode", 14, "", ""},
		{"MaxTRESMins", 13, "maxtresmins", "maxtresminsperjob"}, {"MaxWall", 11, "maxwall", "maxwalldurationperjob"}, {"MaxTRESPU", 13, "maxtrespu", "maxtresperuser"}, {"MaxJobsPU", 9, "maxjobspu", "maxjobsperuser"},
		{"MaxSubmitPU", 11, "maxsubmitpu", "maxsubmitjobsperuser"}, {"MaxTRESPA", 13, "maxtrespa", "maxtresperaccount"}, {"MaxTRESRunMinsPA", 22, "", ""}, {"MaxTRESRunMinsPU", 22, "", ""},
		{"MaxJobsPA", 9, "maxjobspa", "maxjobsperaccount"}, {"MaxSubmitPA", 11, "maxsubmitpa", "maxsubmitjobsperaccount"}, {"MinTRES", 13, "mintres", "mintresperjob"},
	}
}
