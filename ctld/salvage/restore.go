package salvage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"muster/accounting/ledger"
	"muster/api"
	"muster/api/identity"
	"muster/conf"
	"muster/ctld/store"
	"muster/internal/durable"
	"muster/job"
	"muster/state"
)

// Restored says what a backup became.
type Restored struct {
	Cluster string
	Index   uint64 // raft index of the backup
	Jobs    int    // in the state
	Ended   int    // that ran when the backup was made
	Records uint64 // of finished jobs, in the ledger
	Certs   bool   // the backup held the certificate authority
}

// Restore makes the files of one controller from a backup, in a directory that is not
// there yet: data, cluster.toml and, if the backup holds the authority, certs. The controller is the
// only member of its cluster. What ran when the backup was made is ended as on a node
// that was lost: what may be requeued waits again, the rest is NODE_FAIL. On an error
// nothing is left.
func Restore(backup io.Reader, dir, name string, log *slog.Logger) (*Restored, error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already: a backup is restored into a new directory", dir)
	}
	tmp := dir + ".restoring"
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return nil, fmt.Errorf("restore into %s: %w", dir, err)
	}
	r := &restorer{dir: tmp, name: name, log: log, out: &Restored{}}
	err := Read(backup, r.take)
	if err == nil {
		err = r.finish()
	}
	err = errors.Join(err, r.close())
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return r.out, durable.SyncDir(filepath.Dir(dir))
}

// restorer takes the parts of a backup one after the other.
type restorer struct {
	dir, name string
	log       *slog.Logger
	out       *Restored
	file      *conf.File
	ledger    *ledger.Ledger
	seed      *store.Seed
	state     *os.File // the snapshot, until it is whole
}

func (r *restorer) data() string { return filepath.Join(r.dir, "data") }

func (r *restorer) take(p *api.BackupPart) error {
	if r.file == nil && p.Kind != api.BackupHead {
		return errors.New("the backup does not begin with what it is of")
	}
	switch p.Kind {
	case api.BackupHead:
		return r.head(p)
	case api.BackupLedger:
		return r.records(p)
	case api.BackupBlob:
		return r.seed.Blob(p.Data)
	case api.BackupState:
		_, err := r.state.Write(p.Data)
		return err
	case api.BackupFile:
		return r.certificate(p)
	}
	return fmt.Errorf("the backup has a part %q, which this version does not know", p.Kind)
}

func (r *restorer) head(p *api.BackupPart) (err error) {
	if r.file, err = conf.Parse("cluster file of the backup", p.Data); err != nil {
		return err
	}
	d, ok := r.file.Controller(r.name)
	if !ok {
		return fmt.Errorf("the cluster file of the backup names no controller %q: give --name one of its [[controller]] names", r.name)
	}
	r.out.Cluster, r.out.Index = p.Name, p.First
	if err := os.WriteFile(filepath.Join(r.dir, "cluster.toml"), p.Data, 0o644); err != nil {
		return err
	}
	self := store.Member{Name: d.Name, Address: addresses(d)[0], Votes: true}
	if r.seed, err = store.NewSeed(store.Config{Cluster: p.Name, Name: r.name, Dir: r.data(), Members: []store.Member{self}, Log: r.log}); err != nil {
		return err
	}
	if r.ledger, err = ledger.Open(filepath.Join(r.data(), "ledger")); err != nil {
		return err
	}
	r.state, err = os.Create(filepath.Join(r.dir, "state"))
	return err
}

func (r *restorer) records(p *api.BackupPart) error {
	var list []ledger.Numbered
	for i, b := range p.List {
		record, err := ledger.Decode(b.Data)
		if err != nil {
			return err
		}
		list = append(list, ledger.Numbered{Number: p.First + uint64(i), Record: record})
	}
	if err := r.ledger.Append(p.First+uint64(len(list))-1, list); err != nil {
		return err
	}
	r.out.Records = r.ledger.Last()
	return nil
}

// certificate takes a file of the authority. Its name is used as a name only.
func (r *restorer) certificate(p *api.BackupPart) error {
	certs := filepath.Join(r.dir, "certs")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return err
	}
	r.out.Certs = true
	return os.WriteFile(filepath.Join(certs, filepath.Base(p.Name)), p.Data, 0o600)
}

// finish makes the state the first of a new cluster, and the controller's own key.
func (r *restorer) finish() error {
	if r.seed == nil {
		return errors.New("the backup is empty")
	}
	m := state.New()
	if _, err := r.state.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := m.Restore(r.state); err != nil {
		return err
	}
	for j := range m.Root().Jobs() {
		r.out.Jobs++
		if j.State.Active() {
			r.out.Ended++
		}
	}
	if err := endAll(m, r.name); err != nil {
		return err
	}
	if err := r.seed.State(m.Root()); err != nil {
		return err
	}
	if !r.out.Certs {
		return nil
	}
	certs := filepath.Join(r.dir, "certs")
	ca, err := identity.LoadAuthority(certs)
	if err != nil {
		return err
	}
	return ca.Issue(certs, identity.Controller, r.name, time.Now())
}

// endAll ends what ran, as on nodes that are lost: what became of it since is not known.
func endAll(m *state.Machine, host string) error {
	c := &state.NodeSilent{Down: true, Reason: "the cluster was restored from a backup"}
	for n := range m.Root().Nodes() {
		c.Nodes = append(c.Nodes, job.NodeID(n.ID))
	}
	e := &state.Entry{Now: m.Root().Now(), Commands: []state.Envelope{state.Seal(c, state.Actor{Host: host}, state.RequestID{})}}
	_, err := m.Apply(m.Root().Index()+1, e)
	return err
}

func (r *restorer) close() error {
	var errs []error
	if r.ledger != nil {
		errs = append(errs, r.ledger.Close())
	}
	if r.seed != nil {
		errs = append(errs, r.seed.Close())
	}
	if r.state != nil {
		errs = append(errs, r.state.Close(), os.Remove(r.state.Name()))
	}
	return errors.Join(errs...)
}
