package published

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/sched/sim/trace"
)

// Tables are the tables that can be rebuilt, and the one of our own orders.
func Tables() []string { return []string{"rlscheduler", "sc15-kth", "fgd", "orders"} }

// About says in a few words what a table is, "" if there is none of the name.
func About(name string) string {
	switch name {
	case "rlscheduler":
		return "orders with and without backfill on two model traces (RLScheduler, SC 2020)"
	case "sc15-kth":
		return "EASY backfilling on KTH-SP2 (Gaussier et al., SC 2015)"
	case "fgd":
		return "fragmentation of shared GPUs on the openb traces (FGD, USENIX ATC 2023)"
	case "orders":
		return "our own planner with the orders of the queue that it has, on the traces of the other tables"
	}
	return ""
}

// Options choose the part of a table.
type Options struct {
	Data     string   // directory of the traces, packed or not
	Workload string   // "": all
	Policy   string   // "": all
	Classes  []uint32 // of the balanced order, in seconds; none: the default
	Seeds    int      // of fgd, from 42 on; 0: ten, as in the paper
}

// Row is one line of a table. What a table does not have is left out.
type Row struct {
	Workload       string             `json:"workload"`
	Policy         string             `json:"policy"`
	Backfill       *bool              `json:"backfill,omitempty"`
	Jobs           int                `json:"jobs,omitempty"`
	MeanSlowdown   float64            `json:"mean_bounded_slowdown,omitempty"`
	RMSSlowdown    float64            `json:"rms_bounded_slowdown,omitempty"`
	MaxSlowdown    float64            `json:"max_bounded_slowdown,omitempty"`
	MeanWait       float64            `json:"mean_wait_s,omitempty"`
	MaxWait        float64            `json:"max_wait_s,omitempty"` // of several windows the mean
	MeanTurnaround float64            `json:"mean_turnaround_s,omitempty"`
	MaxTurnaround  int64              `json:"max_turnaround_s,omitempty"`
	Utilization    float64            `json:"utilization,omitempty"`
	Seeds          int                `json:"seeds,omitempty"`
	Allocated      map[string]float64 `json:"allocated_pct,omitempty"`  // by per cent of arrivals
	OneByOne       map[string]float64 `json:"one_by_one_pct,omitempty"` // of our own allocator, without a queue
	Spread         float64            `json:"spread_pct,omitempty"`     // highest less lowest at 100: of the seeds, or of ten node orders for our own
}

// Table rebuilds a table. Errors name what is wrong with the options, or the
// file that is missing or bad.
func Table(name string, o Options) ([]Row, error) {
	o.Workload = plain(o.Workload)
	switch name {
	case "rlscheduler":
		return rlTable(o)
	case "sc15-kth":
		return sc15Table(o)
	case "fgd":
		return fgdTable(o)
	case "orders":
		return ordersTable(o)
	}
	return nil, fmt.Errorf("there is no table %q; there are %s", name, strings.Join(Tables(), ", "))
}

// chosen is the one of a list that is asked for, or all of it.
func chosen(what, want string, list []string) ([]string, error) {
	if want == "" {
		return list, nil
	}
	if i := slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(s, want) }); i >= 0 {
		return list[i : i+1], nil
	}
	return nil, fmt.Errorf("there is no %s %q here; there are %s", what, want, strings.Join(list, ", "))
}

// plain is a workload's name without what its file has around it.
func plain(workload string) string {
	workload = strings.TrimSuffix(strings.TrimSuffix(workload, ".csv"), ".swf")
	switch workload = strings.TrimPrefix(workload, podList); workload {
	case "lublin_256":
		return "Lublin-1"
	case "lublin_256_new2":
		return "Lublin-2"
	case "KTH-SP2-1996":
		return "KTH-SP2"
	case "CEA-Curie-sample":
		return "CEA-Curie"
	}
	return workload
}

// find reads a trace below a directory: in it or in its folder swf or csv, plain
// or packed.
func find(dir, name string) ([]byte, error) {
	for _, sub := range []string{"", "swf", "csv"} {
		for _, packed := range []string{"", ".zst", ".gz"} {
			path := filepath.Join(dir, sub, name+packed)
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return trace.Load(path)
		}
	}
	return nil, fmt.Errorf("no %s, plain, .zst or .gz, in %s or its folders swf and csv", name, dir)
}

func loadSWF(dir, name string) (*trace.Workload, error) {
	data, err := find(dir, name)
	if err != nil {
		return nil, err
	}
	w, err := trace.SWF(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// rlTable has two rows for each trace and order: without and with backfill.
func rlTable(o Options) ([]Row, error) {
	workloads, err := chosen("workload", o.Workload, []string{"Lublin-1", "Lublin-2"})
	if err != nil {
		return nil, err
	}
	policies, err := chosen("policy", o.Policy, RLPolicies())
	if err != nil {
		return nil, err
	}
	file := map[string]string{"Lublin-1": "lublin_256.swf", "Lublin-2": "lublin_256_new2.swf"}
	var rows []Row
	for _, name := range workloads {
		w, err := loadSWF(o.Data, file[name])
		if err != nil {
			return nil, err
		}
		for _, backfill := range []bool{false, true} {
			for _, p := range policies {
				r, err := RLScheduler(w, p, backfill)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				rows = append(rows, Row{Workload: name, Policy: p, Backfill: &backfill, Jobs: rlWindow * len(rlWindows()),
					MeanSlowdown: r.Slowdown, Utilization: r.Utilization, MaxWait: r.MaxWait})
			}
		}
	}
	return rows, nil
}

func sc15Table(o Options) ([]Row, error) {
	if _, err := chosen("workload", o.Workload, []string{"KTH-SP2"}); err != nil {
		return nil, err
	}
	policies, err := chosen("policy", o.Policy, SC15Policies())
	if err != nil {
		return nil, err
	}
	w, err := loadSWF(o.Data, "KTH-SP2-1996.swf")
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, p := range policies {
		s, err := SC15(w, p)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Workload: "KTH-SP2", Policy: p, Jobs: s.Jobs, MeanSlowdown: s.MeanSlowdown, RMSSlowdown: s.RMSSlowdown,
			MaxSlowdown: s.MaxSlowdown, MeanWait: s.MeanWait, MaxWait: float64(s.MaxWait), MeanTurnaround: s.MeanTurnaround,
			MaxTurnaround: s.MaxTurnaround, Utilization: s.Utilization(w.Procs)})
	}
	return rows, nil
}

// musterPolicy names our own allocator in the table of FGD.
const musterPolicy = "muster"

// podList is how the lists of pods are named.
const podList = "openb_pod_list_"

// fgdTable has a row for each list of pods and policy.
func fgdTable(o Options) ([]Row, error) {
	policies, err := chosen("policy", o.Policy, append(FGDPolicies(), musterPolicy))
	if err != nil {
		return nil, err
	}
	data, err := find(o.Data, "openb_node_list_gpu_node.csv")
	if err != nil {
		return nil, err
	}
	nodes, err := trace.OpenbNodes(data)
	if err != nil {
		return nil, fmt.Errorf("openb_node_list_gpu_node.csv: %w", err)
	}
	workloads := []string{o.Workload}
	if o.Workload == "" {
		workloads = podLists(o.Data)
	}
	seeds := o.Seeds
	if seeds == 0 {
		seeds = 10
	}
	var rows []Row
	for _, name := range workloads {
		data, err := find(o.Data, podList+name+".csv")
		if err != nil {
			return nil, err
		}
		pods, err := trace.OpenbPods(data)
		if err != nil {
			return nil, fmt.Errorf("%s%s.csv: %w", podList, name, err)
		}
		cluster := NewOpenb(nodes, pods)
		for _, p := range policies {
			r := Row{Workload: name, Policy: p, Jobs: len(pods), Seeds: seeds}
			if p == musterPolicy {
				cluster.Muster(seeds).fill(&r)
			} else if err := cluster.fillFGD(p, &r); err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// podLists names the lists of pods of a directory.
func podLists(dir string) []string {
	var out []string
	for _, sub := range []string{"", "csv"} {
		paths, _ := filepath.Glob(filepath.Join(dir, sub, podList+"*.csv*")) // the pattern is sound
		for _, p := range paths {
			name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(p), podList), ".csv")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// percents are the arrivals, in per cent, of which a row tells.
func percents() []int { return []int{95, 100, 110, 120, 130} }

func (o *Openb) fillFGD(policy string, r *Row) error {
	m, err := o.FGDMean(policy, r.Seeds)
	if err != nil {
		return err
	}
	r.Allocated, r.Spread = map[string]float64{}, m.Spread
	for _, x := range percents() {
		r.Allocated[strconv.Itoa(x)] = m.Mean[x]
	}
	return nil
}

// fill sets what a row says of our own allocator: allocated is one by one up to
// 100 per cent of arrivals, and with a queue at 130.
func (m *MusterResult) fill(r *Row) {
	r.Allocated, r.OneByOne, r.Spread = map[string]float64{}, map[string]float64{}, m.Spread
	for _, x := range percents() {
		r.OneByOne[strconv.Itoa(x)] = m.OneByOne[x]
		if x <= 100 {
			r.Allocated[strconv.Itoa(x)] = m.OneByOne[x]
		}
	}
	r.Allocated[strconv.Itoa(fgdArrived)] = m.Queue
}
