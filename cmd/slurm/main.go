// Command muster-cmds is all of the Slurm-compatible commands in one program:
// links named sbatch, squeue, scancel and so on choose which one it is. It
// speaks frames to the agent of its host and links neither protobuf nor gRPC,
// so that it starts fast.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/api"
)

// invocation is one call of a command: all that it may touch of the world.
type invocation struct {
	name    string // sbatch, squeue, …
	args    []string
	stdin   io.Reader
	stdout  *bufio.Writer // flushed by main
	stderr  io.Writer
	environ []string
	getenv  func(string) (string, bool)
	dir     string // working directory
	uid     uint32
	now     func() time.Time // in the user's zone
	connect func() (*api.Client, error)
}

// lookup finds a command by the name it was called by; nil if there is none.
func lookup(name string) func(*invocation) int {
	switch name {
	case "sbatch":
		return sbatch
	case "scancel":
		return scancel
	case "scontrol":
		return scontrol
	case "srun":
		return srun
	case "salloc":
		return salloc
	case "sattach":
		return sattach
	case "sbcast":
		return sbcast
	case "scrontab":
		return scrontab
	case "strigger":
		return strigger
	case "sstat":
		return sstat
	case "seff":
		return seff
	}
	return lookupListing(name)
}

func main() {
	os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:]))
}

// run runs one command on the real world and returns its exit code. Called as
// muster-cmds, the first argument is the command.
func run(name string, args []string) int {
	if name == "muster-cmds" {
		if len(args) == 0 {
			fmt.Fprintln(os.Stderr, "muster-cmds: call it by a link named after a command, or as: muster-cmds COMMAND [OPTION...]")
			return 1
		}
		name, args = args[0], args[1:]
	}
	command := lookup(name)
	if command == nil {
		fmt.Fprintf(os.Stderr, "muster-cmds: %s is not a command of this program\n", name)
		return 1
	}
	in := &invocation{
		name: name, args: args, stdin: os.Stdin, stdout: bufio.NewWriterSize(os.Stdout, 64<<10), stderr: os.Stderr,
		environ: os.Environ(), getenv: os.LookupEnv, dir: workingDir(), uid: uint32(os.Getuid()), now: time.Now, connect: api.Connect,
	}
	code := command(in)
	if err := in.stdout.Flush(); err != nil && code == 0 {
		fmt.Fprintf(os.Stderr, "%s: error: writing the output: %v\n", name, err)
		code = 1
	}
	return code
}

// workingDir is $PWD if it is right, so that a path through a link stays as the
// user sees it; else what the kernel says.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return dir
}

// errorf prints a line as Slurm's commands print their errors.
func (in *invocation) errorf(format string, args ...any) {
	fmt.Fprintf(in.stderr, in.name+": error: "+format+"\n", args...)
}
