package api

import (
	"muster/internal/wire"
	"muster/job"
)

// The calls of scrontab. Both are about the caller's own crontab.
const (
	MethodCrontab    = "crontab.show" // NameQuery, CrontabReply
	MethodSetCrontab = "crontab.set"  // CrontabRequest, CrontabResult
)

// CrontabReply is a user's crontab; Text is empty if there is none.
type CrontabReply struct{ Text string }

// Code implements wire.Message.
func (r *CrontabReply) Code(w *wire.Coder) { w.String(1, &r.Text) }

// CrontabRequest puts a crontab in the place of the caller's; an empty text removes
// it. The entries are those of the text, in its order.
type CrontabRequest struct {
	Text        string
	Entries     []CrontabEntry
	Environment []byte // of all entries, as in SubmitRequest
}

// Code implements wire.Message.
func (r *CrontabRequest) Code(w *wire.Coder) {
	w.String(1, &r.Text)
	wire.Slice(w, 2, &r.Entries)
	w.Bytes(3, &r.Environment)
}

// CrontabEntry is one recurring job.
type CrontabEntry struct {
	Cron   job.Cron
	Script []byte
	Job    SubmitJob
}

// Code implements wire.Message.
func (e *CrontabEntry) Code(w *wire.Coder) {
	wire.Struct(w, 1, &e.Cron)
	w.Bytes(2, &e.Script)
	wire.Struct(w, 3, &e.Job)
}

// CrontabResult has one job for each entry; or Failure, which is Slurm's text, and
// the entry that it is about, and nothing was changed.
type CrontabResult struct {
	Jobs     []job.ID
	Messages []string // lines for the user's stderr
	Failure  string
	Failed   uint32 // place of the entry
}

// Code implements wire.Message.
func (r *CrontabResult) Code(w *wire.Coder) {
	wire.Ints(w, 1, &r.Jobs)
	wire.Texts(w, 2, &r.Messages)
	w.String(3, &r.Failure)
	wire.Uint(w, 4, &r.Failed)
}
