package api

import (
	"muster/internal/wire"
	"muster/job"
)

// The cluster file that scontrol reconfigure sends.
const (
	// ConfVariable names it; DefaultConf is used without it.
	ConfVariable = "MUSTER_CONF"
	// DefaultConf is where the cluster file of a controller's host lies.
	DefaultConf = "/etc/muster/cluster.toml"
)

// ConfigureRequest asks what a cluster file would change, or makes it the
// configuration (muster conf diff and apply, scontrol reconfigure).
type ConfigureRequest struct {
	Name   string // of the file, for messages
	Source string // the text of the file; "" with Undo
	Undo   uint64 // serial of the earlier configuration to go back to
	Before bool   // go back to the one before the one in force
	Commit bool   // else it is only looked at
	Force  bool   // end running jobs that have no place any more
	Base   uint64 // serial that the difference was shown for: refused if it is not in force any more; 0: any
}

// Code implements wire.Message.
func (r *ConfigureRequest) Code(w *wire.Coder) {
	w.String(1, &r.Name)
	w.String(2, &r.Source)
	w.Uint64(3, &r.Undo)
	w.Bool(4, &r.Before)
	w.Bool(5, &r.Commit)
	w.Bool(6, &r.Force)
	w.Uint64(7, &r.Base)
}

// ConfigureReply says what a cluster file changes.
type ConfigureReply struct {
	Serial   uint64   // in force: after a commit the new one's
	Undo     uint64   // the earlier one that was meant, if any
	Same     bool     // the text is the one in force; nothing was or would be committed
	Changes  []string // lines of the difference
	Effects  []string // what follows of it
	Ends     []string // running jobs and reservations that it has no place for
	Warnings []string // keys that nothing acts on
}

// Code implements wire.Message.
func (r *ConfigureReply) Code(w *wire.Coder) {
	w.Uint64(1, &r.Serial)
	w.Uint64(2, &r.Undo)
	w.Bool(3, &r.Same)
	wire.Texts(w, 4, &r.Changes)
	wire.Texts(w, 5, &r.Effects)
	wire.Texts(w, 6, &r.Ends)
	wire.Texts(w, 7, &r.Warnings)
}

// ConfigsRequest asks for the configurations that are remembered.
type ConfigsRequest struct {
	Serial uint64 // that one's text is wanted, too; 0: none
}

// Code implements wire.Message.
func (r *ConfigsRequest) Code(w *wire.Coder) { w.Uint64(1, &r.Serial) }

// ConfigsReply lists them, oldest first: the last is in force.
type ConfigsReply struct {
	Configs []ConfigRecord
	Source  string // the text that was asked for
	Behind  string // host list of the nodes that have not taken the one in force
	Zone    string // time zone of the cluster, IANA name
}

// Code implements wire.Message.
func (r *ConfigsReply) Code(w *wire.Coder) {
	wire.Slice(w, 1, &r.Configs)
	w.String(2, &r.Source)
	w.String(3, &r.Behind)
	w.String(4, &r.Zone)
}

// ConfigRecord is one configuration.
type ConfigRecord struct {
	Serial uint64
	At     job.Time
	By     string // user, or the controller that made the cluster
	Host   string // from where
	Undo   uint64 // serial of the earlier one that it is again; 0: none
	Forced bool
}

// Code implements wire.Message.
func (r *ConfigRecord) Code(w *wire.Coder) {
	w.Uint64(1, &r.Serial)
	wire.Int(w, 2, &r.At)
	w.String(3, &r.By)
	w.String(4, &r.Host)
	w.Uint64(5, &r.Undo)
	w.Bool(6, &r.Forced)
}
