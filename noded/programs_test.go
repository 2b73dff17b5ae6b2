package noded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/api/pb"
	"muster/job"
)

// siteProgram writes a program of the site, which writes to a file of its own
// that programs and job share.
func siteProgram(t *testing.T, s *site, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nLOG="+filepath.Join(s.work, "log")+"\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func programs(p *pb.Programs) option {
	return func(l *pb.Launch, _ *job.Request) { l.Programs = p }
}

// log are the lines that programs and job have written.
func (s *site) log() []string {
	return strings.Fields(s.output("log"))
}

// reportsOf are all reports about a job, in order.
func (s *site) reportsOf(id uint32) (out []*pb.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reports {
		if r.Attempt.Job == id {
			out = append(out, r)
		}
	}
	return out
}

// TestProgramsAroundAJob: the prolog has ended before the script begins, the
// epilog begins when its last process is gone; neither sees the user's variables.
func TestProgramsAroundAJob(t *testing.T) {
	s := newSite(t)
	line := `echo "$SLURM_SCRIPT_CONTEXT:$SLURM_JOB_ID:$SLURM_JOB_USER:$SLURMD_NODENAME:$MYVAR:$SLURM_JOB_EXIT_CODE2" >> $LOG; chmod 666 $LOG`
	p := &pb.Programs{Prolog: siteProgram(t, s, "prolog", "sleep 0.2; "+line), Epilog: siteProgram(t, s, "epilog", line), TimeS: 20}
	s.launch(31, `echo job >> log; (sleep 0.3; echo late >> log) & exit 4`, programs(p))
	s.released(31)
	user := s.reportsOf(31)
	want := []string{
		fmt.Sprintf("prolog_slurmd:31:%s:%s::", "nobody", s.cfg.Name), "job",
		fmt.Sprintf("epilog_slurmd:31:%s:%s::4:0", "nobody", s.cfg.Name),
	}
	got := slices.DeleteFunc(s.log(), func(l string) bool { return l == "late" }) // killed, or it ended first
	if !slices.Equal(got, want) {
		t.Errorf("order\n%q, want\n%q", got, want)
	}
	if len(user) < 2 || !user[0].Ended || user[0].Released || user[0].ExitCode != 4 {
		t.Errorf("the end was not reported before the epilog: %v", user)
	}
	for _, r := range user {
		if r.Drain != "" {
			t.Errorf("drained: %v", r)
		}
	}
}

func TestPrologFails(t *testing.T) {
	s := newSite(t)
	for id, text := range map[uint32]string{41: "echo no disk >&2; exit 3", 42: "sleep 60"} {
		p := &pb.Programs{Prolog: siteProgram(t, s, "prolog", text), TimeS: 1}
		s.launch(id, `touch ran`, programs(p))
		r := s.released(id)
		if !r.Failed || r.Drain != prologError || r.Ended {
			t.Errorf("job %d: reported %v", id, r)
		}
		if id == 41 && !strings.Contains(r.Detail, "exit status 3: no disk") || id == 42 && !strings.Contains(r.Detail, "not ended after 1s") {
			t.Errorf("job %d: detail %q", id, r.Detail)
		}
	}
	if _, err := os.Stat(filepath.Join(s.work, "ran")); err == nil {
		t.Error("the script ran though the prolog had failed")
	}
}

func TestEpilogFails(t *testing.T) {
	s := newSite(t)
	s.launch(51, `exit 0`, programs(&pb.Programs{Epilog: siteProgram(t, s, "epilog", "exit 1"), TimeS: 20}))
	s.released(51)
	all := s.reportsOf(51)
	last := all[len(all)-1]
	if len(all) != 2 || !all[0].Ended || all[0].Drain != "" || last.Drain != epilogError || !last.Released {
		t.Errorf("reported %v", all)
	}
}

// TestEpilogAfterRestart: a daemon that finds the end of a job which it did not
// start runs its epilog.
func TestEpilogAfterRestart(t *testing.T) {
	s := newSite(t)
	p := &pb.Programs{Epilog: siteProgram(t, s, "epilog", `echo "$SLURM_JOB_ID:$SLURM_JOB_PARTITION" >> $LOG`), TimeS: 20}
	s.launch(61, `echo running > up; while [ ! -e go ]; do sleep 0.05; done`, programs(p))
	s.appears("up", "running")
	s.stop()
	if err := os.WriteFile(filepath.Join(s.work, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.full = &pb.Desired{Full: true, Keep: []*pb.Attempt{{Job: 61}}}
	s.mu.Unlock()
	s.start()
	s.released(61)
	if got := s.log(); len(got) != 1 || !strings.HasPrefix(got[0], "61:") {
		t.Errorf("the epilog wrote %q", got)
	}
}
