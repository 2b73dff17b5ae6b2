package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"run","Package":"muster/a","Test":"TestParts"}
{"Action":"run","Package":"muster/a","Test":"TestParts/one"}
{"Action":"run","Package":"muster/a","Test":"TestParts/two"}
{"Action":"pass","Package":"muster/a","Test":"TestParts/one"}
{"Action":"output","Package":"muster/a","Test":"TestParts/two","Output":"    a_test.go:7: needs root\n"}
{"Action":"skip","Package":"muster/a","Test":"TestParts/two"}
{"Action":"pass","Package":"muster/a","Test":"TestParts"}
{"Action":"output","Package":"muster/a","Test":"TestBad","Output":"    a_test.go:9: got 1\n"}
{"Action":"fail","Package":"muster/a","Test":"TestBad","Elapsed":0.5}
{"Action":"fail","Package":"muster/a","Elapsed":1}
{"Action":"build-output","ImportPath":"muster/b","Output":"b.go:1: no\n"}
{"Action":"build-fail","ImportPath":"muster/b"}
{"Action":"fail","Package":"muster/b"}
not an event
`

func TestCounts(t *testing.T) {
	var b strings.Builder
	s := &summary{w: &b, output: map[string][]string{}}
	if err := s.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	s.print()
	for _, want := range []string{
		"FAIL a TestBad (0.5 s)\n    a_test.go:9: got 1\n",
		"b.go:1: no\n",
		"not an event\n",
		"skipped a TestParts/two: needs root\n",
		"failed  a TestBad\n",
		"failed  b (the package itself)\n",
		"\n1 passed, 2 failed, 1 skipped\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

func TestRunsGoTest(t *testing.T) {
	var b strings.Builder
	if code, err := run([]string{"muster/internal/hostlist"}, &b); err != nil || code != 0 || !strings.Contains(b.String(), " 0 failed, 0 skipped\n") {
		t.Errorf("code %d, %v:\n%s", code, err, b.String())
	}
	b.Reset()
	if code, err := run([]string{"muster/no/such/package"}, &b); err != nil || code == 0 {
		t.Errorf("a package that is not there: code %d, %v:\n%s", code, err, b.String())
	}
	if code, err := run([]string{"-run", "^$", "muster/internal/hostlist"}, &b); err == nil {
		t.Errorf("no test ran, and the code is %d without an error", code)
	}
}
