package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/startlimit"
)

// request makes the message to the controller out of the options.
func (s *submission) request() (*api.SubmitRequest, error) {
	leader := s.jobs[0]
	env, userEnv, err := s.environment(leader)
	if err != nil {
		return nil, err
	}
	r := &api.SubmitRequest{Script: s.script, Environment: env, TestOnly: leader.Act.TestOnly}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host's name: %w", err)
	}
	for i, o := range s.jobs {
		o.Job.Batch.GetUserEnv = o.Job.Batch.GetUserEnv || userEnv
		if err := s.fill(o, host, i == 0); err != nil {
			return nil, err
		}
		j := api.SubmitJob{Request: o.Job, Array: o.Array, Dependency: o.Dependency, Hold: o.Hold, Requeue: o.RequeueChosen()}
		if o.Priority != nil {
			j.HasPriority, j.Priority = true, *o.Priority
		}
		r.Jobs = append(r.Jobs, j)
	}
	return r, nil
}

// fill adds what follows from the call itself.
func (s *submission) fill(o *slurm.Options, host string, leader bool) error {
	r := &o.Job
	b := &r.Batch
	if r.Name == "" {
		switch {
		case s.first.Act.Wrapped:
			r.Name = "wrap"
		case len(s.args) > 0:
			r.Name = filepath.Base(s.args[0])
		default:
			r.Name = "sbatch"
		}
	}
	if b.WorkDir == "" {
		b.WorkDir = s.in.dir
	}
	b.SubmitDir, b.SubmitHost = s.in.dir, host
	b.Umask = umask()
	r.SubmitLine = submitLine(s.in.name, s.in.args)
	if leader && len(s.args) > 0 {
		b.Command, b.Args = s.args[0], s.args[1:]
	}
	names, err := slurm.PropagatedLimits(o.Act.Propagate)
	if err != nil {
		return err
	}
	b.Limits, err = slurm.ReadLimits(names, softLimit)
	return err
}

// environment is what the job gets of ours, by --export and --export-file.
func (s *submission) environment(o *slurm.Options) (env []byte, userEnv bool, err error) {
	export, err := slurm.ParseExport(o.Job.Batch.Export)
	if err != nil {
		return nil, false, err
	}
	if o.WasSet("export-file") == slurm.Unset {
		env = export.Environment(s.in.environ)
	} else if env, err = readExportFile(o.Act.ExportFile); err != nil {
		return nil, false, err
	}
	if o.Dependency != "" {
		env = slurm.JoinEnvironment(env, "SLURM_JOB_DEPENDENCY="+o.Dependency)
	}
	if o.WasSet("gpus-per-node") != slurm.Unset { // the node can't tell it from --gres
		env = slurm.JoinEnvironment(env, "SLURM_GPUS_PER_NODE="+slurm.GPUText(o.Job.Gres.PerNode))
	}
	if o.WasSet("profile") != slurm.Unset {
		env = slurm.JoinEnvironment(env, "SLURM_PROFILE=None")
	}
	if all, more, _ := strings.Cut(o.Job.Batch.Export, ","); strings.EqualFold(all, "ALL") && more != "" {
		env = slurm.JoinEnvironment(env, "SLURM_GET_USER_ENV=1") // Slurm says so, though nothing is missing
	}
	if len(s.jobs) > 1 {
		env = s.componentTasks(env)
	}
	return env, export.UserEnv, nil
}

// componentTasks adds how many tasks the components of a heterogeneous job name.
func (s *submission) componentTasks(env []byte) []byte {
	for i, o := range s.jobs {
		if n := o.Job.Size.Tasks; n > 0 && o.WasSet("ntasks") != slurm.Unset {
			env = slurm.JoinEnvironment(env, fmt.Sprintf("SLURM_NTASKS_HET_GROUP_%d=%d", i, n))
			env = slurm.JoinEnvironment(env, fmt.Sprintf("SLURM_NTASKS_PACK_GROUP_%d=%d", i, n))
		}
	}
	return env
}

// readExportFile reads NUL separated variables from a file or, named by its
// number, an open file descriptor.
func readExportFile(name string) ([]byte, error) {
	f, err := openExportFile(name)
	if err != nil {
		return nil, &slurm.OptionError{Text: "Could not open user environment file " + name, Hint: err.Error(), Code: 1}
	}
	defer f.Close()
	data, err := readBounded(f, "Export file "+name)
	if errors.Is(err, syscall.EBADF) {
		return nil, &slurm.OptionError{Text: "Could not open user environment file " + name, Hint: err.Error(), Code: 1}
	}
	if err != nil {
		return nil, err
	}
	var env []byte
	for _, v := range slurm.SplitEnvironment(data) {
		if key, _, ok := strings.Cut(v, "="); ok && key != "" {
			env = slurm.JoinEnvironment(env, v)
		}
	}
	return env, nil
}

func openExportFile(name string) (*os.File, error) {
	if fd, err := strconv.ParseUint(name, 10, 16); err == nil {
		if fd < 3 {
			return nil, fmt.Errorf("file descriptor %d is not allowed, use 3 or higher", fd)
		}
		return os.NewFile(uintptr(fd), "export-file"), nil
	}
	return os.Open(name)
}

// umask reads the file mode creation mask, which can only be read by setting it.
func umask() uint32 {
	old := syscall.Umask(0)
	syscall.Umask(old)
	return uint32(old)
}

// softLimit reads a soft resource limit; the kernel's infinity is ^uint64(0).
func softLimit(number int) (uint64, error) {
	if number == syscall.RLIMIT_NOFILE { // the runtime has raised it
		if n, known := startlimit.OpenFiles(); known {
			return n, nil
		}
	}
	var l syscall.Rlimit
	if err := syscall.Getrlimit(number, &l); err != nil {
		return 0, err
	}
	return l.Cur, nil
}

// submitLine is the command line as it is recorded with the job: words joined by
// blanks.
func submitLine(name string, args []string) string {
	line := name + " " + strings.Join(args, " ")
	return strings.TrimRight(line[:min(len(line), 4096)], " ")
}
