package conf

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster/gres"
	"muster/job"
	"muster/partition"
)

const small = "[[node]]\nnames = \"n[1-4]\"\ncpus = 8\nmemory = \"16G\"\n"

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("cluster.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFourLinesAreACluster(t *testing.T) {
	f := parse(t, small)
	c := f.Cluster
	if c.Name != "cluster" || c.TimeZone != "UTC" || c.Source != small || len(c.Nodes) != 4 {
		t.Errorf("got name %q, zone %q, %d nodes", c.Name, c.TimeZone, len(c.Nodes))
	}
	want := partition.Shape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 16384}
	if n := c.Nodes[3]; n.Name != "n4" || n.Declared != want || n.Weight != 1 || n.Port != 6818 || n.Address[0] != "n4" {
		t.Errorf("last node: %+v", n)
	}
	if len(c.Partitions) != 1 {
		t.Fatalf("%d partitions, want 1", len(c.Partitions))
	}
	if p := c.Partitions[0]; p.Name != "main" || !p.Default || p.NodeList != "n[1-4]" || p.MaxTime != job.Unlimited || p.PriorityTier != 1 {
		t.Errorf("partition: %+v", p)
	}
	wantController := []Daemon{{Name: "localhost", Addresses: []string{"127.0.0.1"}, Port: 6817, DataDir: "/var/lib/muster/ctld", Votes: true}}
	if !reflect.DeepEqual(f.Controllers, wantController) {
		t.Errorf("controllers: %+v", f.Controllers)
	}
	if c.Timers.KillWait != 30 || c.Limits.MaxArraySize != 1_000_001 || c.Limits.MaxScript != 4<<20 || !c.Policy.Requeue || c.Policy.SchedInterval != 1000 {
		t.Errorf("defaults: %+v %+v %+v", c.Timers, c.Limits, c.Policy)
	}
}

func TestWholeFile(t *testing.T) {
	f, err := Load(filepath.Join("testdata", "whole.toml"))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Cluster
	if n := c.Nodes[1]; n.Name != "gpu002" || !reflect.DeepEqual(n.Address, []string{"10.0.0.2", "fd00::2"}) || n.Port != 7002 {
		t.Errorf("gpu002: %+v", n)
	}
	if d, ok := f.Node("gpu001"); !ok || d.Bind != "0.0.0.0" || d.DataDir != "/scratch/noded" || !d.Real {
		t.Errorf("daemon of gpu001: %+v", d)
	}
	wantGres := gres.Inventory{
		Devices: []gres.Device{
			{Name: "gpu", Type: "a100", Index: 0, File: "/dev/nvidia0", Visible: "CUDA_VISIBLE_DEVICES"},
			{Name: "gpu", Type: "a100", Index: 1, File: "/dev/nvidia1", Visible: "CUDA_VISIBLE_DEVICES"},
			{Name: "gpu", Type: "t4", Index: 2, File: "/dev/nvidia2", Visible: "CUDA_VISIBLE_DEVICES"},
		},
		Counts: []gres.Item{{Name: "nic", Count: 2}},
	}
	if !reflect.DeepEqual(c.Nodes[0].Gres, wantGres) {
		t.Errorf("gres: %+v", c.Nodes[0].Gres)
	}
	wantShape := partition.Shape{Boards: 1, Sockets: 2, CoresPerSocket: 16, ThreadsPerCore: 2, CPUs: 64, MemoryMB: 512 << 10, TmpDiskMB: 1 << 20, CoreSpec: 2, MemSpecMB: 2048}
	if c.Nodes[0].Declared != wantShape {
		t.Errorf("shape: %+v", c.Nodes[0].Declared)
	}
	p := c.Partitions[1]
	if p.Name != "long" || p.State != partition.PartitionDrain || p.MaxTime != 2880 || p.DefaultTime != 90 ||
		p.DefMemory != (job.Memory{Per: job.MemoryPerCPU, MB: 500}) || p.Alternate != "gpu" || p.OverSubscribe != "EXCLUSIVE" || p.Default {
		t.Errorf("partition long: %+v", p)
	}
	pol := c.Policy
	if !reflect.DeepEqual(pol.Devices, partition.DevicePolicy{Open: true, NICVariables: []string{"NCCL_IB_HCA"}}) {
		t.Errorf("devices: %+v", pol.Devices)
	}
	if pol.EnforcePartLimits != "ANY" || pol.DefMemory.MB != 1024 || !reflect.DeepEqual(pol.Priority.TRES, []partition.TRESWeight{{TRES: "cpu", Weight: 1000000}, {TRES: "gres/gpu", Weight: 2500}}) ||
		pol.Priority.MaxAge != 14*86400 || !reflect.DeepEqual(pol.PropagateExcept, []string{"MEMLOCK"}) {
		t.Errorf("policy: %+v", pol)
	}
	if len(f.Controllers) != 3 || f.Controllers[2].Addresses[1] != "fd00::13" || c.Licenses[0] != (partition.License{Name: "foo", Total: 4}) {
		t.Errorf("controllers %+v, licences %+v", f.Controllers, c.Licenses)
	}
	if c.Timers.KillWait != 5 || c.Timers.Heartbeat != 250 || c.Timers.Silent != 20 || c.TimeZone != "Europe/Berlin" {
		t.Errorf("timers: %+v, zone %s", c.Timers, c.TimeZone)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		text, order, problem string
		classes              []uint32
	}{
		{"", "slurm", "", nil},
		{"order = \"balanced\"", "balanced", "", nil},
		{"order = \"balanced\"\norder_classes = [\"90s\", \"10m\"]", "balanced", "", []uint32{90, 600}},
		{"order = \"fair\"", "", "order", nil},
		{"order_classes = [\"10m\", \"90s\"]", "", "each longer than the one before", nil},
		{"order_classes = [\"soon\"]", "", "want times such as", nil},
	} {
		f, err := Parse("cluster.toml", []byte(small+"[policy]\n"+c.text+"\n"))
		switch {
		case c.problem != "":
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%q: error %v, want %q", c.text, err, c.problem)
			}
		case err != nil || f.Cluster.Policy.Order != c.order || !reflect.DeepEqual(f.Cluster.Policy.OrderClasses, c.classes):
			t.Errorf("%q: %v, %+v", c.text, err, f)
		}
	}
}

func TestFence(t *testing.T) {
	for _, c := range []struct {
		text string
		want partition.Fence
	}{
		{"", partition.FenceTimeout}, {"fence = \"node_timeout\"\n", partition.FenceTimeout}, {"fence = \"proof\"\n", partition.FenceProof},
	} {
		f, err := Parse("cluster.toml", []byte(small+"[[partition]]\nname = \"p\"\n"+c.text))
		if err != nil || f.Cluster.Partitions[0].Fence != c.want {
			t.Errorf("%q: %+v, %v", c.text, f, err)
		}
	}
	if _, err := Parse("cluster.toml", []byte(small+"[[partition]]\nname = \"p\"\nfence = \"lease\"\n")); err == nil {
		t.Error("a fence that is not there is accepted")
	}
}

// Every problem names its line; line 0 is the file as a whole.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{small + "wieght = 2\n", "cluster.toml:5: unknown key wieght in [[node]]; did you mean weight?"},
		{small + "[[node]]\nnames = \"m1\"\ncpus = 1\nmemory = 1\nweihgt = 1\n", "cluster.toml:9: unknown key weihgt"},
		{small + "[timer]\nkill_wait = 5\n", "cluster.toml:5: unknown key timer; did you mean timers?"},
		{small + "[timers]\nkillwait = 5\n", "cluster.toml:6: unknown key killwait in [timers]; did you mean kill_wait?"},
		{"time_zone = \"Mars/Base\"\n" + small, `cluster.toml:1: time_zone: "Mars/Base" is no time zone`},
		{"time_zone = \"Local\"\n" + small, "is no time zone"},
		{small + "port = 65536\n", "cluster.toml:5: port: 65536 is no port"},
		{small + "port = \"[1-3]\"\n", "cluster.toml:5: port: 3 ports for 4 nodes"},
		{small + "[[node]]\nnames = \"n4\"\ncpus = 1\nmemory = 1\n", "cluster.toml:6: node n4 is there twice; the first is in line 2"},
		{"[[node]]\nnames = \"n1\"\nmemory = 1\n\n\n# x\n[[node]]\nnames = \"n2\"\ncpus = 0\nmemory = 1", "cluster.toml:9: cpus: want a number from 1, got 0"},
		{"[[node]]\nnames = \"n1\"\ncpus = 4\n", "cluster.toml:1: [[node]] n1 needs memory"},
		{"[[node]]\nnames = \"n1\"\nmemory = 4\n", "cluster.toml:1: [[node]] n1 needs cpus"},
		{"[[node]]\ncpus = 4\nmemory = 4\n", "cluster.toml:1: [[node]] without names"},
		{small + "sockets = 3\n", "cluster.toml:3: cpus: 8 do not divide among 3 sockets"},
		{small + "sockets = 2\ncores = 2\n", "cluster.toml:3: cpus: 8, but 2 sockets of 2 cores"},
		{small + "core_spec = 8\n", "core_spec: 8 of 8 cores leaves none"},
		{small + "addresses = \"10.0.0.[1-3]\"\n", "gives 3 addresses for 4 nodes"},
		{small + "[gres]\nnic_variables = [\"LD_PRELOAD\"]\n", `cluster.toml:6: "LD_PRELOAD": want the name of an environment variable`},
		{small + "[gres]\nvisible = { gpu = \"A,B C\" }\n", `cluster.toml:6: "B C": want the name`},
		{small + "gres = [\"gpu:a100:x:1\"]\n", `cluster.toml:5: gres: "gpu:a100:x:1": want name:count`},
		{small + "gres = [\"gpu:2\"]\ndevices = { gpu = \"/dev/x[0-2]\" }\n", "cluster.toml:6: devices: 3 files of gpu, but gres has 2"},
		{small + "gres = 4\n", "gres: want a list of strings, got 4"},
		{small + "features = [\"a b\"]\n", `feature name "a b"`},
		{small + "[[partition]]\nname = \"p\"\nnodes = \"n[1-5]\"\n", "cluster.toml:7: partition p: no [[node]] has n5"},
		{small + "[[partition]]\nname = \"p\"\nnodes = \"n[1-\"\n", "cluster.toml:7: nodes: host list"},
		{small + "[[partition]]\nnodes = \"n1\"\n", "cluster.toml:5: the partition has no name"},
		{small + "[[partition]]\nname = \"p\"\n[[partition]]\nname = \"p\"\n", "cluster.toml:7: partition p is there twice"},
		{small + "[[partition]]\nname = \"p\"\nstate = \"OFF\"\n", `cluster.toml:7: state: "OFF" is not known`},
		{small + "[[partition]]\nname = \"p\"\nmax_time = \"1:x\"\n", "cluster.toml:7: max_time: want minutes"},
		{small + "[[partition]]\nname = \"p\"\nmax_time = 5\ndefault_time = 6\n", "default_time is more than max_time"},
		{small + "[[partition]]\nname = \"p\"\nalternate = \"q\"\n", "there is no partition q"},
		{small + "[[partition]]\nname = \"p\"\ndefault = true\n[[partition]]\nname = \"q\"\ndefault = true\n", "cluster.toml:10: partition q: another one is the default"},
		{small + "[programs]\nprolog = \"/p\"\ntime = 0\n", "cluster.toml:7: time: want at least 1s for prolog and epilog"},
		{small + "[programs]\nepilog = \"e\"\n", "epilog: \"e\": want an absolute path, or nothing"},
		{small + "[policy]\ndef_mem_per_cpu = 1\ndef_mem_per_node = 2\n", "cluster.toml:7: def_mem_per_cpu and def_mem_per_node are both set"},
		{small + "[policy]\nenforce = [\"limit\"]\n", `cluster.toml:6: enforce: "limit" is not known; did you mean limits?`},
		{small + "[policy]\nrequeue = 1\n", "requeue: want true or false, got 1"},
		{small + "[priority]\ntres = [\"cpu=1.2345\"]\n", "at most three decimals"},
		{small + "[timers]\nkill_wait = \"5 s\"\n", "cluster.toml:6: kill_wait: want a time such as"},
		{small + "[timers]\nkill_wait = -1\n", "kill_wait: want a time such as"},
		{small + "[timers]\nsilent = 1\n", "less than two heartbeats"},
		{small + "[limits]\nmax_script = \"1G\"\n", "max_script: want 1M to 64M"},
		{small + "[limits]\nmax_array_size = 5000000\n", "at most 4000001"},
		{small + "[[license]]\nname = \"foo\"\n", "cluster.toml:5: license foo has no total"},
		{small + "[[controller]]\nname = \"a\"\n[[controller]]\nname = \"b\"\n", "cluster.toml:7: 2 controllers survive the loss"},
		{small + "timers = 4\n", "unknown key timers in [[node]]"},
		{"timers = 4\n" + small, "cluster.toml:1: timers is a table"},
		{"node = 4\n", "cluster.toml:1: node is a list of tables"},
		{"name = \"a b\"\n" + small, "cluster name"},
		{"name = \"x\"\nname = \"y\"\n", "cluster.toml:2: "},
		{"name = \n", "cluster.toml:1: "},
		{"", "cluster.toml: no [[node]]"},
	} {
		_, err := Parse("cluster.toml", []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Parse("c", []byte("colour = 1\n"+small+"port = 0\n[polcy]\nx = 1\n"))
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) != 3 || e.Problems[0].Line != 1 || e.Problems[1].Line != 6 || e.Problems[2].Line != 7 {
		t.Errorf("got %v", err)
	}
}

// A key that nothing acts on yet is never passed over in silence.
func TestWarnings(t *testing.T) {
	f := parse(t, small+"[policy]\nsched_interval = \"2s\"\n[priority]\ntres = [\"cpu=1\"]\n")
	if len(f.Warnings) != 2 || f.Warnings[0].Line != 6 || f.Warnings[1].Line != 8 || !strings.Contains(f.Warnings[0].Text, "sched_interval in [policy] is kept and shown") {
		t.Errorf("got %+v", f.Warnings)
	}
	if f := parse(t, small); len(f.Warnings) != 0 {
		t.Errorf("a file that sets no such key: %+v", f.Warnings)
	}
}

// Weights are kept for each one, and for each MB.
func TestBillingWeights(t *testing.T) {
	f := parse(t, small+"[[partition]]\nname = \"p\"\ntres_billing_weights = [\"CPU=1.5\", \"mem=0.25G\", \"mem=2\", \"mem=1k\", \"mem=1T\", \"gres/gpu=3\"]\n[priority]\nbilling = \"MAX_TRES\"\nusage_reset = \"WEEKLY\"\nfair_share_rule = \"classic\"\n")
	const unit = partition.BillingUnit
	want := []partition.TRESWeight{{TRES: "cpu", Weight: unit * 3 / 2}, {TRES: "mem", Weight: unit / 4096}, {TRES: "mem", Weight: 2 * unit}, {TRES: "mem", Weight: 1024 * unit}, {TRES: "mem", Weight: 1000}, {TRES: "gres/gpu", Weight: 3 * unit}}
	if got := f.Cluster.Partitions[0].Billing; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p := f.Cluster.Policy.Priority
	if p.Billing != partition.BillMax || p.Reset != partition.ResetWeekly || !p.Classic || p.Damp != 1 {
		t.Errorf("got %+v", p)
	}
}

func TestLinesWithLongValues(t *testing.T) {
	text := "name = \"a\" # [x]\n[[node]]\nnames = \"\"\"n[1-2]\"\"\"\nfeatures = [\n  \"a#b\", # ]\n  'c',\n]\ncpus = 1\nmemory = 1\n\"bad key\" = 1\n"
	index := scanLines(text)
	for path, line := range map[string]int{"name": 1, "node#0": 2, "node#0.features": 4, "node#0.cpus": 8, "node#0.badkey": 10} {
		if index[path] != line {
			t.Errorf("%s is in line %d, want %d", path, index[path], line)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		into setter
		raw  any
		want any
	}{
		{new(seconds), int64(30), seconds(30)},
		{new(seconds), "7d", seconds(7 * 86400)},
		{new(seconds), "2000ms", seconds(2)},
		{new(millis), int64(30), millis(30)},
		{new(millis), "2s", millis(2000)},
		{new(timeLimit), int64(30), timeLimit(30)},
		{new(timeLimit), "30", timeLimit(30)},
		{new(timeLimit), "30:01", timeLimit(31)},
		{new(timeLimit), "1:30:00", timeLimit(90)},
		{new(timeLimit), "2-12", timeLimit(3600)},
		{new(timeLimit), "1-00:05", timeLimit(1445)},
		{new(timeLimit), "infinite", timeLimit(job.Unlimited)},
		{new(megabytes), int64(4000), megabytes(4000)},
		{new(megabytes), "64G", megabytes(65536)},
		{new(megabytes), "1P", megabytes(1 << 30)},
	} {
		if err := c.into.set(c.raw); err != nil || reflect.ValueOf(c.into).Elem().Interface() != c.want {
			t.Errorf("%T of %v: got %v, %v", c.into, c.raw, reflect.ValueOf(c.into).Elem(), err)
		}
	}
	for _, c := range []struct {
		into setter
		raw  any
	}{
		{new(seconds), "1500ms"}, {new(seconds), ""}, {new(seconds), "s"}, {new(seconds), "9999999999999d"}, {new(seconds), true},
		{new(millis), "0s"}, {new(timeLimit), "0"}, {new(timeLimit), "1:2:3:4"}, {new(timeLimit), "-5"}, {new(timeLimit), int64(0)},
		{new(megabytes), "4k"}, {new(megabytes), "-1"}, {new(megabytes), "99999999P"}, {new(megabytes), int64(-1)}, {new(count), int64(0)}, {new(ports), int64(0)}, {new(ports), "[1-x]"},
	} {
		if err := c.into.set(c.raw); err == nil {
			t.Errorf("%T took %v", c.into, c.raw)
		}
	}
}

func TestConformanceFile(t *testing.T) {
	f, err := Load("../test/conformance/cluster.toml")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Cluster.Nodes) != 4 || len(f.Cluster.Partitions) != 3 || len(f.Controllers) != 3 {
		t.Errorf("%d nodes, %d partitions, %d controllers", len(f.Cluster.Nodes), len(f.Cluster.Partitions), len(f.Controllers))
	}
}

func TestInit(t *testing.T) {
	var b strings.Builder
	err := Init(&b, Starter{
		Name: "dev", TimeZone: "Asia/Tokyo", Order: "balanced",
		Controllers: []Daemon{{Name: "c1", Addresses: []string{"127.0.0.1"}, Bind: "127.0.0.1", Port: 7001, DataDir: `/tmp/a "b"`}},
		Nodes: []StarterNodes{
			{Names: "n[1-2]", Sockets: 2, Cores: 4, MemoryMB: 8000, Gres: []string{"gpu:a100:2"}, Devices: map[string]string{"gpu": "/tmp/gpu[0-1]"},
				Addresses: []string{"127.0.0.[1-2]"}, Ports: []uint16{7101, 7102}},
			{Names: "big", Sockets: 1, Cores: 2, MemoryMB: 64000},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := parse(t, b.String())
	if got := f.Cluster.Policy; got.DefMemory != (job.Memory{Per: job.MemoryPerCPU, MB: 1000}) || !reflect.DeepEqual(got.PropagateExcept, []string{"MEMLOCK"}) || got.Order != "balanced" {
		t.Errorf("policy %+v", got)
	}
	if f.Controllers[0].DataDir != `/tmp/a "b"` || f.Nodes[1].Port != 7102 || f.Cluster.Nodes[0].Gres.Devices[1].File != "/tmp/gpu1" {
		t.Errorf("%s", b.String())
	}
	if err := Init(&b, Starter{}); err == nil {
		t.Error("a file without nodes was written")
	}
	if z := HostZone(); !zoneExists(z) {
		t.Errorf("HostZone gives %q", z)
	}
}

// The defaults as printed are what a file gets that sets nothing.
func TestDefaults(t *testing.T) {
	got := parse(t, Defaults()+"\n"+small).Cluster
	want := parse(t, small).Cluster
	got.Source, want.Source = "", ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReference(t *testing.T) {
	const page = "../docs/cluster-toml.md"
	if os.Getenv("MUSTER_GENERATE") != "" {
		if err := os.WriteFile(page, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || string(text) != Reference() {
		t.Errorf("%s is not what the schema says (%v); run make generate", page, err)
	}
	for _, table := range tables() {
		for _, f := range table.fields {
			if f.Tag.Get("toml") == "" || f.Tag.Get("doc") == "" {
				t.Errorf("%s in %s lacks its key or its text", f.Name, table.header())
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("[[node]]\nnames = 'n[1-'\n")
	f.Add("node = [ { names = \"a\", cpus = 1, memory = 1 } ]\n[timers]\nx = \"\"\"\n\"\"\"\n")
	f.Add("x = \"\\")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("c", []byte(text))
		if (file == nil) == (err == nil) {
			t.Fatalf("got %v, %v", file, err)
		}
	})
}
