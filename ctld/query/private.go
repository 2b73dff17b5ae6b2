package query

import (
	"slices"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/state"
)

// keptFrom tells whether the cluster keeps what a word of PrivateData names from the
// caller (slurm.conf(5)). Root and operators see all.
func keptFrom(root *state.Root, r *service.Request, word string) bool {
	return slices.Contains(root.Cluster().Policy.PrivateData, word) && !r.Operates(root)
}

// errPrivate refuses what Slurm refuses as a whole: nodes and partitions.
func errPrivate() error { return &api.Error{Kind: api.ErrDenied, Text: slurm.TextDenied} }
