package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/api/slurm"
)

// What scrontab says before it asks the cluster.
func TestScrontabRefusals(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("#SCRON --nosuch\n@daily true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args           []string
		stdin          string
		stdout, stderr string
	}{
		{[]string{"a", "b"}, "", "", "Usage: scrontab"},
		{[]string{"-e", "a"}, "", "", "Usage: scrontab"},
		{[]string{"/nosuch"}, "", "", "scrontab: fatal: failed to open /nosuch\n"},
		{[]string{"-u", "nosuchuser", "-l"}, "", "", "scrontab: fatal: Could not find user nosuchuser\n"},
		{[]string{"-"}, "x\n", "There are errors in your crontab.\n", "scrontab: error: line 1: neither"},
		{nil, "@daily true\n* * * *\n", "There are errors in your crontab.\n", "scrontab: error: line 2: "},
		{[]string{bad}, "", "There are errors in your crontab.\n", "scrontab: error: line 2: unrecognized option '--nosuch'"},
		{[]string{"-"}, "#SCRON script\n@daily true\n", "There are errors in your crontab.\n", "Invalid option found in #SCRON line: script"},
		{[]string{"-"}, "#SCRON -t never\n@daily true\n", "There are errors in your crontab.\n", "Invalid --time specification"},
	} {
		code, stdout, stderr := runHere(t, dir, c.stdin, append([]string{"scrontab"}, c.args...)...)
		if code != 1 || stdout != c.stdout || !strings.Contains(stderr, c.stderr) {
			t.Errorf("scrontab %q: exit %d, %q, %q; want %q and %q", c.args, code, stdout, stderr, c.stdout, c.stderr)
		}
	}
}

// The message that a crontab becomes.
func TestCrontabRequest(t *testing.T) {
	text := "A=/bin\n#SCRON -J named -o out -n 2\n@daily $A/true x\n0 5 * * * /bin/date -u\n"
	entries, err := slurm.ParseCrontab(text)
	if err != nil {
		t.Fatal(err)
	}
	c := &crontabCommand{in: &invocation{name: "scrontab", args: []string{"-"}, now: time.Now, uid: 1000}, who: &account{name: "anna", home: "/home/anna"}}
	r, err := c.request(text, entries)
	if err != nil || len(r.Entries) != 2 || r.Text != text || string(r.Environment) != "SLURM_GET_USER_ENV=1" {
		t.Fatalf("%+v, %v", r, err)
	}
	a, b := &r.Entries[0], &r.Entries[1]
	if q := &a.Job.Request; q.Name != "named" || q.Size.Tasks != 2 || q.Batch.Stdout != "out" || q.Batch.WorkDir != "/home/anna" || !q.Batch.GetUserEnv {
		t.Errorf("first: %+v", q)
	}
	if q := &b.Job.Request; q.Name != "/bin/date" || b.Cron.Spec != "0 5 * * *" || b.Cron.First != 3 || b.Cron.Last != 3 || q.Size.Tasks == 2 {
		t.Errorf("second: %+v of %+v", q, b.Cron)
	}
	if a.Cron.First != 1 || a.Cron.Last != 2 || !strings.HasSuffix(string(a.Script), "\n/bin/true x\n") {
		t.Errorf("first: lines %+v, script %q", a.Cron, a.Script)
	}
}

// The editor gets the text in a file of its own, which is gone afterwards.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "ed")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\ncat \"$1\" >"+dir+"/seen\necho \"$1\" >"+dir+"/name\necho changed >\"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"EDITOR": editor, "TMPDIR": dir}
	c := &crontabCommand{in: &invocation{getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }, stdin: strings.NewReader(""), stderr: os.Stderr}}
	got, err := c.runEditor("before\n")
	seen, _ := os.ReadFile(dir + "/seen")
	if err != nil || got != "changed\n" || string(seen) != "before\n" {
		t.Errorf("%q, %v; the editor saw %q", got, err, seen)
	}
	if left, _ := filepath.Glob(dir + "/scrontab-*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	env["VISUAL"] = "false"
	if _, err := c.runEditor("x"); err == nil {
		t.Error("an editor that fails is taken")
	}
}

func TestBecomeIsForRoot(t *testing.T) {
	in := &invocation{uid: 1000}
	if err := in.become(&account{name: "bert", uid: 1001}); err == nil || in.uid != 1000 {
		t.Errorf("user 1000 became %d: %v", in.uid, err)
	}
}

// Variables that stand for switches of scancel.
func TestScancelSwitches(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "T": true, "false": false, "f": false, "maybe": false} {
		var errs strings.Builder
		in := &invocation{name: "scancel", stderr: &errs, getenv: func(n string) (string, bool) {
			return value, slices.Contains([]string{"SCANCEL_FULL", "SCANCEL_CRON"}, n)
		}}
		o := &scancelOptions{}
		o.switches(in)
		if o.request.Full != want || o.request.Batch || !o.request.Cron || (errs.Len() > 0) != (value == "maybe") {
			t.Errorf("%q: %+v, said %q", value, o.request, errs.String())
		}
	}
}
