package ctld

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster/api"
	"muster/api/identity"
	"muster/job"
)

// ranJobs runs jobs to their ends and waits until their records have left the
// outbox.
func (cs *controllers) ranJobs(n *node, first byte, count int) {
	cs.t.Helper()
	leader, _ := cs.leader()
	for i := range count {
		id, _ := cs.submit(first+byte(i), leader.cfg.Name)
		cs.wait("the job is launched", func() bool { return n.find(launched(id)) })
		n.finish(cs, id, 0)
	}
	cs.wait("all outboxes are empty", func() bool {
		for _, c := range cs.up {
			if first, next := c.Root().OutboxRange(); first != next {
				return false
			}
		}
		return true
	})
}

// loseLedger stops a controller, moves its ledger away and starts it again.
func (cs *controllers) loseLedger(name string) (kept string) {
	cs.t.Helper()
	cs.stop(name)
	kept = filepath.Join(cs.dir, "kept-"+name)
	if err := os.Rename(filepath.Join(cs.dir, name, "ledger"), kept); err != nil {
		cs.t.Fatal(err)
	}
	cs.start(name)
	return kept
}

func TestALostLedgerIsFetchedFromTheOthers(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	name, other := followers[0].cfg.Name, followers[1].cfg.Name
	n1 := cs.join("n1", leader.cfg.Name)
	cs.ranJobs(n1, 1, 5)
	cs.loseLedger(name)
	cs.wait("the ledger is filled again", func() bool { return cs.up[name].ledger.last() == 5 })
	cs.ranJobs(n1, 10, 1)
	want := cs.up[other].ledger.file.Sums()
	if got := cs.up[name].ledger.file.Sums(); !reflect.DeepEqual(got, want) || cs.up[name].ledger.last() != 6 {
		t.Errorf("the ledger that was lost: %+v, another one: %+v", got, want)
	}
	found := 0
	err := cs.up[name].ledger.Jobs(t.Context(), 0, 0, nil, nil, func(*job.Job) bool { found++; return true })
	if err != nil || found != 6 {
		t.Errorf("%d records (%v), want 6", found, err)
	}
}

// Nobody can give the records here, so the answer is an error that makes agents
// ask another controller, and not a list without them.
func TestALedgerThatLacksRecordsSaysSo(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	cs.leader()
	n1 := cs.join("n1", "c1")
	cs.ranJobs(n1, 1, 2)
	acct := func() ([][]byte, *api.End) {
		cs.leader()
		return call(t, cs.client(identity.Login, "login", "c1"), alice, api.Call{Method: api.MethodAccounting}, &api.AcctQuery{})
	}
	kept := cs.loseLedger("c1")
	chunks, end := acct()
	if end.Err == nil || end.Err.Kind != api.ErrUnavailable || !strings.Contains(end.Err.Text, "catching up: 2 finished jobs") || len(chunks) > 0 {
		t.Errorf("accounting without records: %d chunks, %+v", len(chunks), end.Err)
	}
	if code, body := get(t, cs.up["c1"].web(), "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "catching up: 2 finished jobs") {
		t.Errorf("/readyz without records: %d %q, want that the ledger is catching up", code, body)
	}
	cs.stop("c1")
	dir := filepath.Join(cs.dir, "c1", "ledger")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(kept, dir); err != nil {
		t.Fatal(err)
	}
	cs.start("c1")
	if chunks, end := acct(); end.Err != nil || len(chunks) == 0 {
		t.Errorf("accounting with the records back: %d chunks, %+v", len(chunks), end.Err)
	}
}
