package dispatch

import (
	"fmt"

	"muster/state"
)

// reconfigure tells all nodes of a configuration that is new in this root. On each
// stream that comes before any launch that was planned under it.
func (d *Dispatcher) reconfigure(root *state.Root) {
	if root.Configuration().Serial == d.root.Configuration().Serial {
		return
	}
	for _, s := range d.sessions {
		if !s.synced {
			continue
		}
		if n := root.NodeNamed(s.name); n == nil || n.ID != s.node {
			s.removed(root)
			continue
		}
		m := d.message(root)
		m.Welcome = s.welcome(root)
		s.out.Send(m)
	}
}

// removed ends all that runs on a node that the configuration no longer has, and the
// session with it. If there is a node of that name again, it registers anew.
func (s *Session) removed(root *state.Root) {
	for id, t := range s.told {
		s.forget(id, t)
	}
	s.flush(root)
	s.synced = false
	delete(s.d.sessions, s.name)
	delete(s.d.configs, s.name)
	s.out.Close(fmt.Errorf("node %s is no longer in the configuration of the cluster", s.name))
}

// Config is the serial of the configuration that a node last said it goes by; false
// if it said nothing since this controller leads.
func (d *Dispatcher) Config(node string) (serial uint64, heard bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	serial, heard = d.configs[node]
	return serial, heard
}
