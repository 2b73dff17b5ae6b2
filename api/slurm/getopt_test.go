package slurm

import (
	"fmt"
	"strings"
	"testing"
)

// TestGetopt compares with what getopt_long(3) does.
func TestGetopt(t *testing.T) {
	flags := Flags(Sbatch)
	tests := []struct{ line, want string }{
		{"-H -n4 -N1-2 -Jx -t5 --wrap true", "hold ntasks=4 nodes=1-2 job-name=x time=5 wrap=true |"},
		{"-HJy -n 3 s.sh -x y", "hold job-name=y ntasks=3 | s.sh -x y"},
		{"--hol --job-n=abbr --comm=c1 --wr true", "hold job-name=abbr comment=c1 wrap=true |"},
		{"--job-name eqless --time=4", "job-name=eqless time=4 |"},
		{"--exclusive --exclusive=user --nice -k", "exclusive exclusive=user nice no-kill |"},
		{"-- -x", "| -x"},
		{"- a", "| - a"},
		{"--ntasks=2 --ntasks-per-n=3", "ntasks=2 ntasks-per-node=3 |"},
		{"--mem= s.sh", "mem= | s.sh"},
		{"--no-such-thing --wrap true", "unrecognized option '--no-such-thing'"},
		{"--no-such-thing=1", "unrecognized option '--no-such-thing=1'"},
		{"--ntasks-=2", "option '--ntasks-=2' is ambiguous; possibilities: '--ntasks-per-core' '--ntasks-per-gpu' '--ntasks-per-node' '--ntasks-per-socket' '--ntasks-per-tres'"},
		{"--hold=yes", "option '--hold' doesn't allow an argument"},
		{"--time", "option '--time' requires an argument"},
		{"-t", "option requires an argument -- 't'"},
		{"-Hy", "invalid option -- 'y'"},
	}
	for _, test := range tests {
		given, rest, err := Getopt(strings.Fields(test.line), flags, true)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for _, g := range given {
				got += g.Flag.Name
				if g.HasValue {
					got += "=" + g.Value
				}
				got += " "
			}
			got = strings.TrimSpace(got + "| " + strings.Join(rest, " "))
		}
		if got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.line, got, test.want)
		}
	}
	_, rest, err := Getopt([]string{"12", "-H", "13"}, flags, false)
	if err != nil || fmt.Sprint(rest) != "[12 13]" {
		t.Errorf("options between words: %v, %v", rest, err)
	}
}

// TestOptionTable: each option is either there or refused with what to do.
func TestOptionTable(t *testing.T) {
	documented := 0
	for _, p := range []Program{Sbatch, Salloc, Srun} {
		checkOptions(t, p, &documented)
	}
	// The 115 of sbatch(1) in 26.05, and --cluster, --tasks-per-node and
	// --ntasks-per-tres, which its program takes, too.
	if documented != 118 {
		t.Errorf("the table has %d options of sbatch, want 118", documented)
	}
}

// checkOptions checks the options of one program.
func checkOptions(t *testing.T, p Program, documented *int) {
	names, shorts := make(map[string]bool), make(map[byte]string)
	for _, o := range OptionHelp(p) {
		if names[o.Name] {
			t.Errorf("--%s is there twice", o.Name)
		}
		names[o.Name] = true
		if o.Short != 0 && shorts[o.Short] != "" {
			t.Errorf("-%c is both --%s and --%s", o.Short, shorts[o.Short], o.Name)
		}
		shorts[o.Short] = o.Name
		if (o.Set == nil) != (o.Refuse != "") || o.Help == "" {
			t.Errorf("--%s needs either a setter or a refusal, and a line of help", o.Name)
		}
		if p == Sbatch {
			*documented++
		}
	}
}

// TestEnvironmentOptions: what input variables stand for, and that they are
// between script and command line.
func TestEnvironmentOptions(t *testing.T) {
	in := &Input{Program: Sbatch, Now: noon(t), Dir: "/data/run"}
	vars := map[string]string{
		"SBATCH_PARTITION": "short", "SBATCH_TIMELIMIT": "3", "SBATCH_JOB_NAME": "envname", "SBATCH_NO_REQUEUE": "1", "SBATCH_WAIT": "",
		"SBATCH_OVERCOMMIT": "0", "SLURM_HINT": "multithread", "SBATCH_HINT": "nomultithread", "SBATCH_EXCLUSIVE": "", "SBATCH_MEM_PER_CPU": "100",
	}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	o := NewOptions(in)
	apply := func(line string, from Source) {
		t.Helper()
		given, _, err := Getopt(strings.Fields(line), Flags(Sbatch), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Apply(given, from); err != nil {
			t.Fatal(err)
		}
	}
	apply("-J script -t 9 --requeue --mem=1G", FromDirective)
	if err := o.ApplyEnvironment(lookup); err != nil {
		t.Fatal(err)
	}
	apply("--time=5", FromCommandLine)
	if err := o.Finish(); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(o.Job.Name, o.Job.Timing.Limit, o.Job.Partitions, o.Job.Requeue, o.Act.Wait, o.Job.Size.Overcommit, o.Job.Place.Hint, o.Job.Place.Sharing, o.Job.Memory)
	if want := fmt.Sprintln("envname", 5, []string{"short"}, false, true, false, "nomultithread", 1, "{1 1024}"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
