package admit

import (
	"strings"
	"testing"

	"muster/api"
)

// TestPartitionCreateDelete: root makes and deletes partitions, others do not; what
// is wrong is named as Slurm names it.
func TestPartitionCreateDelete(t *testing.T) {
	c := newCore(t)
	call := func(uid uint32, action string, fields ...string) error {
		req := &api.UpdateRequest{Action: action}
		for _, f := range fields {
			name, value, _ := strings.Cut(f, "=")
			req.Pairs = append(req.Pairs, api.Pair{Name: name, Value: value})
		}
		return c.call(t, uid, api.MethodUpdatePart, req, &api.ChangeReply{})
	}
	for _, x := range []struct {
		uid    uint32
		action string
		fields []string
		err    string // "" if it works
	}{
		{1000, "create", []string{"PartitionName=p", "Nodes=n1"}, "Invalid user id"},
		{0, "create", []string{"PartitionName=a b", "Nodes=n1"}, "Error creating the partition: Invalid partition name specified"},
		{0, "create", []string{"PartitionName=p", "Nodes=nosuch"}, "Invalid node name specified"},
		{0, "create", []string{"PartitionName=p", "Nodes=n1", "MaxTime=10", "PriorityTier=7"}, ""},
		{0, "create", []string{"PartitionName=p", "Nodes=n1"}, "Error creating the partition: partition p exists"},
		{0, "update", []string{"PartitionName=p"}, "No changes specified"},
		{0, "update", []string{"PartitionName=p", "State=DOWN"}, ""},
		{1000, "delete", []string{"PartitionName=p"}, "Invalid user id"},
		{0, "delete", []string{"PartitionName=p"}, ""},
		{0, "delete", []string{"PartitionName=p"}, "delete_partition partition=p: Invalid partition name specified"},
	} {
		err := call(x.uid, x.action, x.fields...)
		if (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%s %v by %d: %v, want %q", x.action, x.fields, x.uid, err, x.err)
		}
		if p := c.Root().Partition("p"); x.action == "create" && x.err == "" && (p == nil || p.MaxTime != 10 || p.PriorityTier != 7 || len(p.Nodes) != 1) {
			t.Errorf("made: %+v", p)
		}
	}
}
