package slurm

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseCrontab(t *testing.T) {
	text := `# nightly things
DIR=/home/user1
NAME = "two words"
#SCRON -p high
#SCRON -t 1:00 --comment="a b" -J 'x y'
@hourly $DIR/date.job $NAME $OTHER $DIRX

DIR=/elsewhere
1-5,30 8-17/2 * * wed $DIR/example.job '$NAME'
`
	got, err := ParseCrontab(text)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	a, b := got[0], got[1]
	if a.Spec != "@hourly" || a.Command != "/home/user1/date.job two words $OTHER $DIRX" || a.First != 3 || a.Last != 5 {
		t.Errorf("first: %+v", a)
	}
	if want := []string{"-p", "high", "-t", "1:00", "--comment=a b", "-J", "x y"}; !slices.Equal(a.Options, want) {
		t.Errorf("options %q, want %q", a.Options, want)
	}
	if b.Spec != "1-5,30 8-17/2 * * wed" || b.Command != "/elsewhere/example.job 'two words'" || b.First != 8 || b.Last != 8 || b.Options != nil {
		t.Errorf("second: %+v", b)
	}
	want := "#!/bin/sh\n# This job was submitted through scrontab\n#SCRON -p high\n#SCRON -t 1:00 --comment=\"a b\" -J 'x y'\n" +
		"# crontab time request was: '@hourly'\n/home/user1/date.job two words $OTHER $DIRX\n"
	if a.Script != want {
		t.Errorf("script:\n%s\nwant:\n%s", a.Script, want)
	}
}

func TestParseCrontabRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense":                    "line 1: neither",
		"\n* * * * *":                 "line 2: neither",
		"@often run":                  "line 1:",
		"99 * * * * run":              "line 1: minute",
		"#SCRON --comment='x\n@daily": "line 1: #SCRON: Unmatched",
		"X='a":                        "line 1: neither",
		strings.Repeat("@daily x\n", mostEntries+1): "line 1001: a crontab has at most",
	} {
		_, err := ParseCrontab(text)
		var bad *CronError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestMarkLines(t *testing.T) {
	text := "a\nb\n\nc\n"
	for _, c := range []struct {
		first, last int
		want        string
	}{{0, 0, "#BAD: a\nb\n\nc\n"}, {1, 3, "a\n#BAD: b\n\n#BAD: c\n"}, {4, 9, text}, {-3, -1, text}} {
		if got := MarkLines(text, "#BAD: ", c.first, c.last); got != c.want {
			t.Errorf("%d-%d: %q, want %q", c.first, c.last, got, c.want)
		}
	}
}

func FuzzParseCrontab(f *testing.F) {
	f.Add("DIR=/x\n#SCRON -p high\n@hourly $DIR/job\n")
	f.Add("* * * * * x\n#SCRON \"\\")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseCrontab(text)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.First > e.Last || e.Spec == "" || e.Command == "" {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}
