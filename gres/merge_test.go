package gres

import (
	"reflect"
	"testing"

	"muster/internal/bitset"
)

func TestWithWhatWasFound(t *testing.T) {
	links := Links{LinkOf(Self, 0), LinkOf(PIX, 0), LinkOf(PIX, 0), LinkOf(Self, 0)}
	found := &Inventory{Devices: []Device{{Name: "gpu", Type: "other", Index: 0, File: "/dev/a", UUID: "GPU-1", Cores: bitset.Of(1)}, {Name: "gpu", Index: 1, File: "/dev/b"}},
		NICs: []NIC{{Name: "mlx5_0"}}, Links: links}
	alone := *found
	alone.Found = true
	cases := []struct {
		name     string
		declared Inventory
		want     Inventory
	}{
		{"nothing declared", Inventory{}, alone},
		{"found before, less now", Inventory{Devices: []Device{{Name: "gpu", Index: 7}}, Found: true}, alone},
		{"one of two declared, with a type and a file", Inventory{Devices: []Device{{Name: "gpu", Type: "a100", File: "/dev/x", Visible: "V"}}},
			Inventory{Devices: []Device{{Name: "gpu", Type: "a100", File: "/dev/a", UUID: "GPU-1", Cores: bitset.Of(1), Visible: "V"}}, NICs: found.NICs, Links: links}},
		{"more declared than found: the links are of others", Inventory{Devices: []Device{{Name: "gpu"}, {Name: "gpu", Index: 1}, {Name: "gpu", Index: 2, File: "/dev/x"}}},
			Inventory{Devices: []Device{{Name: "gpu", File: "/dev/a", UUID: "GPU-1", Cores: bitset.Of(1)}, {Name: "gpu", Index: 1, File: "/dev/b"}, {Name: "gpu", Index: 2, File: "/dev/x"}}}},
		{"counts only", Inventory{Counts: []Item{{Name: "disk", Count: 5}}}, Inventory{Counts: []Item{{Name: "disk", Count: 5}}}},
	}
	for _, c := range cases {
		before := Inventory{Devices: append([]Device(nil), c.declared.Devices...), Counts: c.declared.Counts, Found: c.declared.Found}
		if got := c.declared.With(found); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if !reflect.DeepEqual(c.declared, before) {
			t.Errorf("%s: what was declared has changed", c.name)
		}
	}
}
