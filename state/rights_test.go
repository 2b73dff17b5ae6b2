package state

import (
	"testing"

	"muster/accounting"
)

// TestAdminLevel: root, whom the cluster file names, whom sacctmgr made, and others.
func TestAdminLevel(t *testing.T) {
	w := newWorld(t)
	w.must(w.change(accounting.Change{User: &accounting.User{Name: "op", Admin: accounting.Operator}}))
	cluster := *w.m.Root().Cluster()
	cluster.Policy.Administrators = []string{"carol"}
	r := *w.m.Root()
	r.cluster = &cluster
	for _, c := range []struct {
		uid  uint32
		name string
		want accounting.AdminLevel
	}{
		{0, "", accounting.Administrator}, {1001, "carol", accounting.Administrator}, {1002, "op", accounting.Operator},
		{1003, "alice", accounting.AdminNone}, {1004, "", accounting.AdminNone},
	} {
		if got := r.AdminLevel(c.uid, c.name); got != c.want {
			t.Errorf("uid %d, user %q: level %d, want %d", c.uid, c.name, got, c.want)
		}
	}
}
