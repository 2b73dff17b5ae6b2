package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/test/faultfs"
)

// moment is when the power fails: at a change of a file whose path has a part.
type moment struct{ name, part string }

func moments() []moment {
	return []moment{
		{"append", "tail-"},
		{"handing on", "raft.db"},
		{"snapshot", "snapshots/"},
		{"ledger write", "ledger"},
		{"blob", "blobs/"},
		{"any change", ""},
	}
}

// patience is how long to wait for a moment that may not come.
const patience = 3 * time.Second

// victims are those who lose their power together: in half of the rounds all
// controllers, for then nobody can give back to another what it has lost.
func (r *rig) victims() []string {
	some := [][]string{{"c1"}, {"c2"}, {"c3"}, {"c1", "c2"}, {"c2", "c3"}, {"c3", "c1"}, {"n1"}, {"n2"}}
	all := [][]string{{"c1", "c2", "c3"}, {"c2", "c3", "c1"}, {"c3", "c2", "c1", "n1", "n2"}}
	if r.chance.IntN(2) == 0 {
		some = all
	}
	return some[r.chance.IntN(len(some))]
}

// round takes the power from one controller, two, all, all and the nodes, or a node,
// under load and at some moment.
func (r *rig) round() (what string, err error) {
	victims := r.victims()
	m := moments()[r.chance.IntN(len(moments()))]
	if victims[0][0] == 'n' {
		m = moment{"any change", ""}
	}
	left := 1 + r.chance.IntN(20)
	sprung := r.disks[victims[0]].Trap(func(e faultfs.Event) bool {
		if strings.Contains(e.Path, m.part) {
			left--
		}
		return left == 0
	})
	end := r.load()
	hit := "between changes"
	select {
	case <-sprung:
		hit = "at " + m.name
	case <-time.After(patience):
	}
	what = fmt.Sprintf("%v %s", victims, hit)
	err = r.cut(victims)
	end(err != nil)
	if err == nil {
		err = r.present()
	}
	return what, err
}

// campaign runs rounds until something is lost, and says in which round.
func (r *rig) campaign(rounds int) (int, error) {
	for i := range rounds {
		what, err := r.round()
		r.t.Logf("round %d: power loss of %s, %d jobs acknowledged", i+1, what, len(r.acked))
		if err != nil {
			return i + 1, fmt.Errorf("round %d, %s: %w", i+1, what, err)
		}
	}
	if err := r.drained(); err != nil {
		return rounds, err
	}
	return rounds, errors.Join(r.present(), r.ran())
}

// Nothing that was acknowledged is lost by a loss of power, of whatever part and
// at whatever moment. CHAOS_ROUNDS and CHAOS_SEED say how many rounds and which.
func TestPowerLoss(t *testing.T) {
	r := newRig(t, uint64(number(t, "CHAOS_SEED", 1)))
	if _, err := r.campaign(number(t, "CHAOS_ROUNDS", 4)); err != nil {
		t.Error(err)
	}
}

// faulty builds programs with the tag faults, or takes those in CHAOS_FAULTY_BIN.
func faulty(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("CHAOS_FAULTY_BIN"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	cmd := exec.Command("make", "-s", "-C", "../..", "build", "GO=go", "BIN="+dir)
	cmd.Env = append(os.Environ(), "GOFLAGS=-tags=faults")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	return dir
}

// A planted fault must be found, or the harness proves nothing.
func TestPowerLossFindsPlantedFaults(t *testing.T) {
	if os.Getenv("MUSTER_FULL") == "" {
		t.Skip("minutes long: set MUSTER_FULL=1")
	}
	bin := faulty(t)
	for _, fault := range []string{"bolt-no-sync", "no-dir-sync", "tail-no-sync"} {
		t.Run(fault, func(t *testing.T) {
			t.Setenv("MUSTER_BIN", bin)
			t.Setenv("FAULTS", fault)
			r := newRig(t, uint64(number(t, "CHAOS_SEED", 1)))
			i, err := r.campaign(20)
			if err == nil {
				t.Fatalf("%s: nothing was lost in 20 rounds", fault)
			}
			t.Logf("found in round %d: %v", i, err)
		})
	}
}

// A program that is not built for it has nothing that can be made to fail.
func TestNormalBuildsHoldNoFaults(t *testing.T) {
	bin := os.Getenv("MUSTER_BIN")
	if bin == "" {
		t.Skip("needs MUSTER_BIN")
	}
	for _, name := range []string{"musterd", "muster-shepherd"} {
		text, err := os.ReadFile(filepath.Join(bin, name))
		must(t, err)
		for _, word := range []string{"bolt-no-sync", "no-dir-sync", "tail-no-sync", "stale-read", "early-reply", "no-requests"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s holds %q: it was built with the tag faults", name, word)
			}
		}
	}
}
