package differ

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/test/cluster"
)

const (
	recordingFile = "testdata/slurm26.json.gz"
	openFile      = "testdata/open.txt"

	listingFile     = "testdata/listings26.json.gz"
	listingOpenFile = "testdata/listings-open.txt"

	changeFile     = "testdata/changes26.json.gz"
	changeOpenFile = "testdata/changes-open.txt"
)

// scratch makes a directory that the submitting user may write to.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "differ-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			os.RemoveAll(dir)
		}
	})
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// answer runs all cases on a cluster.
func answer(t *testing.T, c *Cluster, cases []Case) []Answer {
	t.Helper()
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	first := len(cases)
	for i, cs := range cases {
		if cs.Runs {
			first = i
			break
		}
	}
	answers, err := c.Submit(cases[:first], 3)
	if err != nil {
		t.Fatal(err)
	}
	more, err := c.Execute(cases[first:])
	if err != nil {
		t.Fatal(err)
	}
	return append(answers, more...)
}

// TestRecord makes the recording anew, on a cluster of Slurm 26.05.
func TestRecord(t *testing.T) {
	bin := os.Getenv("DIFFER_PEER")
	if bin == "" {
		t.Skip("DIFFER_PEER names no directory of Slurm's commands")
	}
	c := &Cluster{Bin: bin, Env: []string{"SLURM_CONF=" + os.Getenv("SLURM_CONF")}, Dir: scratch(t)}
	cases := Submits(DefaultSeed)
	t.Logf("seed %d, %d cases", DefaultSeed, len(cases))
	version := strings.TrimSpace(c.command("sbatch", []string{"--version"}, nil).Stdout)
	if err := NewRecording(version, DefaultSeed, cases, answer(t, c, cases)).Write(recordingFile); err != nil {
		t.Fatal(err)
	}
}

// ours starts a cluster of ours of the shape that the recording was made on.
func ours(t *testing.T) *Cluster {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("root is needed to submit as the user that the recording has")
	}
	shape, err := os.ReadFile("../conformance/cluster.toml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster.toml")
	text := strings.Replace(string(shape), `name = "conformance"`, `name = "conform"`, 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	up := cluster.Up(t, "--conf", file)
	dir := scratch(t)
	bin := filepath.Join(dir, "bin") // where the submitting user can reach it
	if out, err := exec.Command("cp", "-a", up.Bin, bin).CombinedOutput(); err != nil {
		t.Fatalf("copying the programs: %v\n%s", err, out)
	}
	c := &Cluster{Bin: bin, Env: []string{"MUSTER_SOCKET=" + up.Socket()}, Dir: dir}
	for _, args := range []string{"add account phys bio", "add user " + userName + " account=phys"} {
		if out := c.AsRoot("sacctmgr", append([]string{"-i", "-Q"}, strings.Fields(args)...)...); out.Code != 0 {
			t.Fatalf("sacctmgr %s: %s", args, out.Stderr)
		}
	}
	return c
}

// TestGenerator: the recording has the cases that the generator makes of today's
// table of options, but for a few that came since.
func TestGenerator(t *testing.T) {
	recorded, err := ReadRecording(recordingFile)
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[string]bool, len(recorded.Cases))
	for i := range recorded.Cases {
		have[recorded.Cases[i].Key()] = true
	}
	missing, cases := 0, Submits(recorded.Seed)
	for i := range cases {
		if !have[cases[i].Key()] {
			missing++
		}
	}
	t.Logf("seed %d: %d cases, %d of them not recorded", recorded.Seed, len(cases), missing)
	if len(cases) < 3000 || missing*10 > len(cases) {
		t.Errorf("%d of %d cases are not recorded: record anew (see the package's comment)", missing, len(cases))
	}
}

// TestAsSlurm compares our answers with Slurm's: a sample, with MUSTER_FULL all.
func TestAsSlurm(t *testing.T) {
	recorded, err := ReadRecording(recordingFile)
	if err != nil {
		t.Fatal(err)
	}
	step := 20
	if os.Getenv("MUSTER_FULL") != "" {
		step = 1
	}
	c := ours(t)
	cases, want := every(recorded, step)
	t.Logf("seed %d, %d of %d cases, answers of %s", recorded.Seed, len(cases), len(recorded.Cases), recorded.Version)
	compareAll(t, openFile, cases, want, answer(t, c, cases))
}

// every takes each step-th case of a recording.
func every(r *Recording, step int) (cases []Case, want []Answer) {
	for i := 0; i < len(r.Cases); i += step {
		cases, want = append(cases, r.Cases[i]), append(want, r.Answer(i))
	}
	return cases, want
}

func compareAll(t *testing.T, openFile string, cases []Case, want, got []Answer) {
	t.Helper()
	open, err := ReadOpen(openFile)
	if err != nil {
		t.Fatal(err)
	}
	var found, all []Difference
	known, ran, seen := 0, make(map[string]bool), make(map[string]bool)
	for i := range cases {
		ran[cases[i].Key()] = true
		for _, d := range Compare(&cases[i], &want[i], &got[i]) {
			switch {
			case Known(&d, &got[i]) != "":
				known++
				continue
			case !open[d.place()]:
				found = append(found, d)
			}
			all = append(all, d)
			seen[d.place()] = true
		}
	}
	t.Logf("%d cases, %d known differences, %d open ones, %d new ones", len(cases), known, len(all)-len(found), len(found))
	if os.Getenv("DIFFER_OPEN") != "" {
		if err := WriteOpen(openFile, all); err != nil {
			t.Fatal(err)
		}
		report(t, all)
		return
	}
	report(t, found)
	for place := range open {
		if _, key, _ := strings.Cut(place, "\t"); ran[key] && !seen[place] {
			t.Logf("no longer a difference, take it out of %s: %s", openFile, place)
		}
	}
}

// report fails the test with the differences; DIFFER_REPORT names a file for
// all of them.
func report(t *testing.T, found []Difference) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	t.Errorf("differences by place:\n%s", Summary(found))
	if name := os.Getenv("DIFFER_REPORT"); name != "" {
		var b strings.Builder
		for _, d := range found {
			fmt.Fprintln(&b, d.String())
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
	for i := range min(len(found), 20) {
		t.Error(found[i].String())
	}
}

// listAll answers the listings on a queue of its own.
func listAll(t *testing.T, c *Cluster, cases []Case) []Answer {
	t.Helper()
	defer c.ClearQueue()
	if err := c.PrepareQueue(); err != nil {
		t.Fatal(err)
	}
	return c.List(cases)
}

// TestRecordListings makes the recording of the listings anew, on a cluster of
// Slurm 26.05 with an empty queue.
func TestRecordListings(t *testing.T) {
	bin := os.Getenv("DIFFER_PEER")
	if bin == "" {
		t.Skip("DIFFER_PEER names no directory of Slurm's commands")
	}
	c := &Cluster{Bin: bin, Env: []string{"SLURM_CONF=" + os.Getenv("SLURM_CONF")}, Dir: scratch(t)}
	cases := Listings()
	if err := NewRecording("", 0, cases, listAll(t, c, cases)).Write(listingFile); err != nil {
		t.Fatal(err)
	}
}

// TestListings compares what the commands that show things print.
func TestListings(t *testing.T) {
	recorded, err := ReadRecording(listingFile)
	if err != nil {
		t.Fatal(err)
	}
	step := 10
	if os.Getenv("MUSTER_FULL") != "" {
		step = 1
	}
	cases, want := every(recorded, step)
	compareAll(t, listingOpenFile, cases, want, listAll(t, ours(t), cases))
}

// TestRecordChanges makes the recording of the commands that change things anew,
// on a cluster of Slurm 26.05 with an empty queue. DIFFER_FAMILY names the
// families to record, with commas; the others stay as they are.
func TestRecordChanges(t *testing.T) {
	bin := os.Getenv("DIFFER_PEER")
	if bin == "" {
		t.Skip("DIFFER_PEER names no directory of Slurm's commands")
	}
	c := &Cluster{Bin: bin, Env: []string{"SLURM_CONF=" + os.Getenv("SLURM_CONF")}, Dir: scratch(t)}
	kept, err := ReadRecording(changeFile)
	if err != nil {
		kept = new(Recording) // the first one
	}
	only := os.Getenv("DIFFER_FAMILY")
	for _, f := range families() {
		if only != "" && !slices.Contains(strings.Split(only, ","), f.name) {
			continue
		}
		cases := f.cases()
		answers, err := c.Change(cases)
		if err != nil {
			t.Fatal(err)
		}
		for i := range kept.Cases {
			if kept.Cases[i].Family != f.name {
				cases, answers = append(cases, kept.Cases[i]), append(answers, kept.Answer(i))
			}
		}
		kept = NewRecording("", 0, cases, answers)
		if err := kept.Write(changeFile); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChanges compares what commands that change things print and leave.
func TestChanges(t *testing.T) {
	recorded, err := ReadRecording(changeFile)
	if err != nil {
		t.Fatal(err)
	}
	step := 10
	if os.Getenv("MUSTER_FULL") != "" {
		step = 1
	}
	if only := os.Getenv("DIFFER_FAMILY"); only != "" {
		recorded = recorded.families(strings.Split(only, ","))
	}
	cases, want := every(recorded, step)
	got, err := ours(t).Change(cases)
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, changeOpenFile, cases, want, got)
}
