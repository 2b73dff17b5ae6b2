package differ

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/api/slurm/format"
)

// queueJobs are the jobs that listings show, the same on every cluster: the words
// of sbatch, and who submits (r: root).
func queueJobs() []string {
	return []string{
		"-J run1 -w n1 -n2 -t 1:00:00 --comment=first --wrap=sleep_600",
		"-J run2 -w n2 -c4 --gres=gpu:2 -t 30 -L foo:1 --wrap=sleep_600",
		"-J longer-name-of-a-job -w n3 -N1 --mem=500 --wrap=sleep_600",
		"r -J rootjob -p short -w n2 -t 4 --wrap=sleep_600",
		"-J held -H -n4 -N2 --wrap=true",
		"-J begin --begin=2035-01-01 -C fast --nice=7 --wrap=true",
		"-J array --array=1-5%2 --begin=2035-01-01 --wrap=true",
		"-J depends --begin=2035-01-01 -d singleton -p debug,short --wrap=true",
		"-J down -p down --wrap=true",
		"-J gpus -H --gpus=2 -x n1 --deadline=2036-01-01 --wrap=true",
		"-J done --wrap=true",
		"-J bad --wrap=false",
		"-J gone -H --wrap=true",
	}
}

// PrepareQueue submits the jobs of the listings and waits until those that run
// do and those that end have ended.
func (c *Cluster) PrepareQueue() error {
	if err := c.useUpIDs(); err != nil {
		return err
	}
	for _, line := range queueJobs() {
		words := strings.Fields(strings.ReplaceAll(line, "sleep_600", "sleep\x00600"))
		root := words[0] == "r"
		if root {
			words = words[1:]
		}
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\x00", " ")
		}
		words = append([]string{"--parsable", "-D", "/tmp", "-o", "/dev/null"}, words...)
		run := c.command
		if root {
			run = func(name string, args, _ []string) Answer { return c.AsRoot(name, args...) }
		}
		out := run("sbatch", words, nil)
		if out.Code != 0 {
			return fmt.Errorf("sbatch %s: %s", line, out.Stderr)
		}
		c.queue = append(c.queue, strings.TrimSpace(out.Stdout))
	}
	if out := c.AsRoot("scancel", c.queue[len(c.queue)-1]); out.Code != 0 {
		return fmt.Errorf("scancel: %s", out.Stderr)
	}
	for end := time.Now().Add(jobTime); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		running := c.AsRoot("squeue", "-h", "-t", "R", "-o", "%i")
		ended := c.AsRoot("sacct", "-X", "-n", "-P", "-o", "State", "--name=done,bad", "-u", userName, "-s", "CD,F", "-S", "now-1hours", "-E", "now")
		ending := c.AsRoot("squeue", "-h", "-t", "CG")
		if strings.Count(running.Stdout, "\n") == 4 && ending.Stdout == "" && strings.Contains(ended.Stdout, "COMPLETED") && strings.Contains(ended.Stdout, "FAILED") {
			return nil
		}
	}
	return fmt.Errorf("the queue of the listings did not come to rest:\n%s", c.AsRoot("squeue").Stdout)
}

// useUpIDs makes a heterogeneous job of many components and cancels it, so that
// the ids of the next jobs have three digits and are told from other numbers.
func (c *Cluster) useUpIDs() error {
	args := []string{"--parsable", "-H", "-o", "/dev/null", "--wrap=true"}
	for range 110 {
		args = append(args, ":", "-n1")
	}
	out := c.AsRoot("sbatch", args...)
	if out.Code != 0 {
		return fmt.Errorf("sbatch of many components: %s", out.Stderr)
	}
	if out := c.AsRoot("scancel", strings.TrimSpace(out.Stdout)); out.Code != 0 {
		return fmt.Errorf("scancel: %s", out.Stderr)
	}
	return nil
}

// ClearQueue ends all jobs.
func (c *Cluster) ClearQueue() {
	for _, state := range []string{"PENDING", "RUNNING"} {
		c.AsRoot("scancel", "-t", state)
	}
}

// Listings makes the cases of the commands that show things: letters and names
// of fields, widths, suffixes, sort orders, filters, bad values.
func Listings() []Case {
	var out []Case
	add := func(command string, args ...string) {
		out = append(out, Case{Options: namesIn(args), Command: command, Args: args})
	}
	for _, c := range "aAbBcCdDfFgGhHiIjJkKlLmMnNoOPqrRsStTuUvVwWxXyYzZe!0" {
		add("squeue", "-h", "-S", "j", "-o", fmt.Sprintf("%%%c", c))
		add("squeue", "-S", "j", "-o", fmt.Sprintf("%%12%c|%%.12%c|%%4%c|%%.4%c|", c, c, c, c))
	}
	for _, c := range "aAbBcCdDeEfFgGhHiIjlLmMnNoOpPrRsStTuUvVwWXxYyzZ!0" {
		add("sinfo", "-o", fmt.Sprintf("%%%c", c))
		add("sinfo", "-N", "-o", fmt.Sprintf("%%N|%%12%c|%%.12%c|%%4%c|", c, c, c))
	}
	for _, name := range fieldNames() {
		add("squeue", "-S", "j", "-O", name)
		add("squeue", "-h", "-S", "j", "-O", "name:24,"+name+":12,"+name+":.9,"+name+":|")
	}
	for _, f := range format.NodeFields() {
		add("sinfo", "-O", f.Name)
		add("sinfo", "-h", "-N", "-O", "nodelist:6,"+f.Name+":12,"+f.Name+":.9")
	}
	const ended = "@0@,@1@,@10@,@11@"
	for _, f := range format.AcctFields() {
		add("sacct", "-X", "-n", "-j", ended, "-o", "jobname,"+f.Name)
		add("sacct", "-n", "-P", "-j", ended, "-o", "jobname%6,"+f.Name+"%12,"+f.Name+"%-5")
	}
	for _, line := range strings.Split(strings.TrimSpace(listingLines), "\n") {
		words := strings.Split(line, " ")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "~", " ")
		}
		add(words[0], words[1:]...)
	}
	return distinct(out)
}

// fieldNames are the names that squeue -O knows.
func fieldNames() []string {
	var out []string
	for _, f := range format.JobFields() {
		out = append(out, f.Name)
	}
	return out
}

// List answers cases of commands that show things.
func (c *Cluster) List(cases []Case) []Answer {
	answers := make([]Answer, len(cases))
	for i := range cases {
		var args []string
		for _, a := range cases[i].Args {
			args = append(args, c.fillQueue(a))
		}
		a := c.command(cases[i].Command, args, cases[i].Env)
		a.Stdout, a.Stderr = c.shown(a.Stdout), c.shown(a.Stderr)
		answers[i] = a
	}
	return answers
}

var queueRef = regexp.MustCompile(`@(\d+)@`)

// fillQueue puts the id of the n-th job of the queue in for @n@.
func (c *Cluster) fillQueue(text string) string {
	return queueRef.ReplaceAllStringFunc(text, func(m string) string {
		n := 0
		fmt.Sscanf(m, "@%d@", &n)
		if n < len(c.queue) {
			return c.queue[n]
		}
		return m
	})
}

var (
	shownNumber = regexp.MustCompile(`\d+`)
	shownMoment = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d`)
	shownSpan   = regexp.MustCompile(`\b\d+:\d\d(:\d\d)?(\.\d+)?\b`)
	shownDay    = regexp.MustCompile(`[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d 20\d\d`)
	// shownPart is a moment near now of which a column shows the beginning only; those
	// of the queue's own are in 2035.
	shownPart = regexp.MustCompile(`20([0-24-9]\d|3[0-46-9])(-[\d:T-]*|\b)`)
	blanks    = regexp.MustCompile(` +`)
)

// shown normalises a listing: ids by their place in the queue, moments near now
// and spans of seconds, and then blanks, whose number depends on those.
func (c *Cluster) shown(text string) string {
	mapped := shownNumber.ReplaceAllStringFunc(text, func(n string) string {
		for i, id := range c.queue {
			if n == id && len(id) > 2 {
				return fmt.Sprintf("<J%d>", i)
			}
		}
		return n
	})
	mapped = shownDay.ReplaceAllString(mapped, "<now>")
	mapped = shownMoment.ReplaceAllStringFunc(mapped, func(m string) string {
		if t, err := time.Parse(isoTime, m); err == nil && t.Before(time.Now().Add(48*time.Hour)) {
			return "<now>"
		}
		return m
	})
	mapped = shownPart.ReplaceAllString(mapped, "<now>")
	mapped = shownSpan.ReplaceAllString(mapped, "<span>")
	if mapped == text {
		return text
	}
	lines := strings.Split(blanks.ReplaceAllString(mapped, " "), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
