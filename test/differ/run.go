package differ

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The user that submits, on all systems there and able to log in on none.
const (
	userName = "daemon"
	userID   = 1
)

// Cluster is a cluster that answers cases.
type Cluster struct {
	Bin string   // directory of its commands
	Env []string // what they need to reach it
	Dir string   // scratch directory, readable and writable by all

	job, array string // ids of two jobs that wait, for dependencies
	dirs       int
	queue      []string // ids of the jobs of the listings
}

// Prepare makes what the cases name: files, and jobs to depend on.
func (c *Cluster) Prepare() error {
	for name, text := range map[string]string{"nodes.txt": "n1\nn2\n", "env.bin": "FOO=1\x00BAR=a b\x00"} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("preparing the scratch directory: %w", err)
		}
	}
	var err error
	if c.job, err = c.waiting(); err == nil {
		c.array, err = c.waiting("--array=1-3")
	}
	return err
}

// waiting submits a job that waits.
func (c *Cluster) waiting(args ...string) (string, error) {
	args = append([]string{"--parsable", "--job-name=base", "--begin=2035-01-01"}, args...)
	out := c.command("sbatch", append(args, "--wrap=true"), nil)
	id := strings.TrimSpace(out.Stdout)
	if out.Code != 0 || id == "" {
		return "", fmt.Errorf("sbatch %v: exit code %d: %s", args, out.Code, out.Stderr)
	}
	return id, nil
}

// command runs a command as the user.
func (c *Cluster) command(name string, args, env []string) Answer {
	return c.run(name, args, env, &syscall.Credential{Uid: userID, Gid: userID})
}

// AsRoot runs a command as the user of the test.
func (c *Cluster) AsRoot(name string, args ...string) Answer { return c.run(name, args, nil, nil) }

func (c *Cluster) run(name string, args, env []string, who *syscall.Credential) Answer {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, name), args...)
	cmd.Args[0], cmd.Dir = name, c.Dir
	cmd.Env = append([]string{
		"PATH=/usr/bin:/bin", "HOME=/", "USER=" + userName, "LOGNAME=" + userName, "SHELL=/bin/sh", "LC_ALL=C", "TZ=UTC", "FOO=foo",
	}, append(append([]string(nil), c.Env...), env...)...)
	if who != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return Answer{Code: -1, Stderr: err.Error()}
	}
	return Answer{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// chunk is how many jobs are in the queue before they are looked at and cancelled.
const chunk = 400

// Submit answers cases of sbatch whose jobs wait.
func (c *Cluster) Submit(cases []Case, workers int) ([]Answer, error) {
	answers := make([]Answer, len(cases))
	ids := make([]string, len(cases))
	for from := 0; from < len(cases); from += chunk {
		to := min(from+chunk, len(cases))
		var wait sync.WaitGroup
		next := make(chan int)
		for range workers {
			wait.Go(func() {
				for i := range next {
					answers[i], ids[i] = c.submit(&cases[i], i)
				}
			})
		}
		for i := from; i < to; i++ {
			next <- i
		}
		close(next)
		wait.Wait()
		if err := c.look(cases[from:to], answers[from:to], ids[from:to]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

var submitted = regexp.MustCompile(`(?m)^(?:Submitted batch job )?(\d+)(?:;\w+)?(?: on cluster \w+)?$`)

// submit runs one case and gives the id of its job, "" if there is none.
func (c *Cluster) submit(cs *Case, number int) (Answer, string) {
	script, err := c.script(cs, number)
	if err != nil {
		return Answer{Code: -1, Stderr: err.Error()}, ""
	}
	var args []string
	for _, a := range cs.Args {
		args = append(args, c.fill(a))
	}
	var env []string
	for _, e := range cs.Env {
		env = append(env, c.fill(e))
	}
	if !hasOption(cs, "wrap") {
		args = append(args, script)
	}
	a := c.command(cs.Command, args, env)
	id := ""
	if m := submitted.FindStringSubmatch(a.Stdout); m != nil {
		id = m[1]
	}
	a.Stdout, a.Stderr = c.message(a.Stdout, script), c.message(a.Stderr, script)
	return a, id
}

func hasOption(c *Case, name string) bool {
	for _, o := range c.Options {
		if o == name {
			return true
		}
	}
	return false
}

// fill puts the ids of the jobs to depend on in.
func (c *Cluster) fill(text string) string {
	return strings.NewReplacer("@JOB@", c.job, "@ARRAY@", c.array).Replace(text)
}

// script writes the script of a case and returns its path relative to Dir.
func (c *Cluster) script(cs *Case, number int) (string, error) {
	name := fmt.Sprintf("s%d/job.sh", number)
	path := filepath.Join(c.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", fmt.Errorf("writing the script: %w", err)
	}
	text := "#!/bin/sh\n"
	for _, d := range cs.Directives {
		text += "#SBATCH " + c.fill(d) + "\n"
	}
	if cs.Runs {
		text += fmt.Sprintf("env -0 > %[1]s.part$$\nmv %[1]s.part$$ %[1]s.env${SLURM_ARRAY_TASK_ID:-}\n", path)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		return "", fmt.Errorf("writing the script: %w", err)
	}
	return name, os.Chmod(filepath.Dir(path), 0o777)
}

// look adds the records of the jobs to the answers and cancels the jobs.
func (c *Cluster) look(cases []Case, answers []Answer, ids []string) error {
	out := c.AsRoot("scontrol", "show", "job")
	if out.Code != 0 {
		return fmt.Errorf("scontrol show job: exit code %d: %s", out.Code, out.Stderr)
	}
	records := parseRecords(out.Stdout)
	for i, id := range ids {
		if id == "" {
			continue
		}
		record := records[id]
		if record == nil {
			return fmt.Errorf("scontrol show job does not show job %s", id)
		}
		answers[i].Record = c.record(record, id)
		if hasOption(&cases[i], "dependency") {
			answers[i].Record["SubmitLine"] = c.idsInWords(answers[i].Record["SubmitLine"])
		}
	}
	if out := c.AsRoot("scancel", "-u", userName, "-t", "PENDING"); out.Code != 0 {
		return fmt.Errorf("scancel: exit code %d: %s", out.Code, out.Stderr)
	}
	return c.Prepare()
}
