package job

import "muster/internal/wire"

// The bits of Mail.Types: the events to send mail for (sbatch(1), --mail-type).
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
	MailArrayTasks // no event: each task of an array has its own mails
)

// MailLimits are the events of a job that nears its time limit.
const MailLimits = MailTimeLimit | MailTimeLimit90 | MailTimeLimit80 | MailTimeLimit50

// MailEvent is one event of a job that mail is due for, with all that the mail
// says: the job may be gone when it is sent.
type MailEvent struct {
	Event   uint32 // one of the bits
	Job     ID
	Array   ID     // 0: no task of an array
	Task    uint32 // NoTask for an array as one
	Summary bool   // about an array as one
	Name    string
	Owner   string // name of the job's user
	User    string // who gets the mail, as given; "": the owner
	State   State
	// Low and High are the lowest and the highest exit code, each as code*256+signal;
	// they differ only for an array as one.
	Low, High uint32
	Requeued  bool // some task of the array was requeued
	Timed     bool // Seconds is meant
	Seconds   uint32
}

// Code implements wire.Message.
func (e *MailEvent) Code(c *wire.Coder) {
	wire.Uint(c, 1, &e.Event)
	wire.Uint(c, 2, &e.Job)
	wire.Uint(c, 3, &e.Array)
	wire.Uint(c, 4, &e.Task)
	c.Bool(5, &e.Summary)
	c.String(6, &e.Name)
	c.String(7, &e.Owner)
	c.String(8, &e.User)
	wire.Uint(c, 9, &e.State)
	wire.Uint(c, 10, &e.Low)
	wire.Uint(c, 11, &e.High)
	c.Bool(12, &e.Requeued)
	c.Bool(13, &e.Timed)
	wire.Uint(c, 14, &e.Seconds)
}
