// Command summary runs go test with the arguments given and says how many tests
// ran, which ones failed and which were skipped, and why. Its exit code is that
// of go test.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs go test and returns its exit code.
func run(args []string, w io.Writer) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	s := &summary{w: w, output: map[string][]string{}}
	if err := s.read(out); err != nil {
		return 1, err
	}
	err = cmd.Wait()
	s.print()
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		return code, nil
	}
	if err == nil && s.passed == 0 {
		err = fmt.Errorf("no test ran")
	}
	return 0, err
}

// event is one line of go test -json (go doc test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// summary counts tests; a test with parts counts as each of its parts.
type summary struct {
	w       io.Writer
	output  map[string][]string // of tests and builds not yet ended
	parents map[string]bool     // tests with parts
	passed  int
	failed  []string
	skipped []string
}

// read takes events until the stream ends.
func (s *summary) read(r io.Reader) error {
	s.parents = map[string]bool{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				s.take(e)
			} else {
				fmt.Fprintf(s.w, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) take(e event) {
	key := e.Package + e.ImportPath + " " + e.Test
	switch e.Action {
	case "run":
		for at := strings.LastIndexByte(e.Test, '/'); at >= 0; at = strings.LastIndexByte(e.Test[:at], '/') {
			s.parents[e.Package+" "+e.Test[:at]] = true
		}
	case "output", "build-output":
		s.output[key] = append(s.output[key], e.Output)
	case "pass", "fail", "skip", "build-fail":
		s.end(e, key)
		delete(s.output, key)
	}
}

// end counts one test or prints what became of one package.
func (s *summary) end(e event, key string) {
	name := strings.TrimPrefix(e.Package, "muster/") + " " + e.Test
	switch {
	case e.Action == "build-fail":
		fmt.Fprint(s.w, strings.Join(s.output[key], ""))
	case e.Test == "":
		s.endPackage(e, key)
	case e.Action == "fail":
		fmt.Fprintf(s.w, "FAIL %s (%.1f s)\n%s", name, e.Elapsed, strings.Join(s.output[key], ""))
		s.failed = append(s.failed, name)
	case s.parents[e.Package+" "+e.Test]:
	case e.Action == "skip":
		s.skipped = append(s.skipped, name+": "+reason(s.output[key]))
	default:
		s.passed++
	}
}

func (s *summary) endPackage(e event, key string) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(s.w, "ok   %s (%.1f s)\n", e.Package, e.Elapsed)
	case "fail":
		fmt.Fprintf(s.w, "FAIL %s (%.1f s)\n%s", e.Package, e.Elapsed, strings.Join(s.output[key], ""))
		// A package that does not build or that dies has no test to blame.
		if !slices.ContainsFunc(s.failed, func(f string) bool {
			return strings.HasPrefix(f, strings.TrimPrefix(e.Package, "muster/")+" ")
		}) {
			s.failed = append(s.failed, strings.TrimPrefix(e.Package, "muster/")+" (the package itself)")
		}
	}
}

// reason is what a test said when it was skipped: "    file_test.go:12: no root".
func reason(output []string) string {
	for _, line := range output {
		if _, text, ok := strings.Cut(line, "_test.go:"); ok {
			if _, why, ok := strings.Cut(text, ": "); ok {
				return strings.TrimSpace(why)
			}
		}
	}
	return "it gave no reason"
}

// print ends with the line that says it all.
func (s *summary) print() {
	slices.Sort(s.skipped)
	slices.Sort(s.failed)
	for _, t := range s.skipped {
		fmt.Fprintln(s.w, "skipped", t)
	}
	for _, t := range s.failed {
		fmt.Fprintln(s.w, "failed ", t)
	}
	fmt.Fprintf(s.w, "%d passed, %d failed, %d skipped\n", s.passed, len(s.failed), len(s.skipped))
}
