package partition

import (
	"cmp"
	"slices"

	"muster/gres"
)

// This file keeps the GPUs of a job that names no type to one type.

// gpuTypes are the types of GPU among candidates, those with the most free first,
// if a need is to have one of them only; nil if it does not matter.
func gpuTypes(n *Need, cands []Candidate) []string {
	if n.MixTypes || !untyped(n.Gres.Node, n.Gres.Task, n.Gres.Job) {
		return nil
	}
	type sum struct {
		name string
		free int64
	}
	var sums []sum
	for i := range cands {
		for k, kind := range cands[i].Host.Kinds {
			if kind.Name != "gpu" {
				continue
			}
			at := slices.IndexFunc(sums, func(s sum) bool { return s.name == kind.Type })
			if at < 0 {
				at = len(sums)
				sums = append(sums, sum{name: kind.Type})
			}
			if k < len(cands[i].Free.Devices) {
				sums[at].free += cands[i].Free.Devices[k]
			}
		}
	}
	slices.SortFunc(sums, func(a, b sum) int { return cmp.Or(cmp.Compare(b.free, a.free), cmp.Compare(a.name, b.name)) })
	out := make([]string, len(sums))
	for i, s := range sums {
		out[i] = s.name
	}
	return out
}

// untyped tells whether GPUs are asked for and none by its type.
func untyped(lists ...gres.Spec) bool {
	asked := false
	for _, list := range lists {
		for _, it := range list {
			if it.Name != "gpu" || it.Count == 0 {
				continue
			}
			if it.Type != "" {
				return false
			}
			asked = true
		}
	}
	return asked
}

// ofType is a need with its GPUs of one type.
func ofType(n *Need, typ string) *Need {
	out := *n
	for _, list := range []*gres.Spec{&out.Gres.Node, &out.Gres.Task, &out.Gres.Job} {
		*list = slices.Clone(*list)
		for i := range *list {
			if it := &(*list)[i]; it.Name == "gpu" {
				it.Type = typ
			}
		}
	}
	return &out
}
