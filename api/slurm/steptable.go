package slurm

import (
	"strconv"
	"strings"
)

// Run is what the options come to that only srun and salloc have.
type Run struct {
	Label        bool
	Unbuffered   bool
	Exact        bool
	Overlap      bool
	MultiProg    bool
	Terminal     bool   // --pty
	KillOnBad    string // --kill-on-bad-exit: "" for not given, "0", or else yes
	Wait         uint32 // seconds after the first task's end; 0: for ever
	Relative     int32  // -1: not given
	Immediate    int32  // seconds; -1: not given, 0: at once
	JobID        string // --jobid
	NoStatus     bool   // --disable-status
	NoShell      bool   // salloc --no-shell
	Bell, NoBell bool
	Bcast        string
	HetGroup     string
	MPI          string
	Prolog       string    // program before the step on srun's host; "" and "none": none
	Epilog       string    // the same after it
	CPUBind      *CPUBind  // nil: not given
	MemBind      [2]string // quiet or verbose, and the kind; "": not given
}

// runOnly makes a line of the table of srun's own options.
func runFlag(name string, short byte, help string, set func(*Run), env ...string) Option {
	return flag(name, short, help, func(o *Options) { set(&o.Run) }, env...).only(Srun)
}

// stepTable has the long options of srun(1) and salloc(1) of Slurm 26.05 that
// sbatch does not have. It is never changed.
var stepTable = []Option{
	no("async", 0, NoArg, "use sbatch, or srun with & in a script").only(Srun),
	opt("bcast", 0, "copy the program to the nodes first", nil).only(Srun).refused("copy it with sbcast"),
	no("bcast-exclude", 0, RequiredArg, "copy the program with sbcast").only(Srun),
	flag("bell", 0, "ring the bell when the allocation is granted", func(o *Options) { o.Run.Bell = true }).only(Salloc),
	no("compress", 0, OptionalArg, "files are not copied by srun here").only(Srun),
	req("cpu-bind", 0, "how tasks are bound to CPUs: none, cores, map_cpu:0,1, …", setCPUBind, "SLURM_CPU_BIND").only(Srun).each().
		differs("map_cpu and mask_cpu hold for all steps, as far as the CPUs are the step's; a socket is a NUMA domain"),
	req("mem-bind", 0, "how tasks are bound to memory: local or none", setMemBind, "SLURM_MEM_BIND").only(Srun).each().
		differs("local and none only, which is what the kernel does by itself"),
	runFlag("disable-status", 'X', "one SIGINT is enough", func(r *Run) { r.NoStatus = true }, "SLURM_DISABLE_STATUS"),
	no("external-launcher", 0, NoArg, "start MPI programs with their own mpirun").only(Srun),
	no("ignore-signals", 0, RequiredArg, "block them in the program that starts srun").only(Srun),
	no("msg-timeout", 0, RequiredArg, "a lost node is known by its connection").only(Srun),
	no("quit-on-interrupt", 0, NoArg, "use --disable-status").only(Srun),
	no("treewidth", 0, RequiredArg, "srun speaks with all nodes at once").only(Srun),
	no("wait-for-children", 0, NoArg, "let the program wait for its children").only(Srun),
	req("epilog", 0, "program that srun runs after the step, on its own host", func(o *Options, v string) error { o.Run.Epilog = v; return nil }, "SLURM_EPILOG").only(Srun).
		differs("runs before an allocation that srun asked for is given back; one component only"),
	runFlag("exact", 0, "only as many CPUs as the tasks need", func(r *Run) { r.Exact = true }, "SLURM_EXACT"),
	req("het-group", 0, "component of a heterogeneous job", func(o *Options, v string) error { o.Run.HetGroup = v; return nil }, "SLURM_HET_GROUP").only(Srun).each(),
	opt("immediate", 'I', "give up if the resources are not there within so many seconds", setImmediate, "SBATCH_IMMEDIATE").only(Srun | Salloc),
	req("jobid", 0, "run in this allocation", func(o *Options, v string) error { o.Run.JobID = v; return nil }).only(Srun | Salloc),
	opt("kill-command", 'K', "", nil).only(Salloc).refused("the command gets SIGTERM when its allocation ends"),
	opt("kill-on-bad-exit", 'K', "end the step when a task fails", setKillOnBad, "SLURM_KILL_BAD_EXIT").only(Srun),
	runFlag("label", 'l', "put the task number before each line", func(r *Run) { r.Label = true }, "SLURM_LABELIO"),
	req("mpi", 0, "none, or pmi2 for MPICH; list says so", setMPI, "SLURM_MPI_TYPE").only(Srun).
		differs("pmi2 speaks version 1.1 of the protocol over a local port, not 2.0, and implies --kill-on-bad-exit; no pmix"),
	runFlag("multi-prog", 0, "the argument is a file that names the program of each task", func(r *Run) { r.MultiProg = true }, "SLURM_MULTI_PROG"),
	no("no-allocate", 'Z', NoArg, "a step belongs to a job").only(Srun),
	flag("no-bell", 0, "do not ring the bell", func(o *Options) { o.Run.NoBell = true }).only(Salloc),
	flag("no-shell", 0, "leave when the allocation is granted", func(o *Options) { o.Run.NoShell = true }, "SBATCH_NO_SHELL").only(Salloc),
	runFlag("overlap", 0, "share what the step gets with other steps", func(r *Run) { r.Overlap = true }, "SLURM_OVERLAP"),
	no("preserve-env", 'E', NoArg, "give the counts as options").only(Srun),
	req("prolog", 0, "program that srun runs before the step, on its own host", func(o *Options, v string) error { o.Run.Prolog = v; return nil }, "SLURM_PROLOG").only(Srun).
		differs("its failure ends the step before any task begins, with exit code 1; one component only"),
	opt("pty", 0, "task 0 gets a terminal", func(o *Options, v string) error {
		if v != "" {
			return &OptionError{Text: "--pty=" + v + " is not supported: give srun the terminal itself", Code: 1}
		}
		o.Run.Terminal = true
		return nil
	}).only(Srun),
	req("relative", 'r', "number of the first node of the allocation", setRelative).only(Srun).each(),
	no("send-libs", 0, OptionalArg, "files are not copied by srun here").only(Srun),
	req("slurmd-debug", 0, "", nil).only(Srun).refused("the node's log has its own level"),
	no("task-epilog", 0, RequiredArg, "run it in the program", "SLURM_TASK_EPILOG").only(Srun),
	no("task-prolog", 0, RequiredArg, "run it in the program", "SLURM_TASK_PROLOG").only(Srun),
	req("threads", 'T', "kept for compatibility: launching needs no threads", func(o *Options, v string) error {
		_, err := number("threads", v, 1, 1<<16)
		return err
	}, "SLURM_THREADS").only(Srun),
	runFlag("unbuffered", 'u', "output as it comes", func(r *Run) { r.Unbuffered = true }, "SLURM_UNBUFFEREDIO"),
	req("wait", 'W', "end the others so many seconds after the first task has ended", setWait, "SLURM_WAIT").only(Srun),
	no("x11", 0, OptionalArg, "use ssh -X to a node of the job, where the site lets its users in").only(Srun | Salloc),
}

// refused makes an option of the table one that is refused.
func (o Option) refused(why string) Option {
	o.Set, o.Refuse, o.Help = nil, why, "not supported: "+why
	return o
}

func setMPI(o *Options, v string) error {
	switch v {
	case "none", "list", "pmi2":
	case "pmix":
		return &OptionError{Text: "--mpi=pmix is not supported: MPICH programs run with --mpi=pmi2, those of Open MPI with its own mpirun in an allocation", Code: 1}
	default:
		return &OptionError{Before: "MPI: Unable to load any plugin", Text: "Invalid MPI type '" + v + "', --mpi=list for acceptable types", Code: 1}
	}
	o.Run.MPI = v
	if v == "pmi2" && o.Run.KillOnBad == "" {
		o.Run.KillOnBad = "1" // the others would wait for ever
	}
	return nil
}

func setKillOnBad(o *Options, v string) error {
	if v == "" {
		v = "1"
	}
	if _, ok := digits(v); !ok {
		return refuse("kill-on-bad-exit")
	}
	o.Run.KillOnBad = v
	return nil
}

func setImmediate(o *Options, v string) error {
	if v == "" {
		o.Run.Immediate = 5 // as slurm's default
		return nil
	}
	n, err := number("immediate", v, 0, 1<<30)
	o.Run.Immediate = int32(n)
	return err
}

func setRelative(o *Options, v string) error {
	n, err := number("relative", v, 0, 1<<20)
	o.Run.Relative = int32(n)
	return err
}

func setWait(o *Options, v string) error {
	n, err := number("wait", v, 0, 1<<30)
	o.Run.Wait = uint32(n)
	return err
}

// stepVariables are srun's input variables that are not named after sbatch's
// (srun(1), INPUT ENVIRONMENT VARIABLES). A batch script or salloc sets them.
var stepVariables = []struct{ option, name string }{
	{"ntasks", "SLURM_NTASKS"}, {"nodes", "SLURM_NNODES"}, {"cpus-per-task", "SLURM_CPUS_PER_TASK"},
	{"ntasks-per-node", "SLURM_NTASKS_PER_NODE"}, {"mem-per-cpu", "SLURM_MEM_PER_CPU"}, {"export", "SLURM_EXPORT_ENV"},
	{"distribution", "SLURM_DISTRIBUTION"}, {"input", "SLURM_STDINMODE"}, {"output", "SLURM_STDOUTMODE"},
	{"error", "SLURM_STDERRMODE"}, {"chdir", "SLURM_WORKING_DIR"}, {"nodefile", "SLURM_HOSTFILE"},
}

// inputVariables are the variables that stand for an option of a program.
func inputVariables(opt *Option, p Program) []string {
	if p == Sbatch {
		return opt.Env
	}
	var out []string
	prefix := "SLURM_"
	if p == Salloc {
		prefix = "SALLOC_"
	}
	for _, name := range opt.Env {
		rest, ok := strings.CutPrefix(name, "SBATCH_")
		switch {
		case ok && p == Srun && (opt.Name == "export" || opt.Name == "input" || opt.Name == "output" || opt.Name == "error"):
		case ok:
			out = append(out, prefix+rest)
		default:
			out = append(out, name)
		}
	}
	if p == Srun {
		for _, v := range stepVariables {
			if v.option == opt.Name {
				out = append(out, v.name)
			}
		}
	}
	return out
}

// TaskFile tells whether a pattern names a file of its own for each task or node,
// so that the nodes open it and not srun.
func TaskFile(pattern string) bool {
	if strings.IndexByte(pattern, '\\') >= 0 {
		return false
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		i++
		for i < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9' {
			i++
		}
		if i < len(pattern) && strings.IndexByte("tnN", pattern[i]) >= 0 {
			return true
		}
	}
	return false
}

// TaskNumber reads a file option that names one task by its number.
func TaskNumber(value string) (uint32, bool) {
	n, err := strconv.ParseUint(value, 10, 31)
	return uint32(n), err == nil && value[0] != '+'
}
