package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"muster/job"
)

func TestSWF(t *testing.T) {
	text := "; Version: 2.2\r\n;   MaxNodes: 100\n; MaxProcs: 128\n\n" +
		"    1        0 964980  97225   56     -1    -1   64 210000    -1  1   7   1  -1 -1 -1 -1 -1\r\n" +
		"2 5 -1 10.75 4 1.5 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1\n" +
		"3 6 -1 -1 -1\n"
	w, err := SWF([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Job{
		{ID: 1, Submit: 0, Run: 97225, Limit: 210000, Procs: 64, Held: 56, User: "u7"},
		{ID: 2, Submit: 5, Run: 10, Limit: -1, Procs: 4, Held: 4, User: "u7"},
		{ID: 3, Submit: 6, Run: -1, Limit: -1, User: "u-1"},
	}
	if w.Procs != 128 || !reflect.DeepEqual(w.Jobs, want) {
		t.Errorf("%d processors, jobs %+v, want 128 and %+v", w.Procs, w.Jobs, want)
	}
	if got := w.Jobs[1].Estimate(); got != 10 {
		t.Errorf("a job without a limit is expected to run %d s, want its run time, 10", got)
	}
	if w, err = SWF([]byte("; MaxNodes: 9\n")); err != nil || w.Procs != 9 {
		t.Errorf("processors of a header with nodes only: %d, %v", w.Procs, err)
	}
}

func TestSWFRefusesBadLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"; x\n1 2 three 4 5\n", `line 2: column 3 is "three", want a number`},
		{"1 2 3\n", "line 1: it has 3 columns, want 18"},
		{"1 2 3 4 5.x\n", `column 5 is "5.x"`},
		{"1 2 3 4 -\n", `column 5 is "-"`},
		{"1 2 3 4 1234567890123456789\n", "column 5"},
	} {
		if _, err := SWF([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestLoadUnpacks(t *testing.T) {
	text := []byte("1 2 3 4 5\n")
	var zipped bytes.Buffer
	g := gzip.NewWriter(&zipped)
	g.Write(text)
	g.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"plain": text, "gzip": zipped.Bytes(), "zstd": z.EncodeAll(text, nil), "short": []byte("1")} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := text
		if name == "short" {
			want = data
		}
		if got, err := Load(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, zipped.Bytes()[:len(zipped.Bytes())-6], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, filepath.Join(dir, "none")} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: error %v, want one that names the file", path, err)
		}
	}
}

func TestOpenb(t *testing.T) {
	nodes, err := OpenbNodes([]byte("sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,P100\nn2,96000,1,0,\n"))
	if err != nil || !reflect.DeepEqual(nodes, []GPUNode{{"n1", 64000, 262144, 2, "P100"}, {"n2", 96000, 1, 0, ""}}) {
		t.Errorf("nodes %+v, %v", nodes, err)
	}
	pods, err := OpenbPods([]byte("gpu_milli,name,cpu_milli,memory_mib,num_gpu,gpu_spec\n460,p2,6000,12288,1,A10|T4\n1000,p1,1,2,8,\n"))
	if err != nil || !reflect.DeepEqual(pods, []GPUPod{{"p1", 1, 2, 8, 1000, ""}, {"p2", 6000, 12288, 1, 460, "A10|T4"}}) {
		t.Errorf("pods %+v, %v", pods, err)
	}
	if pods, err = OpenbPods([]byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,3,4\n")); err != nil || pods[0].Models != "" {
		t.Errorf("a list without gpu_spec: %+v, %v", pods, err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "header"},
		{"name,cpu_milli,memory_mib,num_gpu\n", "no column gpu_milli"},
		{"name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,3,4\np,-1,2,3,4\n", `line 3: cpu_milli is "-1"`},
		{"name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2\n", "wrong number of fields"},
	} {
		if _, err := OpenbPods([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// A reader never panics, whatever it is given.
func FuzzReaders(f *testing.F) {
	f.Add([]byte("1 2 3 4 5\n"))
	f.Add([]byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,3,4\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, err := SWF(data); err == nil {
			for _, j := range w.Jobs {
				if j.Procs < 0 || j.Held < 0 {
					t.Fatalf("a job of %d processors", j.Procs)
				}
			}
		}
		_, _ = OpenbPods(data)
		_, _ = unpack(bytes.NewReader(data))
	})
}

const sacctText = `JobID|User|Account|QOS|Partition|Submit|Start|End|Timelimit|NCPUS|NNodes|ReqTRES|State
10|ann|chem|normal|gpu|2026-01-02T03:04:05|2026-01-02T03:05:00|2026-01-02T03:07:00|1-02:00:00|8|2|billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=16G,node=2|COMPLETED
10.batch||chem|||2026-01-02T03:05:00|2026-01-02T03:05:00|2026-01-02T03:07:00||4|1||COMPLETED
11_3|bob|chem|normal|cpu,gpu|2026-01-02T04:00:00|2026-01-02T04:00:10|2026-01-02T04:00:40|UNLIMITED|1|1|cpu=1,mem=4000M,node=1|FAILED
12|bob|chem|normal|cpu|2026-01-02T04:00:00|Unknown|Unknown|00:10:00|1|1|cpu=1|CANCELLED by 7
`

func TestSacct(t *testing.T) {
	w, err := Sacct([]byte(sacctText))
	if err != nil || len(w.Jobs) != 2 {
		t.Fatalf("%+v, %v", w, err)
	}
	a, b := &w.Jobs[0], &w.Jobs[1]
	if a.ID != 10 || a.User != "ann" || a.Account != "chem" || a.QOS != "normal" || a.Run != 120 || a.Limit != 93600 || a.Procs != 8 {
		t.Errorf("%+v", a)
	}
	q := a.Request
	if !reflect.DeepEqual(q.Partitions, []string{"gpu"}) || q.Size.MinNodes != 2 || q.Size.Tasks != 8 || q.Memory.MB != 8192 ||
		q.Gres.PerJob.String() != "gpu:a100:4" {
		t.Errorf("%+v %s", q, q.Gres.PerJob)
	}
	if b.ID != 11 || b.Limit != -1 || b.Run != 30 || b.Submit-a.Submit != 3355 || len(b.Request.Partitions) != 2 || b.Request.Memory.MB != 4000 {
		t.Errorf("%+v %+v", b, b.Request)
	}
	raw := "JobID|Submit|ElapsedRaw|TimelimitRaw|ReqMem\n7|1000|60|5|\n"
	if w, err = Sacct([]byte(raw)); err != nil || w.Jobs[0].Submit != 1000 || w.Jobs[0].Run != 60 || w.Jobs[0].Limit != 300 || w.Jobs[0].Procs != 1 {
		t.Errorf("raw fields: %+v, %v", w, err)
	}
}

// Where memory is not given away, ReqTRES names all of a node's and AllocTRES none.
func TestSacctMemoryThatIsNotTracked(t *testing.T) {
	w, err := Sacct([]byte(`JobID|Submit|ElapsedRaw|NCPUS|ReqTRES|AllocTRES
5|1000|60|1|billing=1,cpu=1,mem=62.50G,node=1|billing=1,cpu=1,node=1
6|1000|60|1|cpu=1,mem=2G,node=1|cpu=1,mem=2G,node=1
`))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := w.Jobs[0].Request.Memory.MB, w.Jobs[1].Request.Memory.MB; a != 1 || b != 2048 {
		t.Errorf("memory of %d and %d MB, want 1 and 2048", a, b)
	}
}

// Tasks of an array that were submitted together and ask for the same are one job.
func TestSacctJoinsArrays(t *testing.T) {
	w, err := Sacct([]byte(`JobID|Submit|ElapsedRaw|NCPUS
20_1|1000|60|2
20_7|1000|90|2
20_3|1000|30|4
20_[8-9]|1000|0|2
20_1|2000|10|2
`))
	if err != nil || len(w.Jobs) != 3 {
		t.Fatalf("%+v, %v", w, err)
	}
	a := &w.Jobs[0]
	if !reflect.DeepEqual(a.Array.Tasks.Slice(), []int{1, 7}) || !reflect.DeepEqual(a.Array.Runs, map[uint32]int64{1: 60, 7: 90}) || a.Run != 90 ||
		a.Array.Bounds != (job.ArrayBounds{Count: 2, Min: 1, Max: 7, Step: 1}) {
		t.Errorf("%+v", a.Array)
	}
	if w.Jobs[1].Procs != 4 || w.Jobs[2].Submit != 2000 || w.Jobs[2].Array.Tasks.Len() != 1 {
		t.Errorf("apart: %+v", w.Jobs[1:])
	}
}

func TestSacctRefusesBadLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "want the header"},
		{"JobID|User\n", "no field Submit"},
		{"JobID|Submit|ElapsedRaw\n5|yesterday|1\n", `line 2: job 5: time "yesterday"`},
		{"JobID|Submit|ElapsedRaw|NCPUS\n5|1|1|x\n", `NCPUS`},
		{"JobID|Submit|ElapsedRaw|Timelimit\n5|1|1|soon\n", `Timelimit is "soon"`},
		{"JobID|Submit|ElapsedRaw|ReqTRES\n5|1|1|mem=much\n", `mem is "much"`},
		{"JobID|Submit|ElapsedRaw|ReqTRES\n5|1|1|gres/gpu=x\n", `gres/gpu is "x"`},
	} {
		if _, err := Sacct([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestScenario(t *testing.T) {
	var seen [][]string
	options := func(words []string, _ Named) (*Ask, error) {
		seen = append(seen, words)
		r := &job.Request{Account: "chem"}
		if len(words) > 0 {
			r.Timing.Limit = 10
		}
		return &Ask{Request: r}, nil
	}
	w, err := Scenario([]byte("# by hand\n\nat=1m run=2h user=ann count=3 every=30s -- -n 4 -C 'a & b' # so\nrun=5\n"), options)
	if err != nil || len(w.Jobs) != 4 {
		t.Fatalf("%+v, %v", w, err)
	}
	if !reflect.DeepEqual(seen, [][]string{{"-n", "4", "-C", "a & b"}, nil}) {
		t.Errorf("options %q", seen)
	}
	third, last := &w.Jobs[2], &w.Jobs[3]
	if third.Submit != 120 || third.Run != 7200 || third.Limit != 600 || third.User != "ann" || third.ID != 3 || third.Account != "chem" {
		t.Errorf("%+v", third)
	}
	if last.Submit != 0 || last.Run != 5 || last.Limit != -1 || last.User != "user" {
		t.Errorf("%+v", last)
	}
}

func TestScenarioRefusesBadLines(t *testing.T) {
	options := func(words []string, named Named) (*Ask, error) {
		if len(words) == 0 {
			return &Ask{Request: &job.Request{}}, nil
		}
		if _, err := named(words[0]); err != nil && words[0] != "--nice" {
			return nil, err
		}
		return nil, errors.New("no such option")
	}
	for _, c := range []struct{ text, want string }{
		{"\nat=1\n", "line 2: run= is missing"},
		{"run=1 soon=2\n", "soon=2: want at, run"},
		{"run=1w\n", "run=1w: want seconds"},
		{"run=-1\n", "want seconds"},
		{"run=1 -n 4\n", `"-n", want name=value`},
		{"run=1 count=0\n", "count=0"},
		{"run=1 count=99999999999\n", "count="},
		{"run=1 user='a\n", "a quote is not closed"},
		{"run=1 -- --nice\n", "no such option"},
		{"run=1 id=a\nrun=1 id=a\n", "line 2: id=a: another line has that name"},
		{"run=1 id=7\n", "id=7: want a name"},
		{"run=1 id=a_b\n", "id=a_b: want a name"},
		{"run=1 -- a\n", "no line before has id=a"},
		{"at=9 run=1 id=a\nat=5 run=1 -- a\n", "line 2: a job of id=a is submitted only 4 s later"},
	} {
		if _, err := Scenario([]byte(c.text), options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"\n; Version: 2\n": "swf", "1 0 5 10 4\n": "swf", sacctText: "sacct", "run=5\n": "scenario", "# hello\n1 2 3 4 5\n": "scenario", "": "scenario",
	} {
		if got := Kind([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
