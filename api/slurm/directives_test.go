package slurm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/job"
)

// noon is the present of the tests: a Monday, in a zone that is not UTC.
func noon(t testing.TB) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		zone = time.FixedZone("CET", 3600)
	}
	return time.Date(2026, 11, 30, 22, 24, 17, 0, zone)
}

// readJob reads a script as sbatch does and gives the options of its components.
func readJob(t testing.TB, script string) ([]*Options, error) {
	t.Helper()
	if err := CheckScript([]byte(script)); err != nil {
		return nil, err
	}
	d, err := ReadDirectives([]byte(script), "s.sh", false)
	if err != nil {
		return nil, err
	}
	in := &Input{Program: Sbatch, Now: noon(t), Dir: "/data/run", UID: 1000,
		ReadFile: func(name string) ([]byte, error) { return nil, fmt.Errorf("no file %s", name) }}
	var out []*Options
	for i := range d.Components {
		o := NewOptions(in)
		for k, given := range d.Components[:i+1] {
			if k < i {
				given = Sticky(given)
			}
			if err := o.Apply(given, FromDirective); err != nil {
				return nil, err
			}
		}
		if err := o.Finish(); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// describe writes what the table below compares: what was asked for, or the lines
// of the refusal.
func describe(jobs []*Options, err error) string {
	var script *ScriptError
	var option *OptionError
	switch {
	case errors.As(err, &script):
		return "REJECTED: " + strings.Join(script.Lines, ";")
	case errors.As(err, &option):
		return "REJECTED: " + option.Error()
	case err != nil:
		return "REJECTED: " + err.Error()
	}
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	for _, o := range jobs {
		add("JobName", o.Job.Name)
		add("Comment", o.Job.Comment)
		if l := o.Job.Timing.Limit; l == job.Unlimited {
			add("TimeLimit", "UNLIMITED")
		} else if l != 0 {
			add("TimeLimit", fmt.Sprintf("%d-%02d:%02d", l/1440, l/60%24, l%60))
		}
		if o.Job.Size.Tasks != 0 {
			add("Tasks", fmt.Sprint(o.Job.Size.Tasks))
		}
		if o.Job.Size.TasksPerNode != 0 {
			add("TasksPerNode", fmt.Sprint(o.Job.Size.TasksPerNode))
		}
		if s := o.Job.Size; s.MinNodes != 0 {
			add("Nodes", fmt.Sprintf("%d-%d", s.MinNodes, s.MaxNodes))
		}
		if m := o.Job.Memory; m.Per != job.MemoryUnset {
			add("Mem", fmt.Sprintf("%d/%d", m.Per, m.MB))
		}
		add("StdOut", o.Job.Batch.Stdout)
		add("WorkDir", o.Job.Batch.WorkDir)
		add("Partition", strings.Join(o.Job.Partitions, ","))
		if o.Job.Mail.Types != 0 {
			add("MailType", FormatMailTypes(o.Job.Mail.Types))
		}
		add("Signal", FormatSignal(o.Job.Signal))
		if b := o.Job.Timing.Begin; b != 0 {
			add("Begin", b.Std().In(jobs[0].in.Now.Location()).Format("2006-01-02T15:04:05"))
		}
		add("Gres", o.Job.Gres.PerNode.String())
	}
	return strings.Join(parts, " ")
}

// TestDirectiveForms has the odd forms of directives that are found in the wild
// with what real Slurm makes of each.
func TestDirectiveForms(t *testing.T) {
	const unix = "REJECTED: Batch script contains DOS line breaks (\\r\\n);instead of expected UNIX line breaks (\\n)."
	directives(t, []directive{
		{"no space after #SBATCH", "#SBATCH--job-name=zz", "JobName=zz"},
		{"tab after #SBATCH", "#SBATCH\t-J zz", "JobName=zz"},
		{"indented directive", " #SBATCH -J zz", ""},
		{"# #SBATCH", "# #SBATCH -J zz", ""},
		{"##SBATCH", "##SBATCH -J zz", ""},
		{"lower case", "#sbatch -J zz", ""},
		{"typo", "#SBACTH -J zz", ""},
		{"comment glued", "#SBATCH -J zz#comment", "JobName=zz"},
		{"comment with quote", "#SBATCH -J zz # it's a comment", "JobName=zz"},
		{"empty", "#SBATCH\n#SBATCH -J zz", "JobName=zz"},
		{"double quoted with space", `#SBATCH -J "a b"`, "JobName=a b"},
		{"quoted whole option", `#SBATCH "--job-name=a b"`, "JobName=a b"},
		{"quoted hash", `#SBATCH --comment="x#y z"`, "Comment=x#y z"},
		{"escaped hash", `#SBATCH --comment=x\#y`, "Comment=x#y"},
		{"backslash space", `#SBATCH -J a\ b`, "JobName=a b"},
		{"long option with space value", "#SBATCH --job-name zz", "JobName=zz"},
		{"short option with =", "#SBATCH -J=zz", "JobName==zz"},
		{"single dash long", "#SBATCH -output=foo", "StdOut=utput=foo"},
		{"several options", "#SBATCH -J zz -t 4:00:00 -n 2", "JobName=zz TimeLimit=0-04:00 Tasks=2"},
		{"after blank and comment lines", "\n# c\n\n#SBATCH -J zz", "JobName=zz"},
		{"after the first command", "true\n#SBATCH -J zz", ""},
		{"repeated option", "#SBATCH -t 10\n#SBATCH -t 20", "TimeLimit=0-00:20"},
		{"repeated mail type", "#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL", "MailType=END,FAIL"},
		{"CRLF", "#SBATCH -J zz\r", unix},
		{"docstring first", "\"\"\"doc\"\"\"\n#SBATCH -J zz", ""},
		{"#PBS", "#PBS -N pbsname\n#PBS -l walltime=10:00", "JobName=pbsname TimeLimit=0-00:10"},
		{"#BSUB", "#BSUB -J lsf\n#BSUB -n 1,4", "JobName=lsf Tasks=4"},
		{"#SBATCH wins over #PBS", "#SBATCH -J mine\n#PBS -N pbsname", "JobName=mine"},
		{"tasks per node", "#SBATCH --tasks-per-node=2", "TasksPerNode=2"},
		{"abbreviation --ntasks", "#SBATCH --ntasks=2", "Tasks=2"},
		{"abbreviation --part", "#SBATCH --part=debug", "Partition=debug"},
		{"removed option", "#SBATCH --workdir=/tmp", "REJECTED: unrecognized option '--workdir=/tmp'"},
		{"srun's option", "#SBATCH --cpu-bind=cores", "REJECTED: unrecognized option '--cpu-bind=cores'"},
		{"unknown option", "#SBATCH --blublu=12", "REJECTED: unrecognized option '--blublu=12'"},
		{"stray word", "#SBATCH -J zz b", "REJECTED: Invalid directive found in batch script: b"},
		{"unbalanced quote", `#SBATCH -J "zz`, "REJECTED: s.sh: line 2: Unmatched `\"` in [ \"zz]"},
		{"empty constraint", "#SBATCH --constraint=", ""},
		{"empty chdir", "#SBATCH --chdir=", "WorkDir=/data/run/"},
	})
}

// TestDirectiveValues has values of options with what real Slurm makes of each.
func TestDirectiveValues(t *testing.T) {
	directives(t, []directive{
		{"time 90", "#SBATCH --time=90", "TimeLimit=0-01:30"},
		{"time 30:00", "#SBATCH --time=30:00", "TimeLimit=0-00:30"},
		{"time 0-0:30:00", "#SBATCH --time=0-0:30:00", "TimeLimit=0-00:30"},
		{"time 1-10", "#SBATCH --time=1-10", "TimeLimit=1-10:00"},
		{"time 1-12:00", "#SBATCH --time=1-12:00", "TimeLimit=1-12:00"},
		{"time 100:00:00", "#SBATCH --time=100:00:00", "TimeLimit=4-04:00"},
		{"time 0:90", "#SBATCH --time=0:90", "TimeLimit=0-00:02"},
		{"time infinite", "#SBATCH --time=infinite", "TimeLimit=UNLIMITED"},
		{"time -1", "#SBATCH --time=-1", "TimeLimit=UNLIMITED"},
		{"time 1:30", "#SBATCH --time=1:30", "TimeLimit=0-00:02"},
		{"time 00:00:00", "#SBATCH --time=00:00:00", "TimeLimit=UNLIMITED"},
		{"time with fraction", "#SBATCH --time=2-00:00:00.5", "REJECTED: Invalid --time specification"},
		{"time 1h", "#SBATCH --time=1h", "REJECTED: Invalid --time specification"},
		{"mem 0", "#SBATCH --mem=0", "Mem=1/0"},
		{"mem 2G", "#SBATCH --mem=2G", "Mem=1/2048"},
		{"mem 2gb", "#SBATCH --mem=2gb", "Mem=1/2048"},
		{"mem 500M", "#SBATCH --mem=500M", "Mem=1/500"},
		{"mem 1T", "#SBATCH --mem=1T", "Mem=1/1048576"},
		{"mem 3000MB", "#SBATCH --mem=3000MB", "Mem=1/3000"},
		{"mem 4GiB", "#SBATCH --mem=4GiB", "REJECTED: Invalid --mem specification"},
		{"mem per cpu", "#SBATCH --mem-per-cpu=2G", "Mem=2/2048"},
		{"two kinds of memory", "#SBATCH --mem=1G --mem-per-cpu=1G", "REJECTED: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."},
		{"nodes 1", "#SBATCH --nodes=1", "Nodes=1-1"},
		{"nodes 2-1", "#SBATCH --nodes=2-1", "REJECTED: Maximum node count 1 is less than minimum node count 2"},
		{"nodes 0", "#SBATCH --nodes=0", "REJECTED: Batch job submission failed: Node count specification invalid"},
		{"nodes 1k", "#SBATCH --nodes=1k", "Nodes=1024-1024"},
		{"nodes x", "#SBATCH --nodes=x", `REJECTED: "x" is not a valid node count`},
		{"sizes", "#SBATCH --nodes=1-4:3", "Nodes=1-4"},
		{"fewer tasks than nodes", "#SBATCH -N3-4 -n2", "Tasks=2 Nodes=2-2"},
		{"gres", "#SBATCH --gres=gpu:1,nvme:10", "Gres=gpu:1,nvme:10"},
		{"gres with type", "#SBATCH --gres=gpu:a100:2", "Gres=gpu:a100:2"},
		{"devices by task, no tasks", "#SBATCH --gpus-per-task=1", "REJECTED: Failed to validate job spec. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.; Invalid generic resource (gres) specification"},
		{"devices by task make tasks", "#SBATCH --gpus-per-task=2 --gpus=6", "Tasks=3"},
		{"devices by task, odd", "#SBATCH --gpus-per-task=4 --gpus=6", "REJECTED: Failed to validate job spec, --gpus not multiple of --gpus-per-task; Invalid generic resource (gres) specification"},
		{"devices by task, other tasks", "#SBATCH --gpus-per-task=2 --gpus=6 -n2", "REJECTED: Failed to validate job spec. Based on --gpus and --gpus-per-task number of requested tasks differ from -n/--ntasks.; Invalid generic resource (gres) specification"},
		{"bad gres", "#SBATCH --gres=gpu:a:b:c", "REJECTED: Invalid generic resource (gres) specification"},
		{"signal", "#SBATCH --signal=USR1@90", "Signal=USR1@90"},
		{"signal to the shell", "#SBATCH --signal=B:USR1@120", "Signal=B:USR1@120"},
		{"signal by number", "#SBATCH --signal=15@180", "Signal=TERM@180"},
		{"signal alone", "#SBATCH --signal=TERM", "Signal=TERM@60"},
		{"signal too early", "#SBATCH --signal=INT@99999", "REJECTED: Invalid --signal specification"},
		{"begin now+1hour", "#SBATCH --begin=now+1hour", "Begin=2026-11-30T23:24:17"},
		{"begin tomorrow", "#SBATCH --begin=tomorrow", "Begin=2026-12-01T00:00:00"},
		{"begin 16:00", "#SBATCH --begin=16:00", "Begin=2026-12-01T16:00:00"},
		{"begin date", "#SBATCH --begin=2027-01-01T10:00:00", "Begin=2027-01-01T10:00:00"},
		{"begin midnight", "#SBATCH --begin=midnight", "Begin=2026-12-01T00:00:00"},
		{"begin teatime", "#SBATCH --begin=teatime", "Begin=2026-12-01T16:00:00"},
		{"begin fika", "#SBATCH --begin=fika", "Begin=2026-12-01T15:00:00"},
		{"begin yesterdayish", "#SBATCH --begin=yesterdayish", "REJECTED: Invalid --begin specification"},
		{"mail begin", "#SBATCH --mail-type=begin", "MailType=BEGIN"},
		{"mail all", "#SBATCH --mail-type=ALL", "MailType=INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT"},
		{"mail array tasks", "#SBATCH --mail-type=ARRAY_TASKS,END", "MailType=ARRAY_TASKS,END"},
		{"mail bogus", "#SBATCH --mail-type=bogus", "REJECTED: Invalid --mail-type specification"},
		{"mail none", "#SBATCH --mail-type=NONE", ""},
		{"exclusive oversubscribe", "#SBATCH --exclusive -s", "REJECTED: --exclusive and --oversubscribe options are mutually exclusive"},
		{"hetjob", "#SBATCH -J a -t 5\n#SBATCH hetjob\n#SBATCH -J b -n 2", "JobName=a TimeLimit=0-00:05 JobName=b TimeLimit=0-00:05 Tasks=2"},
		{"hetjob resets sizes", "#SBATCH -n 3\n#SBATCH hetjob\n#SBATCH -J b", "Tasks=3 JobName=b"},
		{"unsupported option", "#SBATCH --bb=x", "REJECTED: Option --bb is not supported: there are no burst buffers here"},
		{"variables are not expanded", "#SBATCH -J $USER --comment=`id`", "JobName=$USER Comment=`id`"},
	})
}

// directive is a script's directives, and the job they make.
type directive struct{ name, script, want string }

func directives(t *testing.T, tests []directive) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(readJob(t, "#!/bin/bash\n"+test.script+"\n")); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCheckScript(t *testing.T) {
	for script, want := range map[string]string{
		"":                       "Batch script is empty!",
		" \n\t\n":                "Batch script contains only whitespace!",
		"echo hello\n":           "This does not look like a batch script.  The first",
		"\n#!/bin/sh\n":          "This does not look like a batch script.  The first",
		"\x7fELF":                "This does not look like a batch script.  The first",
		"#!/bin/sh\r\n":          "Batch script contains DOS line breaks (\\r\\n)",
		"#!/bin/sh\necho \x00\n": "The Slurm controller does not allow scripts that",
		"#! /bin/bash -l\n":      "",
	} {
		got := ""
		var e *ScriptError
		if errors.As(CheckScript([]byte(script)), &e) {
			got = e.Lines[0]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("#SBATCH -J \"a b\" -N1-4:3 --gres=gpu:1 # c\n#SBATCH hetjob\n#SBATCH --begin=now+1hour -a 0-9%2\n#PBS -l nodes=2:ppn=4,walltime=1:00\n#BSUB -n 1,4\n")
	f.Add("#SBATCH --mem=9999999999999G --time=99999999-0 --signal=B:9@1")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := readJob(t, "#!/bin/sh\n"+text)
		if err == nil && len(jobs) == 0 {
			t.Fatal("neither a job nor an error")
		}
	})
}
