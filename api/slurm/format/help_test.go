package format

import (
	"strings"
	"testing"
)

// The letters of squeue, in the order in which Slurm 26.05 lists them: by the
// names of their fields.
func TestHelpLetters(t *testing.T) {
	const want = "%a %F %K %B %o %k %O %I %X %E %e %x %f %G %g %i %A %W %c %m %d %j %y %N %C %D %h %P %p %Q %q %r %R %n %v %Y %z %s %H %S %T %t %V %J %L %l %M %U %u %w %Z"
	if got := strings.Join(strings.Fields(string(HelpLetters(JobFields()))), " "); got != want {
		t.Errorf("squeue --helpformat lists\n%s, want\n%s", got, want)
	}
}

// sacct's list is what clients pass back to --format, all names of it.
func TestAcctHelpNamesWork(t *testing.T) {
	names := strings.Fields(string(AcctHelp()))
	columns, err := AcctColumns(strings.Join(names, ","))
	if err != nil || len(columns) != len(names) || len(names) < 100 {
		t.Errorf("%d names give %d columns: %v", len(names), len(columns), err)
	}
	if text := strings.Join(names, " "); !strings.Contains(text, " ReqTRES Reservation ReservationId ReqReservation Restarts ") {
		t.Errorf("the order of the reservation's fields: %s", text)
	}
}
