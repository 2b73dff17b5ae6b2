package api

import "muster/internal/wire"

// The kinds of parts of a backup, in the order in which they come.
const (
	BackupHead   = "head"   // First: raft index of the state; Name: cluster; Data: the cluster file in force
	BackupLedger = "ledger" // List: consecutive records of finished jobs; First: number of the first
	BackupBlob   = "blob"   // Data: a script or an environment
	BackupState  = "state"  // Data: the next bytes of the snapshot of the state
	BackupFile   = "file"   // Name, Data: a file of the certificate authority; added by muster backup
	BackupEnd    = "end"    // Data: SHA-256 of all parts before; added by muster backup
)

// BackupPart is one part of a backup.
type BackupPart struct {
	Kind  string
	Name  string
	First uint64
	Data  []byte
	List  []BackupRecord
}

// Code implements wire.Message.
func (p *BackupPart) Code(w *wire.Coder) {
	w.String(1, &p.Kind)
	w.String(2, &p.Name)
	w.Uint64(3, &p.First)
	w.Bytes(4, &p.Data)
	wire.Slice(w, 5, &p.List)
}

// BackupRecord is one record of the ledger, as the ledger keeps it.
type BackupRecord struct{ Data []byte }

// Code implements wire.Message.
func (r *BackupRecord) Code(w *wire.Coder) { w.Bytes(1, &r.Data) }
