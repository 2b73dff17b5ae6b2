package query

import (
	"cmp"
	"context"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/hostlist"
	"muster/partition"
)

// configs lists the configurations that are remembered (config.history). The text of
// one is for those who may change it.
func configs(_ context.Context, core service.Core, r *service.Request) error {
	var q api.ConfigsRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	reply := api.ConfigsReply{Zone: root.Cluster().TimeZone}
	found := q.Serial == 0
	for _, c := range root.Configurations() {
		reply.Configs = append(reply.Configs, api.ConfigRecord{Serial: c.Serial, At: c.At, By: cmp.Or(c.By.User, c.By.Host),
			Host: c.By.Host, Undo: c.Undo, Forced: c.Forced})
		if c.Serial == q.Serial {
			found, reply.Source = true, c.Source
		}
	}
	if q.Serial != 0 && root.AdminLevel(r.Caller.UID, r.Caller.User) < accounting.Administrator {
		return &api.Error{Kind: api.ErrDenied, Text: slurm.TextInvalidUser}
	}
	if !found {
		return api.Errorf(api.ErrNotFound, "configuration %d is not remembered", q.Serial)
	}
	var behind []string
	for n := range root.Nodes() {
		if n.Admin&partition.NodeBehind != 0 {
			behind = append(behind, n.Name)
		}
	}
	reply.Behind = hostlist.Compress(behind)
	return send(r, &reply)
}
