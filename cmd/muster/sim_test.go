package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// output runs muster sim with arguments and returns what it prints.
func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	before := os.Stdout
	os.Stdout = out
	app := &cli.App{Name: "muster", Commands: []*cli.Command{simCommand()}, Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(*cli.Context, error) {}}
	runErr := app.Run(append([]string{"muster", "sim"}, args...))
	os.Stdout = before
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), runErr
}

// file writes a file of a test.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const smallSWF = "; MaxProcs: 4\n" +
	"1 0 -1 600 4 -1 -1 4 600 -1 1 1 1 -1 -1 -1 -1 -1\n" +
	"2 1 -1 6000 4 -1 -1 4 6000 -1 1 1 1 -1 -1 -1 -1 -1\n" +
	"3 2 -1 60 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"

func answer(t *testing.T, args ...string) map[string]any {
	t.Helper()
	text, err := output(t, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %v in %s", args, err, text)
	}
	return m
}

func TestSimRunPolicies(t *testing.T) {
	trace := file(t, "small.swf", smallSWF)
	slurm := answer(t, "run", "--trace", trace, "--format", "json")
	if slurm["jobs"] != 3.0 || slurm["max_wait_s"] != 6598.0 || slurm["makespan_s"] != 6660.0 || slurm["utilization"] != 1.0 || slurm["policy"] != "slurm" {
		t.Errorf("slurm: %v", slurm)
	}
	balanced := answer(t, "run", "--trace", trace, "--policy", "balanced", "--format", "json")
	if balanced["max_wait_s"] != 659.0 || balanced["policy"] != "balanced" {
		t.Errorf("balanced: %v", balanced)
	}
	for _, name := range []string{"jobs", "mean_wait_s", "max_wait_s", "mean_bounded_slowdown", "max_turnaround_s", "utilization", "gpu_allocated_pct", "makespan_s", "cycles", "wall_s"} {
		if _, ok := balanced[name]; !ok {
			t.Errorf("the answer has no %s", name)
		}
	}
}

func TestSimRunFormats(t *testing.T) {
	trace := file(t, "small.swf", smallSWF)
	for format, want := range map[string]string{"table": "mean bounded slowdown", "csv": "job,task,submit,start,end", "svg": "<svg "} {
		if text, err := output(t, "run", "--trace", trace, "--format", format); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, %.200s", format, err, text)
		}
	}
	text, err := output(t, "run", "--trace", trace, "--format", "csv", "--from", "1", "--count", "1")
	if err != nil || strings.Count(text, "\n") != 2 || !strings.Contains(text, "1,0,0,0,6000,4,0,1,main,COMPLETED") {
		t.Errorf("a part: %v, %s", err, text)
	}
}

func TestSimRunScenarioOnACluster(t *testing.T) {
	cluster := file(t, "cluster.toml", `name = "c"
[[controller]]
name = "c1"
[[node]]
names = "n[1-2]"
cpus = 4
memory = "8G"
gres = ["gpu:a100:2"]
`)
	scenario := file(t, "s.txt", "run=10m count=3 user=ann -- -n 1 --gres=gpu:2 --mem=1G -t 20\nat=5 run=1m -- -N 2 --exclusive -t 5\n")
	a := answer(t, "run", "--cluster", cluster, "--trace", scenario, "--format", "json")
	if a["jobs"] != 4.0 || a["unstarted"] != 0.0 || a["refused_starts"] != 0.0 {
		t.Errorf("%v", a)
	}
	if got := a["gpu_allocated_pct"].(float64); got < 60 || got > 100 {
		t.Errorf("%g per cent of the GPUs", got)
	}
}

// A chain of an array, what waits for all of it, for one task of it and for a
// time after the start, on one node of four CPUs.
func TestSimRunScenarioWithArraysAndDependencies(t *testing.T) {
	cluster := file(t, "cluster.toml", "name = \"c\"\n[[controller]]\nname = \"c1\"\n[[node]]\nnames = \"n1\"\ncpus = 4\nmemory = \"8G\"\n")
	scenario := file(t, "s.txt", `run=100 id=sweep -- -n 1 --mem=1G --array=1-6%2 -t 5
run=50 id=last -- -n 1 --mem=1G -d afterok:sweep -t 5
run=50 -- -n 1 --mem=1G -d afterok:sweep_2 -t 5
run=50 -- -n 1 --mem=1G -d after:sweep_1+3 -t 5
at=2 run=50 -- -n 1 --mem=1G -d afternotok:last?afterany:last -t 5
at=3 run=10 user=ann -- -n 1 --mem=1G -J one -d singleton -t 5
at=4 run=10 user=ann -- -n 1 --mem=1G -J one -d singleton -t 5
at=4 run=10 user=bob -- -n 1 --mem=1G -J one -d singleton -t 5
at=5 run=10 -- -n 1 --mem=1G -d afternotok:last -t 5
`)
	text, err := output(t, "run", "--cluster", cluster, "--trace", scenario, "--format", "csv")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{} // starts, by submit and index
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ",")
		got[f[1]+"_"+f[len(f)-1]] = f[3]
	}
	want := map[string]string{"task_index": "start", "0_1": "0", "0_2": "0", "0_3": "100", "0_4": "100", "0_5": "200", "0_6": "200",
		"1_": "300", "2_": "100", "3_": "180", "4_": "350", "5_": "3", "6_": "13", "7_": "4"}
	if !maps.Equal(got, want) {
		t.Errorf("starts\n%v, want\n%v", got, want)
	}
	if a := answer(t, "run", "--cluster", cluster, "--trace", scenario, "--format", "json"); a["jobs"] != 13.0 || a["unstarted"] != 1.0 {
		t.Errorf("%v", a)
	}
}

func TestSimRecordAndReplay(t *testing.T) {
	trace, dir := file(t, "small.swf", smallSWF), filepath.Join(t.TempDir(), "cycles")
	if _, err := output(t, "run", "--trace", trace, "--record", dir, "--keep", "2"); err != nil {
		t.Fatal(err)
	}
	text, err := output(t, "replay", "--verbose", dir)
	if err != nil || !strings.Contains(text, "2 cycles planned again, 0 plans differ") {
		t.Errorf("%v, %s", err, text)
	}
}

func TestSimRefuses(t *testing.T) {
	trace := file(t, "small.swf", smallSWF)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--trace", "/nowhere"}, "nowhere"},
		{[]string{"run", "--trace", trace, "--policy", "fair"}, `--policy: "fair"`},
		{[]string{"run", "--trace", trace, "--type", "csv"}, `--type: "csv"`},
		{[]string{"run", "--trace", trace, "--format", "png"}, `--format: "png"`},
		{[]string{"run", "--trace", trace, "--classes", "9,5"}, "--classes"},
		{[]string{"run", "--trace", trace, "more"}, "1 arguments"},
		{[]string{"run", "--trace", file(t, "s.txt", "run=5 -- --array=4-1\n")}, "--array=4-1"},
		{[]string{"run", "--trace", file(t, "s.txt", "run=5 -- --dependency=afterok:prep\n")}, "no line before has id=prep"},
		{[]string{"run", "--trace", file(t, "s.txt", "run=5 id=a\nrun=5 -- --dependency=soon:a\n")}, "--dependency=soon:a"},
		{[]string{"run", "--trace", file(t, "s.txt", "run=5 -- -n 4\n")}, "give --cluster"},
		{[]string{"run", "--trace", file(t, "s.txt", "run=5 -- --nonsense\n")}, "line 1"},
		{[]string{"replay"}, "no argument"},
		{[]string{"replay", trace}, "replay"},
		{[]string{"table", "fgd", "--data", t.TempDir(), "--seeds", "-1"}, "--seeds"},
	} {
		if _, err := output(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.args, err, c.want)
		}
	}
}

func TestSimTableJSON(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "KTH-SP2-1996.swf"), []byte(smallSWF), 0o600); err != nil {
		t.Fatal(err)
	}
	a := answer(t, "table", "sc15-kth", "--data", dir, "--policy", "easy", "--format", "json")
	if a["table"] != "sc15-kth" || a["jobs"] != 3.0 || len(a["rows"].([]any)) != 1 {
		t.Errorf("%v", a)
	}
	if a = answer(t, "table", "sc15-kth", "--data", dir, "--format", "json"); a["jobs"] != nil || len(a["rows"].([]any)) != 4 {
		t.Errorf("%v", a)
	}
	var b bytes.Buffer
	if err := writeColumns(&b, [][]string{{"a", "bb"}, {"ccc", "d"}}, false); err != nil || b.String() != "a    bb\nccc  d\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
