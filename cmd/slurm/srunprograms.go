package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"muster/api/slurm"
)

// What access(2) is asked for.
const (
	mayRead = 4 // R_OK
	mayRun  = 1 // X_OK
)

// around runs the program of --prolog or --epilog on srun's host, as its user,
// with the step's program and arguments as its own (srun(1)). It returns the exit
// code; 0 where none is named, or where it may not be run, which is only said.
func (s *stepIO) around(path, context string, environ []string) int {
	if path == "" || strings.EqualFold(path, "none") {
		return 0
	}
	in := s.c.in
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.dir, path)
	}
	if err := syscall.Access(path, mayRead|mayRun); err != nil {
		text := err.Error()
		fmt.Fprintf(in.stderr, "%s: Access denied for %s: %s\n", in.name, path, strings.ToUpper(text[:1])+text[1:])
		return 0
	}
	cmd := exec.Command(path, s.c.args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = in.dir, os.Stdin, os.Stdout, os.Stderr
	cmd.Env = slurm.SplitEnvironment(slurm.SetEnvironment(environ, []string{
		fmt.Sprintf("SLURM_JOB_ID=%d", s.grant.Job), fmt.Sprintf("SLURM_STEP_ID=%d", s.grant.Step), "SLURM_SCRIPT_CONTEXT=" + context,
	}))
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended) && ended.Exited():
		return ended.ExitCode()
	case errors.As(err, &ended):
		in.errorf("script did not exit normally")
		return 1
	}
	in.errorf("%s: %v", path, err)
	return 127
}

// runAround runs the step's tasks between the programs of --prolog and --epilog.
// A prolog that fails lets no task begin; the epilog runs in any case, and its end
// changes no exit code.
func (s *stepIO) runAround(environ []string) int {
	run := &s.c.o.Run
	code := 1
	if rc := s.around(run.Prolog, "prolog_srun", environ); rc != 0 {
		s.c.in.errorf("srun prolog failed rc = %d. Aborting step.", rc)
	} else {
		code = s.run()
	}
	if rc := s.around(run.Epilog, "epilog_srun", environ); rc != 0 {
		s.c.in.errorf("srun epilog failed status=%d", rc)
	}
	return code
}
