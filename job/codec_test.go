package job

import (
	"testing"

	"muster/internal/wire"
	"muster/internal/wiretest"
)

func TestCodecs(t *testing.T) {
	for _, m := range []wire.Message{
		new(Owner), new(Request), new(Size), new(Memory), new(GresRequest), new(Placement), new(Timing),
		new(Batch), new(Limit), new(Signal), new(Mail), new(Option), new(Dependency), new(Job), new(Array),
		new(ArrayBounds), new(Het), new(Times), new(Result), new(Usage), new(Cancel), new(Allocation),
		new(License), new(Share), new(DeviceShare), new(Step), new(Delay),
	} {
		wiretest.RoundTrip(t, m)
	}
}
