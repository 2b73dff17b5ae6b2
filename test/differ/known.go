package differ

import (
	"regexp"
	"slices"
	"strings"

	"muster/api/slurm"
)

// entry is a difference that is meant, with the reason.
type entry struct {
	where   string   // pattern of the place
	options []string // one of them is in the case; nil: any
	key     string   // pattern of the case's key
	want    string   // pattern of Slurm's value
	got     string   // pattern of ours
	same    bool     // the lines must be the same, in whatever order
	more    string   // pattern of lines that ours has beside Slurm's; without them the two must be the same
	reason  string
}

const diskOfNode = "where the cluster file gives no tmp_disk, that of the node counts; Slurm counts 0"

// entries are the known differences.
func entries() []entry {
	return []entry{
		{where: "env:(MUSTER_.*|SLURM_CONF)", reason: "how a job finds its cluster"},
		{where: "env:(HYDRA_.*|I_MPI_HYDRA_.*|OMPI_MCA_.*|PRTE_MCA_.*)", reason: "MPI launchers need no word to start their daemons by our srun; --external-launcher is refused"},
		{where: "env:SLURM_JOB_GROUP", got: userName, reason: "set for all users; Slurm leaves it out for this one"},
		{where: "env:.*", key: "run: .*--(export=(NONE|NIL|FOO.*|ALL,.*)|export-file=.*|get-user-env).*|run: (SBATCH_EXPORT|SLURM_EXPORT_ENV)=NONE.*", reason: "the user cannot log in: Slurm never starts the job, ours starts without the login's variables"},
		{where: "env:SLURM_GPUS_PER_TASK", reason: "sbatch(1) has it; Slurm 26.05.3 leaves it out of the script"},
		{where: "code", options: []string{"tmp"}, want: "1", got: "0", reason: diskOfNode},
		{where: "stdout", options: []string{"tmp"}, want: "", got: ".*<ID>.*", reason: diskOfNode},
		{where: "stderr", options: []string{"tmp"}, want: ".*(Temporary disk specification can not be satisfied|Requested node configuration is not available).*", reason: diskOfNode},
		{where: "stderr", options: []string{"priority"}, got: `(?s).*warning: --priority is for operators only.*`, reason: "what has no effect is said"},
		{where: "code|stdout|stderr", options: []string{"profile"}, got: "(?s).*profiles are not kept here.*|255|", reason: "refused by name: profiles are not kept"},
		{where: "stdout", key: `(squeue|sinfo) .*(AllocNodes|AllocSID|AssocId|SLUID|Priority|PriorityLong|PendingTime|LastSchedEval|CPUsLoad|FreeMem|Port|NodeAddr).*|squeue .*%s|squeue .*%12s.*|sinfo .*%(12)?[eoO].*|sacct .*(DBIndex|SLUID|Priority|CPUTimeRAW|ElapsedRaw|(Ave|Max|Min|TRESUsage)\\w+).*`,
			reason: "tells of the machine, of the moment, or of who made the record"},
		{where: "record:WCKey", reason: "workload keys are kept and shown; Slurm shows them with TrackWCKey only"},
		{where: "record:TresPer(Node|Job|Socket|Task)", reason: "devices are shown as they were read: with their count, of those of one kind the last"},
		{where: "record:Switches", reason: "the wait that was asked for is kept; Slurm cuts it to max_switch_wait"},
	}
}

// Known gives the reason why a difference is meant, "" if it is not.
func Known(d *Difference, got *Answer) string {
	if reason := refusedByName(d.Case, got); reason != "" {
		return reason
	}
	if d.Where == "stderr" && d.Want != "" && adviceAfter(d.Want, d.Got) {
		return "Slurm's message, followed by a line that says what to do"
	}
	for _, e := range slices.Concat(entries(), judged()) {
		if e.matches(d) {
			return e.reason
		}
	}
	return ""
}

func (e entry) matches(d *Difference) bool {
	if e.options != nil && !slices.ContainsFunc(e.options, func(o string) bool { return slices.Contains(d.Case.Options, o) }) {
		return false
	}
	if e.same && sortedLines(d.Got) != sortedLines(d.Want) {
		return false
	}
	if e.more != "" && withoutLines(d.Got, regexp.MustCompile(e.more)) != d.Want {
		return false
	}
	for _, p := range [][2]string{{e.where, d.Where}, {e.key, d.Case.Key()}, {e.want, d.Want}, {e.got, d.Got}} {
		if p[0] != "" && !regexp.MustCompile(`(?s)^(?:`+p[0]+`)$`).MatchString(p[1]) {
			return false
		}
	}
	return true
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// withoutLines drops the lines in which a pattern is found.
func withoutLines(text string, pattern *regexp.Regexp) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !pattern.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// refusedByName: an option of the table that we refuse by its name has no answer
// like Slurm's.
func refusedByName(c *Case, got *Answer) string {
	table := slurm.OptionHelp(slurm.Sbatch)
	switch c.Command {
	case "srun":
		table = slurm.OptionHelp(slurm.Srun)
	case "salloc":
		table = slurm.OptionHelp(slurm.Salloc)
	}
	for _, o := range table {
		if !slices.Contains(c.Options, o.Name) || got.Code != 1 {
			continue
		}
		if o.Refuse != "" && strings.Contains(got.Stderr, "--"+o.Name+" is not supported: ") {
			return "refused: " + o.Refuse
		}
		for _, v := range o.Never {
			if strings.Contains(strings.ToLower(got.Stderr), "--"+o.Name+"="+strings.ToLower(v.Value)+" is not supported: ") {
				return "refused: " + v.Instead
			}
		}
	}
	return ""
}

// adviceAfter tells whether our text is Slurm's and one more line of advice.
func adviceAfter(want, got string) bool {
	rest, ok := strings.CutPrefix(got, want)
	return ok && strings.Count(rest, "\n") == 1 && !strings.Contains(rest, " error: ") && !strings.Contains(rest, " fatal: ")
}
