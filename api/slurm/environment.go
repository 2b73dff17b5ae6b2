package slurm

import (
	"bytes"
	"fmt"
	"strings"
)

// Export is what --export asks for.
type Export struct {
	All     bool     // the whole environment of the command
	Named   []string // NAME or NAME=value
	UserEnv bool     // the node loads the user's login environment first
}

// ParseExport reads --export (sbatch(1)): ALL, NONE, NIL, or a list of names
// and NAME=value that may begin with ALL. Commas between quotes belong to the
// value.
func ParseExport(text string) (Export, error) {
	switch strings.ToUpper(text) {
	case "", "ALL":
		return Export{All: true}, nil
	case "NONE":
		return Export{UserEnv: true}, nil
	case "NIL":
		return Export{}, nil
	}
	e := Export{UserEnv: true}
	for _, part := range splitQuoted(text) {
		name, _, _ := strings.Cut(part, "=")
		switch {
		case part == "":
		case strings.EqualFold(part, "ALL"):
			e.All, e.UserEnv = true, false
		case name == "" || strings.ContainsAny(name, "\x00\n"):
			return Export{}, fmt.Errorf("--export: %q is no variable, use NAME or NAME=value", part)
		default:
			e.Named = append(e.Named, part)
		}
	}
	return e, nil
}

// splitQuoted splits at commas outside quotes and takes quotes around a whole
// value away.
func splitQuoted(text string) []string {
	var out []string
	var b []byte
	var quote byte
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && len(b) > 0 && b[len(b)-1] == '=':
			quote = c
		case quote == 0 && c == ',':
			out = append(out, string(b))
			b = b[:0]
		default:
			b = append(b, c)
		}
	}
	return append(out, string(b))
}

// Environment makes the environment of a job out of that of the command:
// NUL separated NAME=value. SLURM_ variables are always passed on, except those
// that describe the job in which the command itself may run: the new job gets
// its own.
func (e Export) Environment(environ []string) []byte {
	named := make(map[string]string, len(e.Named))
	for _, n := range e.Named {
		name, _, hasValue := strings.Cut(n, "=")
		if hasValue {
			named[name] = n
		} else {
			named[name] = ""
		}
	}
	var b []byte
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		value, wanted := named[name]
		switch {
		case !ok || name == "" || OfJob(name) || name == "SLURM_JWT" && !wanted:
			continue // a token goes to a job only if it is named
		case wanted && value != "":
			continue // given with a value of its own
		case wanted, e.All, strings.HasPrefix(name, "SLURM_"):
			b = appendVariable(b, entry)
		}
	}
	for _, n := range e.Named {
		if strings.Contains(n, "=") {
			b = appendVariable(b, n)
		}
	}
	return b
}

func appendVariable(b []byte, entry string) []byte {
	if len(b) > 0 {
		b = append(b, 0)
	}
	return append(b, entry...)
}

// JoinEnvironment adds variables to a NUL separated environment.
func JoinEnvironment(env []byte, more ...string) []byte {
	for _, m := range more {
		env = appendVariable(env, m)
	}
	return env
}

// SplitEnvironment lists the variables of a NUL separated environment.
func SplitEnvironment(env []byte) []string {
	var out []string
	for part := range bytes.SplitSeq(env, []byte{0}) {
		if len(part) > 0 {
			out = append(out, string(part))
		}
	}
	return out
}

// ofJobPrefixes and ofJobNames: the variables that describe one job.
var (
	ofJobPrefixes = []string{
		"SLURM_JOB_", "SLURM_STEP_", "SLURM_ARRAY_", "SLURM_HET_", "SLURMD_", "SLURM_TASK", "SLURM_RLIMIT_",
		"SLURM_TOPOLOGY_", "SLURM_NTASKS", "SLURM_CPUS_", "SLURM_MEM_PER_", "SLURM_GPUS", "SLURM_TRES_PER_",
		"SLURM_SUBMIT_",
	}
	ofJobNames = []string{
		"SLURM_JOBID", "SLURM_STEPID", "SLURM_NODELIST", "SLURM_NNODES", "SLURM_NPROCS", "SLURM_PROCID", "SLURM_LOCALID",
		"SLURM_NODEID", "SLURM_GTIDS", "SLURM_RESTART_COUNT", "SLURM_UMASK", "SLURM_PRIO_PROCESS", "SLURM_CLUSTER_NAME",
		"SLURM_DIST_PLANESIZE", "SLURM_LAUNCH_NODE_IPADDR",
		"SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT", "SLURM_STEPMGR", "SLURM_EXPORT_ENV", "SLURM_GET_USER_ENV",
		"SLURM_OOM_KILL_STEP",
	}
)

// OfJob tells whether a variable describes one job and is set anew for each.
func OfJob(name string) bool {
	if !strings.HasPrefix(name, "SLURM") {
		return false
	}
	for _, n := range ofJobNames {
		if n == name {
			return true
		}
	}
	for _, p := range ofJobPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
