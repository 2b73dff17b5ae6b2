package slurm

import (
	"math"
	"path/filepath"
	"strings"

	"muster/job"
)

// shareCores is what --oversubscribe asks for.
const shareCores = job.Oversubscribe

// maxText bounds every text that a user gives by an option, in bytes.
const maxText = 64 << 10

// text makes the setter of an option that is kept as it is given.
func text(field func(*Options) *string) func(*Options, string) error {
	return func(o *Options, v string) error {
		if len(v) > maxText {
			return errLongText()
		}
		*field(o) = v
		return nil
	}
}

func errLongText() error {
	return &OptionError{Text: "An option value is longer than 65536 bytes", Code: 1}
}

// u16 makes the setter of a count from 1 to 65533.
func u16(name string, field func(*Options) *uint16) func(*Options, string) error {
	return func(o *Options, v string) error {
		n, err := number(name, v, 1, math.MaxUint16-2)
		if err == nil {
			*field(o) = uint16(n)
		}
		return err
	}
}

// includeText and excludeText hold a node list as given until Finish expands it.
func includeText(o *Options) *string { return listText(&o.Job.Place.Nodes) }
func excludeText(o *Options) *string { return listText(&o.Job.Place.Exclude) }

func listText(list *[]string) *string {
	*list = []string{""}
	return &(*list)[0]
}

func setBegin(o *Options, v string) error {
	t, err := ParseTime(v, o.in.Now, Future)
	if err != nil || t.IsZero() {
		return timeOptionError("begin", err)
	}
	o.Job.Timing.Begin = job.TimeOf(t)
	return nil
}

func setDeadline(o *Options, v string) error {
	t, err := ParseTime(v, o.in.Now, Future)
	if err != nil || t.IsZero() {
		return timeOptionError("deadline", err)
	}
	o.Job.Timing.Deadline = job.TimeOf(t)
	return nil
}

func timeOptionError(option string, err error) error {
	e := &OptionError{Text: "Invalid --" + option + " specification", Code: 255}
	if err != nil {
		e.Before = err.Error()
	}
	return e
}

func setChdir(o *Options, v string) error {
	if !filepath.IsAbs(v) {
		v = o.in.Dir + "/" + v // as typed: Slurm does not tidy it
	}
	o.Job.Batch.WorkDir = v
	return nil
}

// setStdin, setStdout and setStderr keep "none" as no file, as Slurm does.
func setStdin(o *Options, v string) error  { return setFile(&o.Job.Batch.Stdin, v) }
func setStdout(o *Options, v string) error { return setFile(&o.Job.Batch.Stdout, v) }
func setStderr(o *Options, v string) error { return setFile(&o.Job.Batch.Stderr, v) }

func setFile(field *string, v string) error {
	if len(v) > 4095 {
		return &OptionError{Text: "A file name is longer than 4095 bytes", Code: 1}
	}
	if strings.EqualFold(v, "none") {
		v = "/dev/null"
	}
	*field = v
	return nil
}

// setConstraint keeps the expression; a comma is the older way to write &.
func setConstraint(o *Options, v string) error {
	if len(v) > maxText {
		return errLongText()
	}
	o.Job.Place.Constraint = strings.ReplaceAll(v, ",", "&")
	return nil
}

func setOpenMode(o *Options, v string) error {
	switch low := strings.ToLower(v); {
	case v == "":
		return refuse("open-mode")
	case strings.HasPrefix("append", low):
		o.Job.Batch.Append = job.Yes
	case strings.HasPrefix("truncate", low):
		o.Job.Batch.Append = job.No
	default:
		return refuse("open-mode")
	}
	return nil
}

func setKillOnDep(o *Options, v string) error {
	switch {
	case strings.EqualFold(v, "yes"):
		o.Job.KillOnDep = job.Yes
	case strings.EqualFold(v, "no"):
		o.Job.KillOnDep = job.No
	default:
		return refuse("kill-on-invalid-dep")
	}
	return nil
}

func setMailType(o *Options, v string) error {
	types, err := ParseMailTypes(v)
	if err != nil {
		return refuse("mail-type")
	}
	if strings.EqualFold(v, "none") {
		o.Job.Mail.Types = 0
	} else {
		o.Job.Mail.Types |= types
	}
	return nil
}

func setMailUser(o *Options, v string) error {
	if !ValidMailUser(v) {
		return &OptionError{Text: "Invalid --mail-user specification: give one address, or some with commas and no blanks between them", Code: 255}
	}
	o.Job.Mail.User = v
	return nil
}

func setNice(o *Options, v string) error {
	if v == "" {
		o.Job.Nice = 100
		return nil
	}
	v = strings.TrimLeft(v, blanks)
	plain := strings.TrimLeft(v, "+-")
	n, ok := longDigits(plain)
	most := int64(math.MaxInt32 - 3)
	if v[0] == '-' {
		most++
	}
	if !ok || len(plain)+1 < len(v) || int64(n) > most {
		return &OptionError{Text: "Invalid --nice value, out of range (+/- 2147483645)", Code: 255}
	}
	if v[0] == '-' {
		n = -n
	}
	o.Job.Nice = int32(n)
	return nil
}

func setNoKill(o *Options, v string) error {
	switch strings.ToLower(v) {
	case "", "set":
		o.Job.NoKill = true
	case "off", "no":
		o.Job.NoKill = false
	default:
		return refuse("no-kill")
	}
	return nil
}

func setPartition(o *Options, v string) error {
	o.Job.Partitions = nil
	for p := range strings.SplitSeq(v, ",") {
		if p != "" {
			o.Job.Partitions = append(o.Job.Partitions, p)
		}
	}
	return nil
}

func setPriority(o *Options, v string) error {
	p := uint32(math.MaxUint32 - 2)
	if !strings.EqualFold(v, "TOP") {
		v = strings.TrimLeft(v, blanks)
		n, ok := longDigits(v)
		switch {
		case strings.HasPrefix(v, "-"):
			return &OptionError{Text: "Priority must be >= 0", Code: 255}
		case ok && n > math.MaxUint32-2, !ok && v != "" && allDigits(v):
			return &OptionError{Text: "Priority must be < 4294967294", Code: 255}
		case !ok:
			return refuse("priority")
		}
		p = uint32(n)
	}
	o.Priority = &p
	return nil
}

func setProfile(_ *Options, v string) error {
	if strings.EqualFold(v, "none") {
		return nil
	}
	return &OptionError{Text: "invalid --profile=" + v + " option: profiles are not kept here, use none", Code: 255}
}

func setPropagate(o *Options, v string) error {
	if v == "" {
		v = "ALL"
	}
	if _, err := PropagatedLimits(v); err != nil {
		return &OptionError{Explain: err.Error(), Text: "--propagate=" + v + " is not valid.", Code: 1}
	}
	o.Act.Propagate = v
	return nil
}

func (o *Options) setRequeue(yes bool) {
	o.Job.Requeue = yes
	o.set["requeue"] = FromCommandLine // a choice was made, whichever
}

func setRequeue(o *Options, v string) error {
	if v != "" {
		return refuse("requeue")
	}
	o.setRequeue(true)
	return nil
}

func setSignal(o *Options, v string) error {
	s, err := ParseSignal(v)
	if err != nil {
		return refuse("signal")
	}
	o.Job.Signal = s
	return nil
}

func setTime(o *Options, v string) error    { return setLimit(&o.Job.Timing.Limit, "time", v) }
func setTimeMin(o *Options, v string) error { return setLimit(&o.Job.Timing.MinLimit, "time-min", v) }

func setLimit(field *job.Minutes, option, v string) error {
	m, err := ParseTimeLimit(v)
	if err != nil {
		return refuse(option)
	}
	*field = m
	return nil
}

func setWaitAll(o *Options, v string) error {
	n, err := number("wait-all-nodes", v, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	if n > 1 {
		return refuse("wait-all-nodes")
	}
	o.Job.Batch.WaitAll = n == 1
	return nil
}

func setWrap(o *Options, v string) error {
	o.Act.Wrap, o.Act.Wrapped = v, true
	return nil
}
