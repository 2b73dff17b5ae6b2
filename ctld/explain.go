package ctld

import (
	"context"

	"muster/job"
	"muster/sched"
	"muster/sched/feed"
)

// explainSteps bounds the planning for one explanation; jobs far behind in a long
// queue then see fewer of the jobs ahead.
const explainSteps = 20_000_000

// Explain implements service.Core from the controller's own root.
func (c *Controller) Explain(ctx context.Context, id job.ID) (*sched.Explanation, bool, error) {
	c.explain.Lock()
	defer c.explain.Unlock()
	if err := ctx.Err(); err != nil { // the caller has gone meanwhile
		return nil, false, err
	}
	x, ok := feed.New().Update(c.store.Root()).Explain(c.store.Now(), sched.Budget{Steps: explainSteps}, id)
	return x, ok, nil
}
