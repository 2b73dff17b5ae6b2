package api

import "muster/internal/wire"

// Calls about who may use what.
const (
	MethodBookChange = "book.change" // BookChange, BookReply: sacctmgr add, modify, delete
	MethodBookList   = "book.list"   // TableQuery, Table: sacctmgr show, sshare, sprio
)

// BookChange is one change by sacctmgr(1), as it was typed but for the case of
// its words.
type BookChange struct {
	Verb   string // add, modify, delete, load
	Entity string // account, user, qos, coordinator; tree of a load
	Names  []string
	Where  []Pair
	Set    []Pair
	Commit bool   // else it is only told what would be done
	Text   string // of load: the file
}

// Code implements wire.Message.
func (b *BookChange) Code(w *wire.Coder) {
	w.String(1, &b.Verb)
	w.String(2, &b.Entity)
	wire.Texts(w, 3, &b.Names)
	wire.Slice(w, 4, &b.Where)
	wire.Slice(w, 5, &b.Set)
	w.Bool(6, &b.Commit)
	w.String(7, &b.Text)
}

// BookReply is what sacctmgr prints of a change.
type BookReply struct {
	Text    string // standard output
	Nothing bool   // nothing was to be done: the exit code is 1
	Settled bool   // nothing was to be done, and that is a success
}

// Code implements wire.Message.
func (b *BookReply) Code(w *wire.Coder) {
	w.String(1, &b.Text)
	w.Bool(2, &b.Nothing)
	w.Bool(3, &b.Settled)
}

// TableQuery asks for a table of texts.
type TableQuery struct {
	Entity string // account, user, assoc, qos, cluster, tres, dump, share, priority, weight
}

// Code implements wire.Message.
func (q *TableQuery) Code(w *wire.Coder) { w.String(1, &q.Entity) }

// Table is a list of records by columns, all of them texts as Slurm prints them.
type Table struct {
	Fields []string // names of the columns, in lower case
	Rows   []TableRow
}

// Code implements wire.Message.
func (t *Table) Code(w *wire.Coder) {
	wire.Texts(w, 1, &t.Fields)
	wire.Slice(w, 2, &t.Rows)
}

// TableRow is one record.
type TableRow struct{ Values []string }

// Code implements wire.Message.
func (t *TableRow) Code(w *wire.Coder) {
	// An empty value has to stay in its place, which a list of texts gives.
	wire.Texts(w, 1, &t.Values)
}
