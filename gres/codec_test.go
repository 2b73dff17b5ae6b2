package gres

import (
	"testing"

	"muster/internal/wire"
	"muster/internal/wiretest"
)

func TestCodecs(t *testing.T) {
	for _, m := range []wire.Message{new(Item), new(Device), new(Inventory), new(NIC)} {
		wiretest.RoundTrip(t, m)
	}
}
