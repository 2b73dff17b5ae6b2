package main

import (
	"fmt"
	"strconv"
	"strings"

	"muster/api/slurm"
)

// placement are the variables that say how the tasks of a step are placed and
// bound (srun(1), OUTPUT ENVIRONMENT VARIABLES).
func (c *stepCommand) placement(tasks uint32, nodes int) []string {
	o := c.o
	var set []string
	dist := o.Job.Place.Dist
	switch size, plane := strings.CutPrefix(dist, "plane="); {
	case plane:
		set = append(set, "SLURM_DISTRIBUTION=plane", "SLURM_DIST_PLANESIZE="+size)
	case dist != "":
		set = append(set, "SLURM_DISTRIBUTION="+dist)
	case int(tasks) <= nodes: // what Slurm takes then
		set = append(set, "SLURM_DISTRIBUTION=cyclic")
	default:
		set = append(set, "SLURM_DISTRIBUTION=block")
	}
	if n := o.Job.Size.CPUsPerTask; n > 0 && o.WasSet("cpus-per-task") != slurm.Unset {
		set = append(set, fmt.Sprintf("SLURM_CPUS_PER_TASK=%d", n), fmt.Sprintf("SLURM_TRES_PER_TASK=cpu=%d", n))
	}
	if b := o.Run.CPUBind; b != nil {
		set = append(set, b.Variables()...)
	}
	if b := o.Run.MemBind; b[0] != "" {
		set = append(set, "SLURM_MEM_BIND="+strings.TrimSuffix(b[0]+","+b[1], ","), "SLURM_MEM_BIND_LIST=",
			"SLURM_MEM_BIND_TYPE="+b[1], "SLURM_MEM_BIND_VERBOSE="+b[0])
	}
	if o.Run.Label {
		set = append(set, "SLURM_LABELIO=1")
	}
	if o.Run.MPI != "" {
		set = append(set, "SLURM_MPI_TYPE="+o.Run.MPI)
	}
	return append(set, "SRUN_DEBUG="+strconv.Itoa(c.loudness()))
}

// loudness is srun's level of messages as SRUN_DEBUG counts it: 3 for errors and
// notes.
func (c *stepCommand) loudness() int {
	if c.o.Act.Quiet {
		return 2
	}
	return 3 + c.o.Act.Verbose
}
