package slurm

import (
	"strconv"

	"muster/api"
)

// AppendTRES writes resources in the order of Slurm's live records:
// cpu=2,mem=200M,node=1,billing=2,gres/gpu=1. What is 0 is left out.
func AppendTRES(dst []byte, r *api.Resources, unit Unit) []byte {
	at := len(dst)
	dst = appendCount(dst, at, "cpu", uint64(r.CPUs))
	dst = appendMemory(dst, at, r, unit)
	dst = appendCount(dst, at, "node", uint64(r.Nodes))
	dst = appendCount(dst, at, "billing", r.Billing)
	return appendGres(dst, at, r)
}

// AppendSortedTRES writes resources in the order of Slurm's accounting, by name:
// billing=2,cpu=2,gres/gpu=1,mem=200M,node=1.
func AppendSortedTRES(dst []byte, r *api.Resources, unit Unit) []byte {
	at := len(dst)
	dst = appendCount(dst, at, "billing", r.Billing)
	dst = appendCount(dst, at, "cpu", uint64(r.CPUs))
	dst = appendGres(dst, at, r)
	dst = appendMemory(dst, at, r, unit)
	return appendCount(dst, at, "node", uint64(r.Nodes))
}

func appendGres(dst []byte, at int, r *api.Resources) []byte {
	for _, g := range r.Gres {
		name := "gres/" + g.Name
		if g.Type != "" {
			name += ":" + g.Type
		}
		dst = appendCount(dst, at, name, g.Count)
	}
	return dst
}

func appendMemory(dst []byte, at int, r *api.Resources, unit Unit) []byte {
	if r.MemoryMB == 0 {
		return dst
	}
	return AppendSize(appendName(dst, at, "mem"), r.MemoryMB, Mega, unit)
}

func appendCount(dst []byte, at int, name string, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendUint(appendName(dst, at, name), n, 10)
}

// appendName writes name= with a comma before it unless it is the first; at is
// where the list begins.
func appendName(dst []byte, at int, name string) []byte {
	if len(dst) > at {
		dst = append(dst, ',')
	}
	return append(append(dst, name...), '=')
}
