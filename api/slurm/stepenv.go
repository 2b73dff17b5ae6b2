package slurm

import "strings"

// StepExport narrows the environment of srun for its tasks (srun(1), --export).
// The variables of the job, in contrast to those of a new job, stay.
func StepExport(e Export, environ []string) []string {
	if e.All && len(e.Named) == 0 {
		return environ
	}
	named := map[string]string{}
	for _, n := range e.Named {
		name, _, _ := strings.Cut(n, "=")
		named[name] = n
	}
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		given, wanted := named[name]
		switch {
		case wanted && strings.Contains(given, "="):
		case wanted, e.All, strings.HasPrefix(name, "SLURM"):
			out = append(out, entry)
		}
	}
	for _, n := range e.Named {
		if strings.Contains(n, "=") {
			out = append(out, n)
		}
	}
	return out
}

// SetEnvironment sets variables in an environment and joins it with NULs.
func SetEnvironment(environ, set []string) []byte {
	e := newEnviron(environ)
	for _, entry := range set {
		name, value, _ := strings.Cut(entry, "=")
		e.set(name, value)
	}
	return JoinEnvironment(nil, e.entries...)
}

// AllocationEnv is the environment of what runs beside an allocation, on the
// host of salloc or srun: the job's variables without those of a node.
func AllocationEnv(j *BatchJob, base []string) []string {
	e := newEnviron(base)
	for _, entry := range BatchEnv(j, nil) {
		name, value, _ := strings.Cut(entry, "=")
		if !ofNode(name) {
			e.set(name, value)
		}
	}
	return e.entries
}

// ofNode tells whether a variable of a batch script describes its node or itself.
func ofNode(name string) bool {
	switch name {
	case "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS", "SLURM_NODEID", "SLURM_STEP_ID", "SLURM_STEPID", "SLURMD_NODENAME",
		"HOSTNAME", "ENVIRONMENT", "SLURM_PRIO_PROCESS", "SLURM_CPUS_ON_NODE", "TMPDIR", "SLURM_TOPOLOGY_ADDR",
		"SLURM_TOPOLOGY_ADDR_PATTERN", "SLURM_OOM_KILL_STEP", "SLURM_GPUS_ON_NODE":
		return true
	}
	return false
}
