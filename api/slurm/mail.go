package slurm

import (
	"errors"
	"strings"
)

// The bits of job.Mail.Types, in the order in which scontrol prints them.
const (
	MailInvalidDepend uint32 = 1 << iota
	MailBegin
	MailEnd
	MailFail
	MailRequeue
	MailTimeLimit
	MailTimeLimit90
	MailTimeLimit80
	MailTimeLimit50
	MailStageOut
	MailArrayTasks
)

// mailAll is what ALL stands for (sbatch(1), --mail-type).
const mailAll = MailInvalidDepend | MailBegin | MailEnd | MailFail | MailRequeue | MailStageOut

// mailWords: the words of the bits, in the order of scontrol's MailType=.
var mailWords = []struct {
	word string
	bit  uint32
}{
	{"ARRAY_TASKS", MailArrayTasks}, {"INVALID_DEPEND", MailInvalidDepend}, {"BEGIN", MailBegin}, {"END", MailEnd},
	{"FAIL", MailFail}, {"REQUEUE", MailRequeue}, {"STAGE_OUT", MailStageOut}, {"TIME_LIMIT_50", MailTimeLimit50},
	{"TIME_LIMIT_80", MailTimeLimit80}, {"TIME_LIMIT_90", MailTimeLimit90}, {"TIME_LIMIT", MailTimeLimit},
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
