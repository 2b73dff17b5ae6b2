package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/api"
	"muster/api/slurm/format"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
)

// The files in testdata/keys say which keys Slurm 26.05's documents have and of
// what kind their values are, one path a line. What is written here has the same.
func TestKeysAreSlurms(t *testing.T) {
	jobs, node, part := fullJobs(), fullNode(), fullPartition()
	for name, fill := range map[string]func(*Writer){
		"jobs":       func(w *Writer) { Jobs(w, jobs) },
		"accounting": func(w *Writer) { Accounting(w, jobs) },
		"steps":      func(w *Writer) { Steps(w, jobs, func(*job.Step) bool { return true }) },
		"nodes":      func(w *Writer) { Nodes(w, &api.NodeList{Nodes: []api.NodeRecord{node}}) },
		"partitions": func(w *Writer) { Partitions(w, 1000, &api.PartitionList{Partitions: []api.PartitionRecord{part}}) },
		"reservations": func(w *Writer) {
			Reservations(w, &api.ReservationList{Reservations: []api.ReservationRecord{{Name: "r", Flags: []string{"SPEC_NODES"}}}})
		},
		"pings": func(w *Writer) { Ping(w, &api.PingReply{Controllers: []api.ControllerRecord{{Name: "c1"}}}, 5) },
		"sinfo": func(w *Writer) {
			NodeGroups(w, []*format.NodeGroup{{Part: &part, Nodes: []*api.NodeRecord{&node}}})
		},
		"config": func(w *Writer) { Config(w, fullConfig()) },
		"statistics": func(w *Writer) {
			Stats(w, &api.StatsReply{Calls: []api.StatsCall{{Method: "job.list", Count: 2, Sum: 5}}, Users: []api.StatsUser{{User: "bob"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d map[string]any
			if err := json.Unmarshal([]byte(document(t, false, fill)), &d); err != nil {
				t.Fatal(err)
			}
			compareKeys(t, name, d, false)
			compareKeys(t, "meta", d, true)
		})
	}
}

// compareKeys compares the paths of a document, or those that all documents
// share, with the file of that name.
func compareKeys(t *testing.T, name string, d map[string]any, shared bool) {
	t.Helper()
	got := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(d)) {
		if common := k == "meta" || k == "errors" || k == "warnings"; common == shared {
			collect(got, k, d[k])
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "keys", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		path, kinds, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[path] = kinds
	}
	for path, kinds := range want {
		switch kind, ok := got[path]; {
		case !ok && !strings.HasPrefix(path, "warnings[]"):
			t.Errorf("%s: %s is missing", name, path)
		case ok && !slices.Contains(strings.Split(kinds, "|"), kind):
			t.Errorf("%s: %s is a %s, want a %s", name, path, kind, kinds)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok && !strings.HasSuffix(path, "[]") {
			t.Errorf("%s: %s is not a key of Slurm's", name, path)
		}
	}
}

// collect notes the kinds of all values by path.
func collect(into map[string]string, path string, value any) {
	kind := fmt.Sprintf("%T", value)
	switch v := value.(type) {
	case map[string]any:
		kind = "map"
		for k, x := range v {
			collect(into, path+"."+k, x)
		}
	case []any:
		kind = "list"
		for _, x := range v {
			collect(into, path+"[]", x)
		}
	case nil:
		kind = "null"
	case string:
		kind = "text"
	case float64:
		kind = "number"
	}
	into[path] = kind
}

// fullJobs is a running job of which everything is known, with a step.
func fullJobs() *api.JobList {
	list := testJobs()
	r := &list.Jobs[0]
	share := job.Share{Node: 1, Name: "n1", CPUs: 2, MemoryMB: 200, Cores: bitset.Of(1), Devices: []job.DeviceShare{{Name: "gpu", Count: 1}}}
	r.Alloc = &job.Allocation{CPUs: 2, Nodes: []job.Share{share}}
	r.Used = r.Asked
	r.Deps = "afterok:3(unfulfilled)"
	r.Steps = []job.Step{{ID: 0, Name: "step", State: job.Running, Start: r.Times.Start, Nodes: []job.NodeID{1}, Tasks: 2, CPUs: 2}}
	return list
}

func fullNode() api.NodeRecord {
	return api.NodeRecord{Name: "n1", Base: api.NodeIdle, Features: []string{"fast"}, Partitions: []string{"debug"},
		Shape: api.NodeShape{CPUs: 8, MemoryMB: 4000}, Gres: []gres.Item{{Name: "gpu", Count: 4}}}
}

func fullPartition() api.PartitionRecord {
	return api.PartitionRecord{Name: "debug", State: "UP", MaxTime: job.Unlimited, Default: true}
}

// fullConfig is a configuration in which every list has an element.
func fullConfig() *api.ConfigReply {
	c := &api.ConfigReply{Pairs: []api.ConfigPair{{Key: "SlurmctldHost[0]", Value: "c1(10.0.0.1)"}}}
	for key := range strings.FieldsSeq(configKeys) {
		if name, list := strings.CutSuffix(key, "*"); list && name != "controllers" {
			c.Pairs = append(c.Pairs, api.ConfigPair{Key: name, Value: "a,b"})
		}
	}
	return c
}
