package ctld

import (
	"log/slog"

	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// recurring puts the jobs of crontabs back into the queue after each run, to begin
// at their next time (scrontab(1)).
type recurring struct {
	root *state.Root // as last looked at
	log  *slog.Logger
}

// due makes the commands for the jobs that have ended since the last look.
func (c *recurring) due(root *state.Root, now job.Time) []state.Command {
	var list []state.Command
	for id := range root.DiffJobs(c.root) {
		j := root.Job(id)
		if j == nil || j.Request.Cron.Spec == "" || !j.Terminal() {
			continue
		}
		next, err := service.NextRun(root, j.Request.Cron.Spec, now)
		if err != nil {
			c.log.Error("a job of a crontab cannot recur", "job", id, "user", j.Owner.User, "err", err)
			continue
		}
		list = append(list, &state.Requeue{Targets: []state.Target{{Job: id}}, Begin: next})
	}
	c.root = root
	return list
}
