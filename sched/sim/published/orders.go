package published

import (
	"fmt"

	"muster/partition"
	"muster/sched/sim"
	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

// orders are the orders of our own queue, which the table of that name compares.
func orders() []string { return []string{partition.OrderSlurm, partition.OrderBalanced} }

// ownRun plays jobs on a machine of so many processors with the real planner.
func ownRun(jobs []trace.Job, procs int, order string, classes []uint32) (*sim.Result, error) {
	setup := sim.Setup{Cluster: sim.Machine(procs), Budget: sim.Budget()}
	setup.Cluster.Policy.Order, setup.Cluster.Policy.OrderClasses = order, classes
	setup.Tasks, _ = sim.Tasks(&trace.Workload{Jobs: jobs}, &setup.Cluster, sim.Options{})
	return sim.Run(&setup)
}

// ordersTable has a row for each trace and order: the whole trace, or of the
// Lublin traces the ten windows of RLScheduler.
func ordersTable(o Options) ([]Row, error) {
	workloads, err := chosen("workload", o.Workload, []string{"KTH-SP2", "Lublin-1", "Lublin-2", "CEA-Curie"})
	if err != nil {
		return nil, err
	}
	policies, err := chosen("policy", o.Policy, orders())
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, name := range workloads {
		w, err := loadSWF(o.Data, traceFile(name))
		if err != nil {
			return nil, err
		}
		for _, p := range policies {
			r, err := orderRow(w, name, p, o.Classes)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, p, err)
			}
			rows = append(rows, *r)
		}
	}
	return rows, nil
}

// traceFile is the file of a trace.
func traceFile(workload string) string {
	return map[string]string{"KTH-SP2": "KTH-SP2-1996.swf", "Lublin-1": "lublin_256.swf", "Lublin-2": "lublin_256_new2.swf", "CEA-Curie": "CEA-Curie-sample.swf"}[workload]
}

func orderRow(w *trace.Workload, name, order string, classes []uint32) (*Row, error) {
	r := &Row{Workload: name, Policy: order}
	if name != "Lublin-1" && name != "Lublin-2" {
		result, err := ownRun(SC15Jobs(w), w.Procs, order, classes)
		if err != nil {
			return nil, err
		}
		s := result.Summary()
		r.Jobs, r.MeanSlowdown, r.RMSSlowdown, r.MaxSlowdown = s.Jobs, s.MeanSlowdown, s.RMSSlowdown, s.MaxSlowdown
		r.MeanWait, r.MaxWait, r.MeanTurnaround, r.MaxTurnaround = s.MeanWait, float64(s.MaxWait), s.MeanTurnaround, s.MaxTurnaround
		r.Utilization = s.Utilization(w.Procs)
		return r, nil
	}
	var failed error
	m, err := Windows(w, func(jobs []trace.Job) []measure.Outcome {
		result, err := ownRun(jobs, w.Procs, order, classes)
		if err != nil {
			failed = err
			return nil
		}
		return result.Outcomes()
	})
	if failed != nil {
		err = failed
	}
	r.Jobs, r.MeanSlowdown, r.Utilization, r.MaxWait = rlWindow*len(rlWindows()), m.Slowdown, m.Utilization, m.MaxWait
	return r, err
}
