package admit

import (
	"fmt"
	"strings"
	"testing"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// A QOS with RequiresReservation takes no job without a reservation: not at submit, not
// when a job comes to the QOS, and not when it leaves its reservation.
func TestRequiresReservation(t *testing.T) {
	c := accountCore(t)
	for _, line := range []string{"add qos rr flags=requiresreservation", "modify user alice set qos+=rr"} {
		if _, err := c.manage(t, 0, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if _, err := c.reserve(t, "create", "r1", "Users=alice", "Nodes=n1", tomorrow, "Duration=60"); err != nil {
		t.Fatal(err)
	}
	submit := func(qos, reservation string) (job.ID, error) {
		return c.submit(t, 1000, func(j *api.SubmitJob) { j.Request.QOS, j.Request.Reservation = qos, reservation })
	}
	refused := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, slurm.TextQOS) {
			t.Errorf("%s: got %q, want %q", what, text, slurm.TextQOS)
		}
	}
	_, err := submit("rr", "")
	refused("without a reservation", fmt.Sprint(err))
	in, err := submit("rr", "r1")
	if err != nil {
		t.Fatalf("with a reservation: %v", err)
	}
	other, err := submit("normal", "")
	if err != nil {
		t.Fatal(err)
	}
	refused("out of its reservation", c.change(t, 1000, in, "ReservationName", ""))
	refused("into the QOS", c.change(t, 1000, other, "QOS", "rr"))
	if r := c.Root().Job(in).Request.Reservation; r != "r1" {
		t.Errorf("a refused change moved the job to reservation %q", r)
	}
}
