package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/api/slurm"
	"muster/api/slurm/format"
)

// compatibilityPage is made by TestCompatibility.
const compatibilityPage = "../../docs/compatibility.md"

// entry is one name of a command's surface and what becomes of it.
type entry struct{ name, short, verdict string }

// surface is all that a command understands, by kind: option, letter, field,
// verb, entity.
type surface struct {
	command string
	kinds   []string
	entries map[string][]entry
}

func (s *surface) add(kind string, e entry) {
	if !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
	}
	s.entries[kind] = append(s.entries[kind], e)
}

// verdict writes a line's last column.
func verdict(refuse, note string) string {
	switch {
	case refuse != "":
		return "refused: " + refuse
	case note != "":
		return "differs: " + note
	}
	return "works"
}

// surfaceOf begins a command's surface with its options.
func surfaceOf(command string, flags []slurm.Flag) *surface {
	s := &surface{command: command, entries: map[string][]entry{}}
	for _, f := range flags {
		if f.Name == "" {
			continue
		}
		e := entry{name: f.Name, verdict: verdict(f.Refuse, f.Note)}
		if f.Short != 0 {
			e.short = "-" + string(f.Short)
		}
		s.add("option", e)
	}
	return s
}

// jobOptions is the surface of a command that takes job options.
func jobOptions(command string, p slurm.Program) *surface {
	s := surfaceOf(command, nil)
	for _, o := range slurm.OptionHelp(p) {
		e := entry{name: o.Name, verdict: verdict(o.Refuse, o.Note)}
		if o.Short != 0 {
			e.short = "-" + string(o.Short)
		}
		for _, r := range o.Never {
			e.verdict += fmt.Sprintf("; `%s` refused: %s", r.Value, r.Instead)
		}
		s.add("option", e)
	}
	return s
}

// addFields adds the fields of formats.
func addFields[R any](s *surface, fields []format.Field[R]) {
	for _, f := range fields {
		if f.Letter != 0 && !slices.ContainsFunc(s.entries["letter"], func(e entry) bool { return e.name == string(f.Letter) }) {
			s.add("letter", entry{name: string(f.Letter), verdict: verdict("", f.Note)})
		}
		if f.Name != "" && !slices.ContainsFunc(s.entries["field"], func(e entry) bool { return strings.EqualFold(e.name, f.Name) }) {
			s.add("field", entry{name: f.Name, verdict: verdict("", f.Note)})
		}
	}
}

func addAcctFields(s *surface) {
	for _, f := range format.AcctFields() {
		s.add("field", entry{name: f.Name, verdict: verdict("", format.AcctNote(f.Name))})
	}
}

// surfaces are the commands, made from the tables that they read.
func surfaces() []*surface {
	squeue, sinfo := surfaceOf("squeue", squeueFlags()), surfaceOf("sinfo", sinfoFlags())
	addFields(squeue, format.JobFields())
	addFields(squeue, format.StepFields())
	addFields(sinfo, format.NodeFields())
	sinfo.add("field", entry{name: "All", verdict: verdict("", "name the fields; --helpFormat lists them")})
	sacct, sstat := surfaceOf("sacct", sacctFlags()), surfaceOf("sstat", sstatFlags())
	addAcctFields(sacct)
	addAcctFields(sstat)
	sstat.add("field", entry{name: "Pids", verdict: "refused: `Invalid field requested`: processes of steps are not listed"})
	sprio := surfaceOf("sprio", sprioFlags())
	for _, c := range prioColumns() {
		sprio.add("letter", entry{name: string(c.letter), verdict: "works"})
	}
	scontrol := surfaceOf("scontrol", scontrolFlags)
	for _, v := range verbs() {
		scontrol.add("verb", entry{name: v.name, verdict: verdict(v.instead, "")})
	}
	for _, e := range entities() {
		scontrol.add("entity", entry{name: e.name, verdict: verdict(e.why, "")})
	}
	return []*surface{
		jobOptions("sbatch", slurm.Sbatch), jobOptions("srun", slurm.Srun), jobOptions("salloc", slurm.Salloc),
		squeue, sinfo, surfaceOf("scancel", scancelFlags), scontrol, sacct, sprio, surfaceOf("sdiag", sdiagFlags()),
		surfaceOf("sshare", slices.Concat(sshareFlags(), tableOptionFlags("h"))), surfaceOf("sreport", slices.Concat(sreportFlags(), tableOptionFlags("n"))),
		surfaceOf("sacctmgr", slices.Concat(sacctmgrFlags(), tableOptionFlags("n"))), surfaceOf("sattach", sattachFlags()),
		surfaceOf("sbcast", sbcastFlags()), sstat, surfaceOf("scrontab", scrontabFlags()), surfaceOf("strigger", striggerFlags()),
	}
}

// documented are the names that the manual of Slurm 26.05 has for a command, as
// "kind name" lines.
func documented(t *testing.T, command string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "documented", command+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(data)), " ", "="))
}

// is tells whether a documented name is one of an entry. scontrol's names may be
// cut short.
func (e *entry) is(kind, name string) bool {
	if kind == "option" || kind == "letter" {
		return e.name == name
	}
	return strings.EqualFold(e.name, name) || (kind == "verb" || kind == "entity") && strings.HasPrefix(e.name, name)
}

// page writes docs/compatibility.md.
func page(t *testing.T, all []*surface) string {
	var b strings.Builder
	b.WriteString("# How far the commands are Slurm's\n\n" +
		"This page is made from the tables that the commands read (`make generate`) and checked by a test: what the manual of Slurm 26.05 names and\n" +
		"a table lacks fails the build. A name that the manual lacks is marked with `+`: an older spelling, or ours.\n\n" +
		"*Works* means Slurm's meaning. *Refused* means an error that names the thing and says what to use instead, with exit code 1:\n" +
		"`COMMAND: error: Option --NAME is not supported: WHAT TO DO`. Options that only root may give are refused to others first, with Slurm's text.\n" +
		"What `--dependency` refuses: `expand` (`Requested operation not supported on this system`: jobs keep their size).\n\n" +
		"`sacctmgr load` reads files that Slurm's `sacctmgr dump` wrote. It takes all of a file or nothing, and lists what it adds in lines instead of\n" +
		"tables; a QOS that the file brings may be named in it; a file of another cluster needs `cluster=`; options of limits that are not offered are\n" +
		"refused with the number of the line. `sacctmgr dump` writes no log of its lines.\n" +
		"Of the flags of a QOS there are DenyOnLimit, NoDecay, RequiresReservation (where QOS are enforced) and UsageFactorSafe (for GrpTRESMins\n" +
		"and GrpWall); the others are refused by name.\n")
	headings := map[string]string{
		"option": "Option", "letter": "Letter of -o", "field": "Field of -O or --format", "verb": "Command word", "entity": "scontrol show",
	}
	for _, s := range all {
		known := documented(t, s.command)
		fmt.Fprintf(&b, "\n## %s\n", s.command)
		for _, kind := range s.kinds {
			fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", headings[kind])
			entries := slices.Clone(s.entries[kind])
			slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
			for _, e := range entries {
				name := e.name
				switch kind {
				case "option":
					name = strings.TrimSpace(e.short + " --" + e.name)
				case "letter":
					name = "%" + e.name
				}
				mark := ""
				if !slices.ContainsFunc(known, func(d string) bool { k, n, _ := strings.Cut(d, "="); return k == kind && e.is(kind, n) }) {
					mark = " +"
				}
				fmt.Fprintf(&b, "| `%s`%s | %s |\n", name, mark, e.verdict)
			}
		}
	}
	return b.String()
}

// TestCompatibility: every name of the manual is in a table, and the page says
// what the tables say.
func TestCompatibility(t *testing.T) {
	all := surfaces()
	for _, s := range all {
		for _, d := range documented(t, s.command) {
			kind, name, _ := strings.Cut(d, "=")
			if !slices.ContainsFunc(s.entries[kind], func(e entry) bool { return e.is(kind, name) }) {
				t.Errorf("%s: the manual's %s %s is in no table", s.command, kind, name)
			}
		}
	}
	want := page(t, all)
	if os.Getenv("MUSTER_GENERATE") != "" {
		if err := os.WriteFile(compatibilityPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(compatibilityPage)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the tables say (%v); run make generate", compatibilityPage, err)
	}
}

// TestRefusedOptions: each option that a table refuses is refused with its reason
// and exit code 1, before anything is asked of the cluster.
func TestRefusedOptions(t *testing.T) {
	for command, flags := range map[string][]slurm.Flag{
		"sacct": sacctFlags(), "scancel": scancelFlags, "scontrol": scontrolFlags, "sdiag": sdiagFlags(), "sattach": sattachFlags(), "sbcast": sbcastFlags(),
		"sstat": sstatFlags(), "sshare": sshareFlags(), "sacctmgr": sacctmgrFlags(), "strigger": striggerFlags(), "squeue": squeueFlags(), "sinfo": sinfoFlags(), "sprio": sprioFlags(),
	} {
		for _, f := range flags {
			if f.Refuse == "" {
				continue
			}
			word := "--" + f.Name
			if f.Arg == slurm.RequiredArg {
				word += "=1"
			}
			code, stdout, stderr := runHere(t, t.TempDir(), "", command, word)
			want := fmt.Sprintf("%s: error: Option --%s is not supported: %s\n", command, f.Name, f.Refuse)
			if code != 1 || stdout != "" || stderr != want {
				t.Errorf("%s %s: exit %d, stdout %q, stderr %q; want %q", command, word, code, stdout, stderr, want)
			}
		}
	}
}
