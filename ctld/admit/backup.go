package admit

import (
	"context"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/wire"
)

// backup streams all that the cluster knows: backup. It holds the scripts and
// environments of all users, so it is root's alone.
func backup(ctx context.Context, core service.Core, r *service.Request) error {
	if r.Caller.UID != 0 {
		return denied(slurm.TextInvalidUser)
	}
	return core.Backup(ctx, func(p *api.BackupPart) error { return r.Send(wire.Encode(nil, p)) })
}
