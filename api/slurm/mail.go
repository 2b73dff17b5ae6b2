package slurm

import (
	"errors"
	"fmt"
	"strings"

	"muster/job"
)

// mailAll is what ALL stands for (sbatch(1), --mail-type).
const mailAll = job.MailInvalidDepend | job.MailBegin | job.MailEnd | job.MailFail | job.MailRequeue | job.MailStageOut

// mailWords: the words of the bits, in the order of scontrol's MailType=.
var mailWords = []struct {
	word string
	bit  uint32
}{
	{"ARRAY_TASKS", job.MailArrayTasks}, {"INVALID_DEPEND", job.MailInvalidDepend}, {"BEGIN", job.MailBegin}, {"END", job.MailEnd},
	{"FAIL", job.MailFail}, {"REQUEUE", job.MailRequeue}, {"STAGE_OUT", job.MailStageOut}, {"TIME_LIMIT_50", job.MailTimeLimit50},
	{"TIME_LIMIT_80", job.MailTimeLimit80}, {"TIME_LIMIT_90", job.MailTimeLimit90}, {"TIME_LIMIT", job.MailTimeLimit},
}

// ParseMailTypes reads --mail-type: words separated by commas. Like Slurm it
// passes over words that it does not know as long as it knows one.
func ParseMailTypes(text string) (uint32, error) {
	var types uint32
	for word := range strings.SplitSeq(text, ",") {
		switch {
		case strings.EqualFold(word, "NONE"):
			return 0, nil
		case strings.EqualFold(word, "ALL"):
			types |= mailAll
		}
		for _, m := range mailWords {
			if strings.EqualFold(word, m.word) {
				types |= m.bit
			}
		}
	}
	if types == 0 {
		return 0, errors.New("use NONE, BEGIN, END, FAIL, REQUEUE, ALL, INVALID_DEPEND, STAGE_OUT, TIME_LIMIT, TIME_LIMIT_90, _80, _50 or ARRAY_TASKS")
	}
	return types, nil
}

// FormatMailTypes writes mail types as scontrol prints them.
func FormatMailTypes(types uint32) string {
	var out []string
	for _, m := range mailWords {
		if types&m.bit != 0 {
			out = append(out, m.word)
		}
	}
	if len(out) == 0 {
		return "NONE"
	}
	return strings.Join(out, ",")
}

// MailEventText is an event as subjects and SLURM_JOB_MAIL_TYPE have it.
func MailEventText(event uint32) string {
	switch event {
	case job.MailInvalidDepend:
		return "Invalid dependency"
	case job.MailBegin:
		return "Began"
	case job.MailEnd:
		return "Ended"
	case job.MailFail:
		return "Failed"
	case job.MailRequeue:
		return "Requeued"
	case job.MailTimeLimit:
		return "Reached time limit"
	case job.MailTimeLimit90:
		return "Reached 90% of time limit"
	case job.MailTimeLimit80:
		return "Reached 80% of time limit"
	case job.MailTimeLimit50:
		return "Reached 50% of time limit"
	}
	return "unknown"
}

// MailSubject is the subject line that Slurm's mail about an event has. Bytes that
// would end the line are written as question marks.
func MailSubject(e *job.MailEvent) string {
	what := MailEventText(e.Event)
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, e.Name)
	switch {
	case e.Summary:
		return fmt.Sprintf("Slurm Array Summary Job_id=%d_* (%d) Name=%s %s%s", e.Array, e.Job, name, what, mailSummary(e))
	case e.Array != 0 && e.Task != job.NoTask:
		return fmt.Sprintf("Slurm Array Task Job_id=%d_%d (%d) Name=%s %s%s%s", e.Array, e.Task, e.Job, name, what, mailTime(e), mailEnd(e))
	}
	return fmt.Sprintf("Slurm Job_id=%d Name=%s %s%s%s", e.Job, name, what, mailTime(e), mailEnd(e))
}

// mailTime is how long the job waited or ran.
func mailTime(e *job.MailEvent) string {
	switch {
	case !e.Timed:
		return ""
	case e.Event == job.MailBegin:
		return ", Queued time " + MailSpan(e)
	}
	return ", Run time " + MailSpan(e)
}

// MailSpan is that time as [D-]HH:MM:SS.
func MailSpan(e *job.MailEvent) string { return string(AppendSpan(nil, int64(e.Seconds))) }

// mailEnd is how a job ended; exit codes are said only of one that no signal ended.
func mailEnd(e *job.MailEvent) string {
	switch {
	case e.Event != job.MailEnd && e.Event != job.MailFail:
		return ""
	case e.High%256 != 0:
		return ", " + e.State.String()
	}
	return fmt.Sprintf(", %s, ExitCode %d", e.State, e.High/256)
}

// mailSummary is how the tasks of an array ended.
func mailSummary(e *job.MailEvent) string {
	if e.Event != job.MailEnd && e.Event != job.MailFail {
		return ""
	}
	state := e.State.String()
	if e.Low == 0 && e.High > 0 {
		state = "Mixed"
	}
	var text string
	switch {
	case e.Low%256 == 0 && e.High%256 == 0:
		text = fmt.Sprintf(", %s, ExitCode [%d-%d]", state, e.Low/256, e.High/256)
	case e.High%256 != 0:
		text = fmt.Sprintf(", Mixed, MaxSignal [%d]", e.High%256)
	default:
		text = fmt.Sprintf(", Mixed, MaxExitCode [%d]", e.High/256)
	}
	if e.Requeued {
		text += ", with requeued tasks"
	}
	return text
}

// ValidMailUser tells whether a text may be handed to a mail program as who gets a
// mail: it must not look like an option, nor hold white space or control bytes.
// Empty is valid: it is the job's user.
func ValidMailUser(text string) bool {
	return len(text) <= 1024 && !strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
