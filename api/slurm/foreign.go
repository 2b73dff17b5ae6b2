package slurm

import (
	"bytes"
	"fmt"
	"strings"
)

// foreignWindow is how many lines that are no comments are looked through for
// directives of other batch systems.
const foreignWindow = 100

// foreignDirectives translates the #PBS and #BSUB lines of a script (sbatch(1),
// --ignore-pbs); #SBATCH lines win over them.
func foreignDirectives(script []byte) ([]Given, error) {
	if !bytes.Contains(script, []byte("#PBS")) && !bytes.Contains(script, []byte("#BSUB")) {
		return nil, nil
	}
	var pbs, bsub []string
	commands := 0
	for line := range bytes.Lines(script) {
		text := strings.TrimRight(string(line), "\r\n")
		if rest, ok := strings.CutPrefix(text, "#PBS"); ok {
			words, err := splitDirective(rest, "#PBS")
			if err != nil {
				return nil, err
			}
			pbs = append(pbs, words...)
		} else if rest, ok := strings.CutPrefix(text, "#BSUB"); ok {
			words, err := splitDirective(rest, "#BSUB")
			if err != nil {
				return nil, err
			}
			bsub = append(bsub, words...)
		} else if !strings.HasPrefix(text, "#") {
			if commands++; commands > foreignWindow {
				break
			}
		}
	}
	out, err := translate(pbs, pbsFlags, pbsOption)
	if err != nil {
		return nil, err
	}
	more, err := translate(bsub, bsubFlags, bsubOption)
	return append(out, more...), err
}

// translate parses words by another system's grammar and maps each option.
func translate(words []string, flags string, option func(byte, string) ([]Given, error)) ([]Given, error) {
	var table []Flag
	for i := 0; i < len(flags); i++ {
		f := Flag{Short: flags[i]}
		if i+1 < len(flags) && flags[i+1] == ':' {
			f.Arg = RequiredArg
			i++
		}
		table = append(table, f)
	}
	given, rest, err := Getopt(words, table, true)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, scriptError("Invalid argument: " + rest[0])
	}
	var out []Given
	for _, g := range given {
		more, err := option(g.Flag.Short, g.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// give makes an option of our own table.
func give(name, value string) []Given {
	o := lookupOption(name, Sbatch)
	return []Given{{Flag: &o.Flag, Value: value, HasValue: value != ""}}
}

// The letters of qsub's and bsub's options; a colon follows those with a value.
const (
	pbsFlags  = "a:A:c:C:d:e:hIj:J:k:l:m:M:N:o:p:q:r:S:t:u:v:VW:w:z"
	bsubFlags = "c:e:J:m:M:n:o:q:W:x"
)

// pbsSame maps qsub's letters that mean what one of our options means.
var pbsSame = map[byte]string{
	'a': "begin", 'A': "account", 'e': "error", 'o': "output", 'w': "chdir", 'd': "chdir", 'J': "array", 't': "array",
	'M': "mail-user", 'N': "job-name", 'p': "nice", 'q': "partition", 'v': "export",
}

// pbsOption translates one option of qsub. Letters without a counterpart have no
// effect, as in Slurm.
func pbsOption(letter byte, value string) ([]Given, error) {
	if name, ok := pbsSame[letter]; ok {
		return give(name, value), nil
	}
	switch letter {
	case 'h':
		return give("hold", ""), nil
	case 'l':
		return pbsResources(value)
	case 'm':
		return give("mail-type", pbsMail(value)), nil
	case 'W':
		if dep, ok := cutFold(value, "depend="); ok {
			return give("dependency", dep), nil
		}
	}
	return nil, nil
}

// pbsMail translates the letters of qsub -m.
func pbsMail(letters string) string {
	var words []string
	for _, c := range letters {
		switch c {
		case 'a':
			words = append(words, "FAIL")
		case 'b':
			words = append(words, "BEGIN")
		case 'e':
			words = append(words, "END")
		}
	}
	if words == nil {
		return "NONE"
	}
	return strings.Join(words, ",")
}

// pbsNames maps the names of qsub -l.
var pbsNames = map[string]string{
	"walltime": "time", "cput": "time", "pcput": "time", "mem": "mem", "file": "tmp", "nice": "nice", "proc": "constraint",
	"ncpus": "mincpus", "mpiprocs": "ntasks-per-node", "select": "nodes",
}

// pbsResources translates qsub -l: walltime=1:00,nodes=2:ppn=4 and select=2:ncpus=8.
func pbsResources(list string) ([]Given, error) {
	var out []Given
	for part := range strings.SplitSeq(list, ",") {
		for i, item := range strings.Split(part, ":") {
			if strings.HasPrefix(part, "walltime=") || strings.HasPrefix(part, "cput=") || strings.HasPrefix(part, "pcput=") {
				if i > 0 {
					break // the colons are those of a time
				}
				item = part
			}
			key, value, ok := strings.Cut(item, "=")
			switch name := pbsNames[key]; {
			case !ok:
			case key == "nodes":
				out = append(out, pbsNodes(value)...)
			case key == "ppn":
				out = append(out, give("ntasks-per-node", value)...)
			case key == "naccelerators":
				out = append(out, give("gpus-per-node", value)...)
			case name != "":
				out = append(out, give(name, value)...)
			}
		}
	}
	return out, nil
}

// pbsNodes translates the value of nodes=: a count or names.
func pbsNodes(value string) []Given {
	if _, ok := digits(value); ok {
		return give("nodes", value)
	}
	return give("nodelist", strings.ReplaceAll(value, "+", ","))
}

// bsubSame maps bsub's letters.
var bsubSame = map[byte]string{'c': "chdir", 'e': "error", 'J': "job-name", 'o': "output", 'q': "partition", 'W': "time"}

// bsubOption translates one option of bsub.
func bsubOption(letter byte, value string) ([]Given, error) {
	if name, ok := bsubSame[letter]; ok {
		return give(name, value), nil
	}
	switch letter {
	case 'm':
		return give("nodelist", strings.ReplaceAll(value, " ", ",")), nil
	case 'M':
		if allDigits(value) {
			value += "K" // LSF's default unit
		}
		return give("mem-per-cpu", value), nil
	case 'n':
		if _, max, ok := strings.Cut(value, ","); ok {
			value = max
		}
		if value == "" {
			return nil, scriptError(fmt.Sprintf("#BSUB -n format not correct given: '%s'", value))
		}
		return give("ntasks", value), nil
	case 'x':
		return give("exclusive", ""), nil
	}
	return nil, nil
}
