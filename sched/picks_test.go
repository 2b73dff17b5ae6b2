package sched

import (
	"slices"
	"testing"

	"muster/job"
)

// A node list with more nodes than -N asks for is a choice: the job takes as many as
// it asks for from among them, and no others; else it needs all that are named.
func TestNodeListAsChoice(t *testing.T) {
	for name, c := range map[string]struct {
		size  job.Size
		named []string
		busy  string
		want  []string // nil: it waits
	}{
		"two of three":             {job.Size{MinNodes: 2, MaxNodes: 2, Tasks: 2}, []string{"n2", "n3", "n4"}, "", []string{"n2", "n3"}},
		"two of three, one busy":   {job.Size{MinNodes: 2, MaxNodes: 2, Tasks: 2}, []string{"n2", "n3", "n4"}, "n2", []string{"n3", "n4"}},
		"two of two, one busy":     {job.Size{MinNodes: 2, MaxNodes: 2, Tasks: 2}, []string{"n2", "n3"}, "n2", nil},
		"no count: all are needed": {job.Size{}, []string{"n2", "n3", "n4"}, "n2", nil},
		"no count":                 {job.Size{}, []string{"n2", "n3", "n4"}, "", []string{"n2", "n3", "n4"}},
		"more than named":          {job.Size{MinNodes: 3, MaxNodes: 3, Tasks: 3}, []string{"n4"}, "", []string{"n1", "n2", "n4"}},
	} {
		w := newWorld(4, 8)
		if c.busy != "" {
			w.submit(func(j *job.Job) { ask(8, 60)(j); j.Request.Place.Nodes = []string{c.busy} })
			w.apply(w.plan())
		}
		id := w.submit(func(j *job.Job) { j.Request.Size, j.Request.Place.Nodes = c.size, c.named })
		var got []string
		for _, s := range w.plan().Starts {
			if s.Job == id {
				for _, n := range s.Alloc.Nodes {
					got = append(got, n.Name)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: on %v, want %v", name, got, c.want)
		}
	}
}
