package sched

import (
	"encoding/binary"
	"strings"

	"muster/gres"
	"muster/job"
	"muster/partition"
)

// Class is the shape of requests that the planner need not tell apart: what one
// job of a class cannot get, no other gets in the same cycle.
type Class struct {
	Request  *job.Request // of one of them
	Features *partition.Features
	Prefer   *partition.Features // of nodes that are taken first, if there are any
	Licenses partition.Licenses
	Bad      string // why the request can never be met, "" if it is sound
}

// NewClass works out what is common to all requests of the same Key.
func NewClass(r *job.Request) *Class {
	c := &Class{Request: r}
	var err error
	if c.Features, err = partition.ParseFeatures(r.Place.Constraint); err != nil {
		c.Bad = err.Error()
	}
	if c.Prefer, err = partition.ParseFeatures(r.Place.Prefer); err != nil {
		c.Bad = err.Error()
	}
	if c.Licenses, err = partition.ParseLicenses(r.Licenses); err != nil {
		c.Bad = err.Error()
	}
	switch r.Place.Sharing {
	case job.ExclusiveUser, job.ExclusiveMCS, job.ExclusiveTopo:
		c.Bad = "--exclusive=user, mcs and topo are not supported; use --exclusive"
	}
	return c
}

// Key is equal for two requests when placement cannot tell them apart.
func Key(r *job.Request) string {
	b := make([]byte, 0, 160)
	s := &r.Size
	flags := bit(s.Overcommit, 0) | bit(r.Place.Contiguous, 1) | bit(r.Place.Spread, 2) | bit(r.Place.MinimalN, 3)
	for _, n := range [...]uint64{
		uint64(s.MinNodes), uint64(s.MaxNodes), uint64(s.Tasks), uint64(s.CPUsPerTask), uint64(s.TasksPerNode),
		uint64(s.TasksPerCore), uint64(s.TasksPerSocket), uint64(s.TasksPerGPU), uint64(s.MinCPUsPerNode),
		uint64(s.SocketsPerNode), uint64(s.CoresPerSocket), uint64(s.ThreadsPerCore), uint64(s.CoreSpec), uint64(s.ThreadSpec),
		uint64(r.Memory.Per), r.Memory.MB, uint64(r.Gres.CPUsPerGPU), uint64(r.Place.Sharing), r.Place.TmpDiskMB, flags,
		uint64(r.Timing.Limit), uint64(r.Timing.MinLimit), uint64(r.Place.Switches), uint64(r.Place.SwitchWait), uint64(r.Place.Segment), uint64(len(s.NodeCounts)),
	} {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range s.NodeCounts {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, spec := range [...]gres.Spec{r.Gres.PerNode, r.Gres.PerJob, r.Gres.PerSocket, r.Gres.PerTask} {
		b = appendText(b, spec.String())
	}
	for _, text := range [...]string{r.Place.Constraint, r.Place.Prefer, r.Place.Hint, r.Licenses, r.Reservation, r.Gres.Flags} {
		b = appendText(b, text)
	}
	for _, list := range [...][]string{r.Partitions, r.Place.Nodes, r.Place.Exclude} {
		b = appendText(b, strings.Join(list, ","))
	}
	return string(b)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func bit(on bool, n int) uint64 {
	if on {
		return 1 << n
	}
	return 0
}
