package admit

import (
	"slices"
	"strings"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/job"
)

// reserve makes a call about a reservation as root; fields are written name=value.
func (c *fakeCore) reserve(t *testing.T, action, name string, fields ...string) (string, error) {
	t.Helper()
	req := &api.UpdateRequest{Action: action, Pairs: []api.Pair{{Name: "ReservationName", Value: name}}}
	for _, f := range fields {
		field, value, _ := strings.Cut(f, "=")
		req.Pairs = append(req.Pairs, api.Pair{Name: field, Value: value})
	}
	var reply api.ChangeReply
	err := c.call(t, 0, api.MethodUpdateResv, req, &reply)
	return reply.Output, err
}

const tomorrow = "StartTime=1796086400"

// TestReservationRefusals: what is missing or wrong is named, and nothing is reserved.
func TestReservationRefusals(t *testing.T) {
	tests := []struct {
		name, action, reservation, err string
		fields                         []string
	}{
		{name: "no start", action: "create", fields: []string{"Users=alice", "Nodes=n1", "Duration=5"}, err: "A start time must be given."},
		{name: "no end", action: "create", fields: []string{"Users=alice", "Nodes=n1", tomorrow}, err: "An end time or duration must be given."},
		{name: "nobody", action: "create", fields: []string{"Nodes=n1", tomorrow, "Duration=5"}, err: "Accounts must be specified."},
		{name: "nothing", action: "create", fields: []string{"Users=alice", tomorrow, "Duration=5"}, err: "must be specified."},
		{name: "account", action: "create", fields: []string{"Accounts=nosuch", "Nodes=n1", tomorrow, "Duration=5"}, err: "Error creating the reservation: Invalid account"},
		{name: "long past", action: "create", fields: []string{"Users=alice", "Nodes=n1", "StartTime=86400", "Duration=5"}, err: "Error creating the reservation: Invalid time specified"},
		{name: "unknown flag", action: "create", fields: []string{"Users=alice", "Nodes=n1", tomorrow, "Duration=5", "Flags=time_float"}, err: "Error parsing flags time_float.  No reservation created."},
		{name: "two periods", action: "create", fields: []string{"Users=alice", "Nodes=n1", tomorrow, "Duration=5", "Flags=DAILY,WEEKLY"}, err: "Requested reservation is invalid"},
		{name: "longer than its period", action: "create", fields: []string{"Users=alice", "Nodes=n1", tomorrow, "Duration=90", "Flags=HOURLY"}, err: "overlaps with another reservation"},
		{name: "overlap of a later day", action: "create", fields: []string{"Users=alice", "Nodes=n1", "StartTime=1796259200", "Duration=5"}, err: "overlaps with another reservation"},
		{name: "overlap", action: "create", fields: []string{"Users=alice", "Nodes=n2", tomorrow, "Duration=5"}, err: "Error creating the reservation: Requested reservation overlaps with another reservation"},
		{name: "update of none", action: "update", fields: []string{"Duration=5"}, err: "slurm_update error: Requested reservation is invalid"},
		{name: "deletion of none", action: "delete", err: "delete_reservation reservation=r: Requested reservation is invalid"},
	}
	for _, x := range tests {
		c := newCore(t)
		if _, err := c.reserve(t, "create", "other", "Users=bob", "Nodes=n2", tomorrow, "Duration=60"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.reserve(t, "create", "daily", "Users=bob", "Nodes=n1", "StartTime=1796172800", "Duration=60", "Flags=daily"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.reserve(t, x.action, "r", x.fields...); err == nil || !strings.Contains(err.Error(), x.err) {
			t.Errorf("%s: %v, want %q", x.name, err, x.err)
		}
		if c.Root().Reservation("r") != nil {
			t.Errorf("%s: it was reserved", x.name)
		}
	}
}

// TestReservationNodes: how nodes are named is kept as a flag, and a count takes
// those first that the reservation has.
func TestReservationNodes(t *testing.T) {
	tests := []struct {
		name         string
		create       []string
		update       []string
		nodes, flags string
	}{
		{name: "named", create: []string{"Nodes=n2"}, nodes: "n2", flags: "SPEC_NODES"},
		{name: "all", create: []string{"Nodes=ALL", "Flags=MAINT"}, nodes: "n[1-2]", flags: "MAINT,SPEC_NODES,ALL_NODES"},
		{name: "of a partition", create: []string{"Nodes=ALL", "PartitionName=one", "Flags=PART_NODES"}, nodes: "n1", flags: "SPEC_NODES,PART_NODES"},
		{name: "counted", create: []string{"NodeCnt=1"}, nodes: "n1"},
		{name: "counted again", create: []string{"Nodes=n2"}, update: []string{"NodeCnt=1"}, nodes: "n2", flags: "SPEC_NODES"},
	}
	for _, x := range tests {
		c := newCore(t)
		if out, err := c.reserve(t, "create", "r", append(x.create, "Users=alice", tomorrow, "Duration=INFINITE")...); err != nil || out != "Reservation created: r" {
			t.Errorf("%s: %q, %v", x.name, out, err)
			continue
		}
		if x.update != nil {
			if out, err := c.reserve(t, "update", "r", x.update...); err != nil || out != "Reservation updated." {
				t.Errorf("%s: %q, %v", x.name, out, err)
			}
		}
		r := c.Root().Reservation("r")
		if flags := strings.Join(r.Flags, ","); r.NodeList != x.nodes || flags != x.flags {
			t.Errorf("%s: nodes %s, flags %s; want %s, %s", x.name, r.NodeList, flags, x.nodes, x.flags)
		}
		if got := r.End - r.Start; got != job.Time(365*24*3600_000) {
			t.Errorf("%s: an unlimited duration is %d ms, want a year", x.name, got)
		}
	}
}

// TestReservationOfAccount: an account that is there may have one.
func TestReservationOfAccount(t *testing.T) {
	c := newCore(t)
	if _, err := c.reserve(t, "create", "r", "Accounts="+accounting.RootAccount, "Nodes=n1", tomorrow, "Duration=5"); err != nil {
		t.Fatal(err)
	}
	if r := c.Root().Reservation("r"); !slices.Equal(r.Accounts, []string{accounting.RootAccount}) {
		t.Errorf("accounts %v", r.Accounts)
	}
}
