package tree

import (
	"encoding/json"
	"strings"
	"testing"

	"muster/api"
	"muster/api/slurm/format"
	"muster/gres"
	"muster/job"
)

func testJobs() *api.JobList {
	return &api.JobList{Now: 1_700_000_100_000, Cluster: "test", Jobs: []api.JobRecord{
		{
			ID: 13, State: job.Running, Name: "a/b \"c\"\n\x01", Owner: api.JobOwner{User: "bob", UID: 1002}, Partition: "debug", Account: "bio",
			Nodes: "n1", BatchHost: "n1", Times: job.Times{Submit: 1_700_000_000_000, Start: 1_700_000_010_000, End: 1_700_000_610_000, Limit: 10},
			Count: api.JobCount{Nodes: 1, CPUs: 2, Tasks: 2}, Memory: api.JobMemory{Per: job.MemoryPerCPU, MB: 100},
			Request: &job.Request{Comment: "x", Batch: job.Batch{WorkDir: "/home/bob"}}, End: &job.Result{},
			Asked: api.Resources{CPUs: 2, Nodes: 1, MemoryMB: 200, Billing: 2, Gres: []gres.Item{{Name: "gpu", Count: 1}}},
			Alloc: &job.Allocation{CPUs: 2, Nodes: []job.Share{{Node: 1, Name: "n1", CPUs: 2, MemoryMB: 200}}},
		},
		{ID: 14, Array: api.JobArray{JobID: 14, Waiting: "1-3"}, State: job.Pending, Reason: job.ReasonPriority},
	}}
}

func document(t *testing.T, yaml bool, fill func(*Writer)) string {
	t.Helper()
	var text strings.Builder
	w := NewWriter(&text, yaml)
	fill(w)
	Meta(w, "test", "root", "0", []string{"squeue", "--json"}, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Every document is JSON that a strict reader takes, with the names that clients
// look for.
func TestDocumentsParse(t *testing.T) {
	jobs := testJobs()
	node := api.NodeRecord{Name: "n1", Base: api.NodeIdle, Flags: api.NodeDrain, Shape: api.NodeShape{CPUs: 8, MemoryMB: 4000}, Partitions: []string{"debug"}}
	part := api.PartitionRecord{Name: "debug", State: "UP", MaxTime: job.Unlimited, Default: true}
	for key, fill := range map[string]func(*Writer){
		"jobs":       func(w *Writer) { Jobs(w, jobs) },
		"nodes":      func(w *Writer) { Nodes(w, &api.NodeList{Nodes: []api.NodeRecord{node}}) },
		"partitions": func(w *Writer) { Partitions(w, 1000, &api.PartitionList{Partitions: []api.PartitionRecord{part}}) },
		"reservations": func(w *Writer) {
			Reservations(w, &api.ReservationList{Reservations: []api.ReservationRecord{{Name: "r"}}})
		},
		"licenses": func(w *Writer) { Licenses(w, &api.LicenseList{Licenses: []api.LicenseRecord{{Name: "foo", Total: 4}}}) },
		"pings":    func(w *Writer) { Ping(w, &api.PingReply{Controllers: []api.ControllerRecord{{Name: "c1"}}}, 5) },
		"sinfo": func(w *Writer) {
			NodeGroups(w, []*format.NodeGroup{{Part: &part, Nodes: []*api.NodeRecord{&node}}, {Part: &part}})
		},
		"slurm_conf": func(w *Writer) {
			Config(w, &api.ConfigReply{Pairs: []api.ConfigPair{{Key: "KillWait", Value: "5 sec"}}})
		},
		"statistics": func(w *Writer) { Stats(w, &api.StatsReply{}) },
	} {
		text := document(t, false, fill)
		var d map[string]any
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Errorf("%s: %v in\n%s", key, err, text)
			continue
		}
		for _, want := range []string{key, "meta", "errors", "warnings"} {
			if _, ok := d[want]; !ok {
				t.Errorf("%s: no %s", key, want)
			}
		}
	}
}

func TestJobValues(t *testing.T) {
	var d struct {
		Jobs []struct {
			JobID    int      `json:"job_id"`
			Name     string   `json:"name"`
			JobState []string `json:"job_state"`
			Limit    struct {
				Set    bool
				Number int
			} `json:"time_limit"`
			Tasks     string `json:"array_task_string"`
			Resources struct {
				Nodes struct{ Allocation []struct{ Name string } }
			} `json:"job_resources"`
			TRES string `json:"tres_req_str"`
		}
		Meta struct {
			Plugin struct {
				Parser string `json:"data_parser"`
			}
		}
	}
	text := document(t, false, func(w *Writer) { Jobs(w, testJobs()) })
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	j := d.Jobs[0]
	if j.JobID != 13 || j.Name != "a/b \"c\"\n\x01" || j.JobState[0] != "RUNNING" || !j.Limit.Set || j.Limit.Number != 10 ||
		j.Resources.Nodes.Allocation[0].Name != "n1" || j.TRES != "cpu=2,mem=200M,node=1,billing=2,gres/gpu=1" {
		t.Errorf("got %+v", j)
	}
	if d.Jobs[1].Tasks != "1-3" || d.Meta.Plugin.Parser != "data_parser/v0.0.45" {
		t.Errorf("got %+v, %+v", d.Jobs[1], d.Meta)
	}
	// The layout is Slurm's, which people look at with line tools.
	if !strings.HasPrefix(text, "{\n  \"jobs\": [\n    {\n      \"account\": \"bio\",\n      \"accrue_time\": {\n        \"set\": true,\n        \"infinite\": false,\n") ||
		!strings.HasSuffix(text, "  \"errors\": [\n  ],\n  \"warnings\": [\n  ]\n}\n") {
		t.Errorf("layout:\n%s", text)
	}
}

func TestAccountingValues(t *testing.T) {
	var d struct {
		Jobs []struct {
			JobID int `json:"job_id"`
			User  string
			State struct{ Current []string }
			Steps []struct {
				Step struct{ ID string }
			}
		}
	}
	text := document(t, false, func(w *Writer) { Accounting(w, testJobs()) })
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if j := d.Jobs[0]; j.JobID != 13 || j.User != "bob" || j.State.Current[0] != "RUNNING" || len(j.Steps) != 1 || j.Steps[0].Step.ID != "13.batch" {
		t.Errorf("got %+v", j)
	}
}

func TestYAML(t *testing.T) {
	text := document(t, true, func(w *Writer) { Jobs(w, testJobs()) })
	for _, want := range []string{
		"%YAML 1.1\n--- !!map\n!!str jobs: !!seq\n- !!map\n  !!str account: !!str bio\n  !!str accrue_time: !!map\n    !!str set: !!bool true\n",
		"\n  !!str admin_comment: !!str\n", "\n  !!str flags: !!seq []\n", "\n    !!str number: !!float 2.000000\n",
		"\n  !!str name: !!str \"a\\/b \\\"c\\\"\\n\\u0001\"\n", "\n  !!str command: !!seq\n  - !!str squeue\n  - !!str --json\n",
		"\n!!str errors: !!seq []\n!!str warnings: !!seq []\n...\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q in\n%s", want, text)
		}
	}
}
