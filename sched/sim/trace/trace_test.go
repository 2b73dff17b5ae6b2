package trace

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
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
