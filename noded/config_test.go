package noded

import (
	"testing"
	"time"

	"muster/api/pb"
)

// A node takes what a new configuration says, says so at once, keeps to it when a
// leader that was sends an older one, and says it again on its next stream.
func TestANodeFollowsTheConfiguration(t *testing.T) {
	s := newSite(t)
	hour := &pb.Welcome{HeartbeatMs: 3_600_000, Config: 4, KillWaitS: 9}
	s.tell(&pb.ToNode{Welcome: hour})
	s.wait("word that the node goes by it", func() bool { return s.beat.GetConfig() == 4 })
	s.tell(&pb.ToNode{Welcome: &pb.Welcome{HeartbeatMs: 100, Config: 3, KillWaitS: 2}})
	s.tell(&pb.ToNode{Welcome: &pb.Welcome{HeartbeatMs: 3_600_000, Config: 5}})
	s.wait("word that the node goes by the next", func() bool { return s.beat.GetConfig() == 5 })
	killWait := make(chan time.Duration)
	s.node.do(t.Context(), func() { killWait <- s.node.goes.killWait })
	if got := <-killWait; got != 9*time.Second {
		t.Errorf("KillWait is %v, want the 9 s of configuration 4", got)
	}
	s.node.link.again()
	s.wait("another hello", func() bool { return s.hellos > 1 })
	if s.hello.Config != 5 {
		t.Errorf("the next hello says configuration %d", s.hello.Config)
	}
}
