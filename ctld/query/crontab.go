package query

import (
	"context"

	"muster/api"
	"muster/ctld/service"
)

// crontab answers with the caller's crontab: crontab.show.
func crontab(_ context.Context, core service.Core, r *service.Request) error {
	root := core.Root()
	r.Index = root.Index()
	reply := &api.CrontabReply{}
	if t := root.Crontab(r.Caller.UID); t != nil {
		reply.Text = t.Text
	}
	return send(r, reply)
}
