package differ

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// runCases are jobs that run, one option or a few each, for their environment.
func runCases() []Case {
	lines := []string{
		"", "-n2", "-n3 -N2", "-N2", "-N1-2", "-N4", "-c2", "-c2 -n3", "-n2 --ntasks-per-node=2", "--ntasks-per-node=2 -N2", "--ntasks-per-core=1", "--ntasks-per-socket=2",
		"--mem=200", "--mem-per-cpu=50", "--mem=0", "--gres=gpu:2", "--gres=gpu", "--gpus=2", "--gpus-per-node=1", "--gpus-per-task=1 -n2", "--gpus-per-socket=1 --sockets-per-node=1",
		"--gpus=2 --cpus-per-gpu=2", "--gpus=1 --mem-per-gpu=100", "--ntasks-per-gpu=2 --gpus=2", "--tres-per-task=cpu=2 -n2", "--tres-per-task=gres/gpu=1 -n1",
		"--array=5", "--array=1-2", "--array=2-6:2%1", "-J name", "-p short", "-p debug,short", "-A phys", "-q normal", "--export=NONE", "--export=NIL", "--export=FOO=1,BAR=b",
		"--export=ALL,BAR=2", "--export=FOO", "--export-file=env.bin", "-C fast", "-w n2", "-x n1", "--exclusive", "--exclusive=user", "-O -n4", "-s", "--threads-per-core=1",
		"-t 5", "-t 1-0", "--signal=USR1@60", "--signal=B:USR1@60", "--nice=5", "--hint=nomultithread", "--hint=compute_bound", "-m block", "-m cyclic", "-m plane=2 -n4", "-m cyclic:cyclic",
		"-m block,nopack", "--open-mode=append", "-L foo:2", "--comment=x", "--wckey=k", "--no-requeue", "--requeue", "--get-user-env", "--mincpus=2", "-B 1:8:1", "--cores-per-socket=2",
		"--sockets-per-node=1", "--spread-job -N1-4", "--use-min-nodes -N1-2", "--gpu-bind=closest --gpus=1", "--gres-flags=disable-binding --gres=gpu:1", "--contiguous -N2", "--tmp=0",
		"--wait-all-nodes=1", "-D /tmp", "--propagate=NONE", "--propagate=CORE", "--dependency=singleton", "--kill-on-invalid-dep=yes", "--no-kill", "--mail-type=NONE", "-Q", "--parsable",
		"--deadline=now+2days -t 5", "--time-min=1 -t 5", "--prefer=fast", "--switches=1", "--extra=a=1", "--profile=none", "-c4 --mem-per-cpu=100 -n2 -N2", "--gres=gpu:1 --gpus=1", "-n4 -N2 -c2 --gpus-per-task=1",
		"-N2 --gpus-per-node=2 --ntasks-per-node=1", "-N2 -n2 --gres=gpu:1", "--mem=1G -c8", "-N1-1 -n2", "-N2,4", "-n8 -N2 -m cyclic", "-n7 -N3", "--ntasks-per-node=3 -n3", "--exclusive -n1 -c1 --mem=0",
	}
	variables := []string{
		"SBATCH_ACCOUNT=phys", "SBATCH_EXPORT=NONE", "SBATCH_GRES=gpu:1", "SBATCH_MEM_PER_NODE=150", "SBATCH_DISTRIBUTION=cyclic", "SLURM_NTASKS=4", "SLURM_CPUS_PER_TASK=3", "SLURM_JOB_NAME=x",
		"SLURM_EXPORT_ENV=NONE", "SLURM_NNODES=2", "SLURM_SUBMIT_DIR=/x", "SLURM_FOO=1", "SLURM_PROCID=3", "SLURM_MEM_PER_CPU=5", "SLURM_GPUS=1", "SLURM_ARRAY_TASK_ID=2", "SLURM_HINT=nomultithread",
		"SLURM_CONSTRAINT=fast", "SLURM_DISTRIBUTION=block", "SLURM_TIMELIMIT=3", "SLURMD_NODENAME=x", "SLURM_UMASK=0777", "SLURM_OVERCOMMIT=1", "SLURM_RESTART_COUNT=4", "SLURM_THREADS_PER_CORE=2",
		"SBATCH_OPEN_MODE=a", "SBATCH_NO_REQUEUE=1", "SBATCH_EXCLUSIVE=", "SLURM_TIME_FORMAT=%s", "SLURM_CPU_BIND=none", "SLURM_JWT=x", "SBATCH_GPUS=1", "SBATCH_TIMELIMIT=4", "BASH_FUNC_f%%=() { :; }",
	}
	var out []Case
	for _, l := range lines {
		out = append(out, runCase(strings.Fields(l), nil))
	}
	for _, v := range variables {
		out = append(out, runCase(nil, []string{v}))
	}
	return out
}

func runCase(args, env []string) Case {
	return Case{Options: namesIn(args), Command: "sbatch", Args: args, Env: env, Runs: true,
		Directives: []string{"--output=/dev/null"}}
}

// namesIn are the long names of options as they stand on a command line.
func namesIn(args []string) []string {
	var out []string
	for _, a := range args {
		if name, ok := strings.CutPrefix(a, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			out = append(out, name)
		}
	}
	return out
}

// jobTime bounds the wait for one job.
const jobTime = 40 * time.Second

// Execute answers cases whose jobs run, one after the other, so that each finds
// the cluster empty.
func (c *Cluster) Execute(cases []Case) ([]Answer, error) {
	answers := make([]Answer, len(cases))
	for i := range cases {
		c.dirs++
		number := 100000 + c.dirs
		a, id := c.submit(&cases[i], number)
		if id != "" {
			env, err := c.awaitEnvironment(number, id)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cases[i].Key(), err)
			}
			a.Env = env
		}
		answers[i] = a
	}
	return answers, nil
}

// awaitEnvironment waits until the job has ended and reads what it wrote.
func (c *Cluster) awaitEnvironment(number int, id string) (map[string]string, error) {
	pattern := filepath.Join(c.Dir, fmt.Sprintf("s%d/job.sh.env*", number))
	for end := time.Now().Add(jobTime); ; {
		out := c.AsRoot("squeue", "-h", "-o", "%t %r", "-j", id)
		found, _ := filepath.Glob(pattern)
		if strings.TrimSpace(out.Stdout) == "" {
			if len(found) == 0 {
				return nil, fmt.Errorf("job %s left no environment", id)
			}
			data, err := os.ReadFile(found[0])
			return c.environment(string(data), number, id), err
		}
		if time.Now().After(end) {
			c.AsRoot("scancel", id)
			return map[string]string{"never ran": strings.TrimSpace(out.Stdout)}, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// volatile variables tell of the machine or of the moment.
var volatile = regexp.MustCompile(`^(SLURM_CONF|MUSTER_\w+|SLURM_JOB_(START|END)_TIME|SLURM_TOPOLOGY_\w+|SLURM_SUBMIT_HOST|HOSTNAME|_|SLURM_TASK_PID|SLURM_JOB_SLUID|TMPDIR|PWD|OLDPWD)$`)

// environment normalises the variables of a job.
func (c *Cluster) environment(data string, number int, id string) map[string]string {
	paths := c.replacer(fmt.Sprintf("s%d/job.sh", number))
	out := make(map[string]string)
	for entry := range strings.SplitSeq(data, "\x00") {
		name, value, ok := strings.Cut(entry, "=")
		if !ok {
			continue
		}
		if volatile.MatchString(name) {
			value = "(set)"
		}
		if withIDs.MatchString(name) {
			value = c.ids(value, id)
		}
		out[name] = paths.Replace(value)
	}
	return out
}
