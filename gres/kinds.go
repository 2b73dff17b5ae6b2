package gres

import (
	"cmp"
	"slices"

	"muster/internal/bitset"
)

// Kind is all that a node has of one name and type.
type Kind struct {
	Name, Type string
	Total      uint64
	Index      *bitset.Set // device numbers; nil for a kind that is only counted
	Layout     *Layout     // of devices with numbers
}

// Kinds sums an inventory up, ordered by name, then type. What is free on a node
// is counted by position in this list.
func (v *Inventory) Kinds() []Kind {
	var out []Kind
	at := func(name, typ string) *Kind {
		for i := range out {
			if out[i].Name == name && out[i].Type == typ {
				return &out[i]
			}
		}
		out = append(out, Kind{Name: name, Type: typ})
		return &out[len(out)-1]
	}
	for i := range v.Devices {
		d := &v.Devices[i]
		k := at(d.Name, d.Type)
		if k.Index == nil {
			k.Index = &bitset.Set{}
		}
		if !k.Index.Has(d.Index) {
			k.Index.Add(d.Index)
			k.Total++
		}
	}
	for _, c := range v.Counts {
		at(c.Name, c.Type).Total += c.Count
	}
	for i := range out {
		if out[i].Index != nil {
			out[i].Layout = newLayout(v, out[i].Name, out[i].Type)
		}
	}
	slices.SortFunc(out, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	return out
}

// Match spreads a list over kinds: take[i] is what it asks of kind i when free[i]
// are free. An item with a type takes of that kind only; one without takes from
// the kind with the most free first (the first of equals). It is false when there
// is not enough. take must be as long as kinds and is added to.
func (s Spec) Match(kinds []Kind, free, take []int64) bool {
	for pass := range 2 {
		for _, it := range s {
			if it.Count == 0 || (it.Type != "") != (pass == 0) {
				continue
			}
			if !it.match(kinds, free, take) {
				return false
			}
		}
	}
	return true
}

func (it Item) match(kinds []Kind, free, take []int64) bool {
	want := int64(it.Count)
	for want > 0 {
		best := -1
		for i := range kinds {
			if kinds[i].Name != it.Name || it.Type != "" && kinds[i].Type != it.Type {
				continue
			}
			if left := free[i] - take[i]; left > 0 && (best < 0 || left > free[best]-take[best]) {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		n := min(want, free[best]-take[best])
		take[best] += n
		want -= n
	}
	return true
}

// Names lists the names of all kinds, each once, in order.
func Names(kinds []Kind) []string {
	var out []string
	for _, k := range kinds {
		if len(out) == 0 || out[len(out)-1] != k.Name {
			out = append(out, k.Name)
		}
	}
	return out
}
