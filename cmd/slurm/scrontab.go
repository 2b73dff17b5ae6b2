package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// newCrontab is what the editor shows to a user who has no crontab yet.
const newCrontab = `# Recurring jobs. A line is an entry, a variable (NAME=value), a comment or blank.
# Times are in the zone of the cluster. Options of sbatch for the next entry stand
# in lines such as
#SCRON --time=10
# An entry that runs every day at 5:
# 0 5 * * * /path/of/a/script
#
# minute hour day-of-month month day-of-week command
`

func scrontabFlags() []slurm.Flag {
	return []slurm.Flag{
		{Name: "e", Short: 'e'}, {Name: "help"}, {Name: "l", Short: 'l'}, {Name: "r", Short: 'r'},
		{Name: "u", Short: 'u', Arg: slurm.RequiredArg, Note: "for root only, who becomes that user"}, {Name: "usage"}, {Name: "v", Short: 'v', Note: wordy}, {Name: "version", Short: 'V'},
	}
}

// scrontabOptions is a command line of scrontab.
type scrontabOptions struct {
	edit, list, remove bool
	user, help         string
	file               string // "-": standard input
}

// scrontab lists, replaces, edits and removes the recurring jobs of a user:
// scrontab(1).
func scrontab(in *invocation) int {
	o, code := readScrontab(in)
	switch {
	case o == nil:
		return code
	case o.help == "version":
		return printVersion(in)
	case o.help != "":
		printFlags(in, "scrontab [-u user] [file | -e | -l | -r]", scrontabFlags())
		return 0
	}
	who, err := lookupAccount(o.user, in.uid)
	if err == nil && who.uid != in.uid {
		err = in.become(who)
	}
	if err != nil {
		fmt.Fprintf(in.stderr, "scrontab: fatal: %v\n", err)
		return 1
	}
	c := &crontabCommand{in: in, who: who}
	switch {
	case o.remove:
		return c.set(&api.CrontabRequest{})
	case o.list:
		return c.list()
	case o.edit:
		return c.edit()
	}
	text, err := readCrontabFile(in, o.file)
	if err != nil {
		fmt.Fprintf(in.stderr, "scrontab: fatal: %v\n", err)
		return 1
	}
	_, code = c.install(text)
	return code
}

// readScrontab reads the command line; nil options come with an exit code.
func readScrontab(in *invocation) (*scrontabOptions, int) {
	given, rest, ok, code := in.options(scrontabFlags(), 1)
	if !ok {
		return nil, code
	}
	o := &scrontabOptions{}
	for _, g := range given {
		switch g.Flag.Name {
		case "e":
			o.edit = true
		case "l":
			o.list = true
		case "r":
			o.remove = true
		case "u":
			o.user = g.Value
		case "help", "usage", "version":
			o.help = g.Flag.Name
		}
	}
	chosen := o.edit || o.list || o.remove
	switch {
	case len(rest) > 1 || chosen && len(rest) > 0:
		fmt.Fprintln(in.stderr, "Usage: scrontab [-u user] [file | -e | -l | -r]")
		return nil, 1
	case len(rest) == 1:
		o.file = rest[0]
	case !chosen && terminal(in.stdin):
		o.edit = true
	case !chosen:
		o.file = "-"
	}
	return o, 0
}

// terminal tells whether somebody sits at an input.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func readCrontabFile(in *invocation, name string) (string, error) {
	if name == "-" {
		data, err := readBounded(in.stdin, "Crontab")
		return string(data), err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("failed to open %s", name)
	}
	defer f.Close()
	data, err := readBounded(f, "Crontab")
	return string(data), err
}

// crontabCommand is one call of scrontab for a user.
type crontabCommand struct {
	in  *invocation
	who *account
}

// show asks for the user's crontab, "" if there is none.
func (c *crontabCommand) show() (string, int) {
	var reply api.CrontabReply
	code := c.in.ask("slurm_request_crontab", api.MethodCrontab, &api.NameQuery{}, &reply)
	return reply.Text, code
}

func (c *crontabCommand) list() int {
	text, code := c.show()
	if code != 0 {
		return code
	}
	if text == "" {
		fmt.Fprintf(c.in.stdout, "no crontab for %s\n", c.who.name)
		return 1
	}
	fmt.Fprint(c.in.stdout, text)
	return 0
}

// edit lets the user change the crontab until it is right or given up.
func (c *crontabCommand) edit() int {
	text, code := c.show()
	if code != 0 {
		return code
	}
	if text == "" {
		text = newCrontab
	}
	answers := &lineReader{r: c.in.stdin}
	for {
		edited, err := c.runEditor(text)
		if err != nil {
			fmt.Fprintf(c.in.stderr, "scrontab: fatal: %v\n", err)
			return 1
		}
		if edited == text {
			fmt.Fprintln(c.in.stderr, "scrontab: No modification made")
			return 0
		}
		bad, code := c.install(edited)
		if code == 0 || bad == nil {
			return code
		}
		again, ok := c.askAgain(answers)
		if !ok || !again {
			return 0
		}
		text = slurm.MarkLines(edited, "#BAD: ", bad.First, bad.Last)
	}
}

// askAgain asks whether to go on editing; ok is false at the end of the input.
func (c *crontabCommand) askAgain(answers *lineReader) (again, ok bool) {
	for {
		fmt.Fprint(c.in.stdout, "The failed line(s) is commented out with #BAD:\nDo you want to retry the edit? (y/n) ")
		c.in.stdout.Flush()
		line, err := answers.line()
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y":
			return true, true
		case "n":
			return false, true
		}
		if err != nil {
			return false, false
		}
	}
}

// lineReader reads lines byte by byte, so that an editor that is run in between
// finds the rest of the input.
type lineReader struct{ r io.Reader }

func (l *lineReader) line() (string, error) {
	var out []byte
	b := make([]byte, 1)
	for {
		n, err := l.r.Read(b)
		if n > 0 && b[0] == '\n' {
			return string(out), nil
		}
		out = append(out, b[:n]...)
		if err != nil {
			return string(out), err
		}
	}
}

// runEditor lets $VISUAL or $EDITOR change a text.
func (c *crontabCommand) runEditor(text string) (string, error) {
	dir := c.in.env("TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	f, err := os.CreateTemp(dir, "scrontab-")
	if err != nil {
		return "", fmt.Errorf("error creating temp crontab file: %w", err)
	}
	name := f.Name()
	defer os.Remove(name)
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("error writing to temp crontab file: %w", err)
	}
	editor := c.in.env("VISUAL")
	if editor == "" {
		editor = c.in.env("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	cmd := exec.Command(editor, name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in.stdin, os.Stdout, c.in.stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("editor returned non-zero exit code: %w", err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("error reopening temp crontab file: %w", err)
	}
	return string(data), nil
}

// install puts a crontab in the place of the user's. bad are the lines that are
// wrong, if the exit code says that it failed because of some.
func (c *crontabCommand) install(text string) (bad *slurm.CronError, code int) {
	entries, err := slurm.ParseCrontab(text)
	if err == nil {
		var request *api.CrontabRequest
		if request, err = c.request(text, entries); err == nil {
			return c.send(request, entries)
		}
	}
	if !errors.As(err, &bad) {
		c.in.errorf("%v", err)
		return nil, 1
	}
	c.in.errorf("%v", bad)
	fmt.Fprintln(c.in.stdout, "There are errors in your crontab.")
	return bad, 1
}

// request makes the message to the controller.
func (c *crontabCommand) request(text string, entries []slurm.CronEntry) (*api.CrontabRequest, error) {
	r := &api.CrontabRequest{Text: text, Environment: slurm.JoinEnvironment(nil, "SLURM_GET_USER_ENV=1")}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host's name: %w", err)
	}
	for i := range entries {
		e := &entries[i]
		j, err := c.job(e, host)
		if err != nil {
			return nil, &slurm.CronError{First: e.First, Last: e.Last, Text: err.Error()}
		}
		r.Entries = append(r.Entries, api.CrontabEntry{
			Cron: job.Cron{Spec: e.Spec, First: uint32(e.First), Last: uint32(e.Last)}, Script: []byte(e.Script), Job: *j,
		})
	}
	return r, nil
}

// job makes the job of one entry.
func (c *crontabCommand) job(e *slurm.CronEntry, host string) (*api.SubmitJob, error) {
	in := c.in
	o := slurm.NewOptions(&slurm.Input{Program: slurm.Sbatch, Now: in.now(), Dir: c.who.home, UID: in.uid, ReadFile: os.ReadFile})
	given, rest, err := slurm.Getopt(e.Options, slurm.Flags(slurm.Sbatch), true)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("Invalid option found in #SCRON line: %s", rest[0])
	}
	if err := o.Apply(given, slurm.FromDirective); err != nil {
		return nil, err
	}
	if err := o.Finish(); err != nil {
		return nil, err
	}
	b := &o.Job.Batch
	if o.Job.Name == "" {
		name, _, _ := strings.Cut(e.Command, " ")
		o.Job.Name = name
	}
	if b.WorkDir == "" {
		b.WorkDir = c.who.home
	}
	b.GetUserEnv, b.SubmitDir, b.SubmitHost, b.Umask = true, b.WorkDir, host, umask()
	o.Job.SubmitLine = submitLine(filepath.Base(in.name), in.args)
	j := &api.SubmitJob{Request: o.Job, Array: o.Array, Dependency: o.Dependency, Hold: o.Hold}
	if o.Priority != nil {
		j.HasPriority, j.Priority = true, *o.Priority
	}
	return j, nil
}

// send sends a request that is about some entries and prints what came of it.
func (c *crontabCommand) send(r *api.CrontabRequest, entries []slurm.CronEntry) (bad *slurm.CronError, code int) {
	var reply api.CrontabResult
	if code := c.call(r, &reply); code != 0 {
		return nil, code
	}
	if reply.Failure != "" && int(reply.Failed) < len(entries) {
		e := &entries[reply.Failed]
		fmt.Fprintf(c.in.stdout, "There was an issue with the job submission on lines %d-%d\nThe error message was: %s\n", e.First+1, e.Last+1, reply.Failure)
		return &slurm.CronError{First: e.First, Last: e.Last, Text: reply.Failure}, 1
	}
	for _, m := range reply.Messages {
		fmt.Fprintf(c.in.stderr, "%s: %s\n", c.in.name, m)
	}
	return nil, 0
}

// set sends a request without entries.
func (c *crontabCommand) set(r *api.CrontabRequest) int {
	_, code := c.send(r, nil)
	return code
}

func (c *crontabCommand) call(r *api.CrontabRequest, reply *api.CrontabResult) int {
	client, err := c.in.connect()
	if err != nil {
		c.in.errorf("%v", err)
		return 1
	}
	defer client.Close()
	if _, err := client.Ask(api.MethodSetCrontab, r, reply); err != nil {
		c.in.errorf("%s", callText(err))
		return 1
	}
	return 0
}
