package partition

import (
	"testing"

	"muster/internal/wire"
	"muster/internal/wiretest"
)

func TestCodecs(t *testing.T) {
	for _, m := range []wire.Message{
		new(Cluster), new(Timers), new(Limits), new(Policy), new(DevicePolicy), new(Priority), new(TRESWeight), new(Node),
		new(Shape), new(Partition), new(Reservation), new(License),
	} {
		wiretest.RoundTrip(t, m)
	}
}
