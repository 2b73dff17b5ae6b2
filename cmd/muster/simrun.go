package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"muster/conf"
	"muster/job"
	"muster/partition"
	"muster/sched/cyclelog"
	"muster/sched/sim"
	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

func simRunCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "play a workload on a cluster",
		UsageText: "muster sim run [--cluster cluster.toml] --trace FILE [--policy slurm|balanced] [--seed N] [--format table|csv|json|svg]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "cluster", Usage: "cluster file (default: one machine with the processors that the trace names)"},
			&cli.StringFlag{Name: "trace", Usage: "workload: SWF, sacct -P output, or a scenario; plain, .gz or .zst", Required: true},
			&cli.StringFlag{Name: "type", Usage: "of the trace: swf, sacct, scenario (default: told from the file)"},
			&cli.StringFlag{Name: "policy", Usage: "order of the queue instead of the cluster file's: slurm, balanced"},
			classesFlag(),
			&cli.Int64Flag{Name: "seed", Usage: "play the workload with the gaps between submits shuffled by this seed; 0: as it is"},
			&cli.IntFlag{Name: "from", Usage: "first job of the trace to play, from 0"},
			&cli.IntFlag{Name: "count", Usage: "jobs to play (default: all)"},
			&cli.BoolFlag{Name: "clairvoyant", Usage: "let limits be the run times"},
			&cli.StringFlag{Name: "record", Usage: "directory to record the last cycles of the planner in, for muster sim replay"},
			&cli.IntFlag{Name: "keep", Value: 1000, Usage: "cycles to keep there"},
			formatFlag("table", "csv", "json", "svg"),
		},
		Action: simRun,
	}
}

// runAnswer is what --format json prints.
type runAnswer struct {
	measure.Summary
	Policy      string  `json:"policy"`
	Utilization float64 `json:"utilization"`
	ToLastStart float64 `json:"utilization_to_last_start"`
	Allocated   float64 `json:"gpu_allocated_pct"`
	Unstarted   int     `json:"unstarted"`
	LeftOut     int     `json:"left_out"`
	Cycles      int     `json:"cycles"`
	Steps       int     `json:"steps"`
	Refused     int     `json:"refused_starts"`
	Delays      int     `json:"delayed_promises"`
	Hash        string  `json:"state_hash"`
	Wall        float64 `json:"wall_s"`
}

func simRun(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	w, err := loadWorkload(c.String("trace"), c.String("type"))
	if err != nil {
		return err
	}
	cluster, err := simCluster(c.String("cluster"), c.String("policy"), w)
	if err != nil {
		return err
	}
	bounds, err := classes(c)
	if err != nil {
		return err
	}
	if bounds != nil {
		cluster.Policy.OrderClasses = bounds
	}
	setup := sim.Setup{Cluster: cluster, Budget: sim.Budget()}
	var left int
	setup.Tasks, left = sim.Tasks(w, &cluster, sim.Options{Clairvoyant: c.Bool("clairvoyant"), From: c.Int("from"), Count: c.Int("count")})
	if seed := c.Int64("seed"); seed != 0 {
		sim.Shuffle(setup.Tasks, seed)
	}
	if dir := c.String("record"); dir != "" {
		if setup.Record, err = cyclelog.Open(dir, c.Int("keep")); err != nil {
			return err
		}
	}
	start := time.Now()
	r, err := sim.Run(&setup)
	if err != nil {
		return err
	}
	return writeRun(c.String("format"), r, answerOf(r, &cluster, left, time.Since(start)))
}

func answerOf(r *sim.Result, cluster *partition.Cluster, left int, took time.Duration) *runAnswer {
	a := &runAnswer{Summary: r.Summary(), Policy: cluster.Policy.Order, Allocated: 100 * r.Allocated(), Unstarted: r.Unstart, LeftOut: left,
		Cycles: r.Cycles, Steps: r.Plans, Refused: r.Refused, Delays: r.Delays, Hash: fmt.Sprintf("%x", r.Hash), Wall: took.Seconds()}
	a.Utilization, a.ToLastStart = a.Summary.Utilization(int(r.CPUs)), a.Summary.UtilizationToLastStart(int(r.CPUs))
	if a.Policy == "" {
		a.Policy = partition.OrderSlurm
	}
	return a
}

// simCluster reads the cluster file, or makes the machine of the trace.
func simCluster(path, policy string, w *trace.Workload) (partition.Cluster, error) {
	var cluster partition.Cluster
	switch {
	case path != "":
		file, err := conf.Load(path)
		if err != nil {
			return cluster, err
		}
		cluster = file.Cluster
	case w.Procs > 0:
		cluster = sim.Machine(w.Procs)
	default:
		return cluster, errors.New("the trace does not name the size of its machine: give --cluster")
	}
	switch policy {
	case "":
	case partition.OrderSlurm, partition.OrderBalanced:
		cluster.Policy.Order = policy
	default:
		return cluster, fmt.Errorf("--policy: %q, want %s or %s", policy, partition.OrderSlurm, partition.OrderBalanced)
	}
	return cluster, nil
}

// loadWorkload reads a trace of a type, or of the type that its text looks like.
func loadWorkload(path, kind string) (*trace.Workload, error) {
	data, err := trace.Load(path)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = trace.Kind(data)
	}
	var w *trace.Workload
	switch kind {
	case "swf":
		w, err = trace.SWF(data)
	case "sacct":
		w, err = trace.Sacct(data)
	case "scenario":
		w, err = readScenario(data)
	default:
		return nil, fmt.Errorf("--type: %q, want swf, sacct or scenario", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, read as %s: %w", filepath.Base(path), kind, err)
	}
	return w, nil
}

func writeRun(format string, r *sim.Result, a *runAnswer) error {
	switch format {
	case "json":
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(a)
	case "svg":
		return sim.Picture(os.Stdout, r)
	case "csv":
		return writeSpans(os.Stdout, r)
	case "table":
		return writeAnswer(os.Stdout, a)
	}
	return fmt.Errorf("--format: %q, want table, csv, json or svg", format)
}

// writeAnswer writes the fields of the answer, one a line.
func writeAnswer(w io.Writer, a *runAnswer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var lines [][]string
	for {
		name, err := d.Token()
		if err != nil {
			break
		}
		if _, brace := name.(json.Delim); brace {
			continue
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		lines = append(lines, []string{strings.ReplaceAll(fmt.Sprint(name), "_", " "), fmt.Sprint(value)})
	}
	return writeColumns(w, lines, false)
}

// writeSpans writes one line for each attempt. Times are in seconds from the
// first submit.
func writeSpans(w io.Writer, r *sim.Result) error {
	lines := [][]string{{"job", "task", "submit", "start", "end", "cpus", "gpus", "nodes", "partition", "state", "index"}}
	zero := r.FirstSubmit()
	at := func(t int64) string { return strconv.FormatFloat(float64(t)/1000, 'f', -1, 64) }
	for i := range r.Spans {
		s := &r.Spans[i]
		index := "" // no array
		if s.Index != job.NoTask {
			index = fmt.Sprint(s.Index)
		}
		lines = append(lines, []string{fmt.Sprint(s.Job), strconv.Itoa(s.Task), at(int64(s.Submit - zero)), at(int64(s.Start - zero)), at(int64(s.End - zero)),
			fmt.Sprint(s.CPUs), fmt.Sprint(s.Devices), strconv.Itoa(len(s.Nodes)), s.Partition, s.State.String(), index})
	}
	return writeColumns(w, lines, true)
}
