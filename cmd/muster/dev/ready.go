package dev

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/api"
)

// readyWait is how long a cluster may take until it takes jobs.
const readyWait = 30 * time.Second

// askWait is how long one question to the cluster may take.
const askWait = time.Second

// ready waits until a leader answers and every node whose daemon runs has registered
// and responds.
func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	pause := 5 * time.Millisecond
	for {
		missing := c.missing()
		if missing == "" {
			return nil
		}
		for _, d := range c.Daemons {
			if _, runs := c.process(d); !runs && c.wanted(d) {
				return fmt.Errorf("%s %s has ended; its log (%s) ends with\n%s", d.Kind, d.Name, c.log(d), c.tail(d))
			}
		}
		select {
		case <-time.After(pause): // registering gives no event that a client can wait for
			pause = min(2*pause, 100*time.Millisecond)
		case <-ctx.Done():
			return fmt.Errorf("the cluster takes no jobs after %s: %s; the logs are in %s", readyWait, missing, c.path("log"))
		}
	}
}

// wanted tells whether a daemon was started by the command that waits now. One that
// was killed earlier and not brought back is no cause to give up.
func (c *Cluster) wanted(d *Daemon) bool { return c.begun[d] }

// missing says what keeps the cluster from taking jobs; "" if nothing does.
func (c *Cluster) missing() string {
	client := api.New(c.LoginSocket())
	defer client.Close()
	client.SetTimeout(askWait)
	var ping api.PingReply
	if _, err := client.Ask(api.MethodPing, nil, &ping); err != nil {
		return err.Error()
	}
	if leaderOf(&ping) == "" {
		return "no controller leads"
	}
	var list api.NodeList
	if _, err := client.Ask(api.MethodNodes, &api.NodeQuery{}, &list); err != nil {
		return err.Error()
	}
	if absent := c.absent(list.Nodes); len(absent) > 0 {
		return "not registered: nodes " + strings.Join(absent, ", ")
	}
	return ""
}

// absent names the nodes whose daemon runs but that the controllers do not know,
// or have not heard of. Before the cluster file is the configuration they know none;
// after that, one that they do not know was taken out of it, and is not waited for.
func (c *Cluster) absent(known []api.NodeRecord) []string {
	up := map[string]bool{}
	gone := func(name string) bool {
		_, there := up[name]
		return len(up) > 0 && !there
	}
	for _, n := range known {
		up[n.Name] = n.Base != api.NodeUnknown && n.Flags&api.NodeNoResponse == 0
	}
	var names []string
	for _, d := range c.of(kindNode) {
		if _, runs := c.process(d); runs && !up[d.Name] && !gone(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// leader is the name of the controller that leads. It waits while there is none.
func (c *Cluster) leader() (string, error) {
	client := api.New(c.LoginSocket())
	defer client.Close()
	client.SetTimeout(askWait)
	for deadline := time.Now().Add(readyWait); ; time.Sleep(50 * time.Millisecond) {
		var ping api.PingReply
		_, err := client.Ask(api.MethodPing, nil, &ping)
		if name := leaderOf(&ping); err == nil && name != "" {
			return name, nil
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("ctld/leader: no controller leads (%v); the logs are in %s", err, c.path("log"))
		}
	}
}

func leaderOf(p *api.PingReply) string {
	for _, d := range p.Controllers {
		if d.Leader {
			return d.Name
		}
	}
	return ""
}
