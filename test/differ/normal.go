package differ

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// replacer replaces the names of the scratch directory and of the script.
func (c *Cluster) replacer(script string) *strings.Replacer {
	return strings.NewReplacer(c.Dir+"/"+script, "DIR/job.sh", script, "job.sh", c.Dir, "DIR")
}

var messageID = regexp.MustCompile(`(?m)(^|[Jj]ob )(\d+)(;|$| )`)

// message normalises what a command printed.
func (c *Cluster) message(text, script string) string {
	return messageID.ReplaceAllString(c.replacer(script).Replace(text), "${1}<ID>${3}")
}

// ids replaces the ids of the job and of those that it depends on.
func (c *Cluster) ids(text, id string) string {
	for _, n := range [][2]string{{id, "<ID>"}, {c.job, "<JOB>"}, {c.array, "<ARRAY>"}} {
		if n[0] != "" {
			text = regexp.MustCompile(`(^|[^0-9])`+n[0]+`([^0-9]|$)`).ReplaceAllString(text, "${1}"+n[1]+"${2}")
		}
	}
	return text
}

// idsInWords replaces the ids in the words of a dependency.
func (c *Cluster) idsInWords(text string) string {
	for _, n := range [][2]string{{c.job, "<JOB>"}, {c.array, "<ARRAY>"}} {
		text = regexp.MustCompile(`([:=])`+n[0]+`([^0-9]|$)`).ReplaceAllString(text, "${1}"+n[1]+"${2}")
	}
	return text
}

// withIDs are the fields and variables that name jobs.
var withIDs = regexp.MustCompile(`^(Dependency|StdOut|StdErr|StdIn|SLURM_(ARRAY_)?JOB_?ID|SLURM_JOB_DEPENDENCY)$`)

// wholeLine are the keys of scontrol whose value goes to the end of the line.
var wholeLine = regexp.MustCompile(`^(Command|SubmitLine|WorkDir|Comment|AdminComment|Extra|StdErr|StdIn|StdOut|Features|Prefer|MailUser|Reservation|TresPerTask|TresPerNode|TresPerJob|TresPerSocket)=`)

var pairStart = regexp.MustCompile(`(?:^| )([A-Z][A-Za-z]*(?:[/:][A-Za-z:]+)?)=`)

// parseRecords reads what scontrol show job prints, by job id.
func parseRecords(text string) map[string]map[string]string {
	out := make(map[string]map[string]string)
	for block := range strings.SplitSeq(text, "\n\n") {
		record := make(map[string]string)
		for line := range strings.SplitSeq(block, "\n") {
			parseLine(record, strings.TrimLeft(line, " "))
		}
		if id := record["JobId"]; id != "" && out[id] == nil {
			out[id] = record
		}
	}
	return out
}

func parseLine(record map[string]string, line string) {
	if wholeLine.MatchString(line) {
		key, value, _ := strings.Cut(line, "=")
		record[key] = value
		return
	}
	found := pairStart.FindAllStringSubmatchIndex(line, -1)
	for i, m := range found {
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		key := line[m[2]:m[3]]
		if key == "JobName" { // may hold anything, and ends the line
			record[key] = line[m[1]:]
			return
		}
		record[key] = line[m[1]:end]
	}
}

// dropped are the fields that tell when somebody looked, not what was asked for.
var dropped = []string{"JobId", "ArrayJobId", "AllocNode:Sid", "LastSchedEval", "Scheduler", "SubmitTime", "RunTime"}

// record normalises the fields of one job.
func (c *Cluster) record(fields map[string]string, id string) map[string]string {
	submit, err := time.Parse(isoTime, fields["SubmitTime"])
	out := make(map[string]string, len(fields))
	paths := c.replacer(scriptOf(fields))
	for key, value := range fields {
		value = paths.Replace(value)
		if withIDs.MatchString(key) {
			value = c.ids(value, id)
		}
		if t, bad := time.Parse(isoTime, value); bad == nil && err == nil {
			value = relative(t, submit)
		}
		out[key] = value
	}
	for _, key := range dropped {
		delete(out, key)
	}
	if p := out["Priority"]; p != "0" {
		out["Priority"] = "set"
	}
	return out
}

const isoTime = "2006-01-02T15:04:05"

// relative writes a time near the submission as a distance from it.
func relative(t, submit time.Time) string {
	d := t.Sub(submit)
	switch {
	case d > -5*time.Second && d < 5*time.Second:
		return "submit"
	case d > -400*24*time.Hour && d < 400*24*time.Hour:
		return fmt.Sprintf("submit%+dm", int64(d.Round(time.Minute)/time.Minute))
	}
	return t.Format(isoTime)
}

var scriptPath = regexp.MustCompile(`s\d+/job\.sh`)

// scriptOf finds the name of the script in a record.
func scriptOf(fields map[string]string) string {
	for _, key := range []string{"SubmitLine", "Command"} {
		if m := scriptPath.FindString(fields[key]); m != "" {
			return m
		}
	}
	return "no script"
}
