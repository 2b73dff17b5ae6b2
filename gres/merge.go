package gres

// With is an inventory that was declared, with what was found out on the node:
// device files, ids, cores, network cards and links. What is declared stands; a
// node for which no devices are declared has those that were found.
func (v *Inventory) With(found *Inventory) Inventory {
	if v.Found || len(v.Devices)+len(v.Counts) == 0 {
		out := *found
		out.Found = true
		return out
	}
	out := *v
	out.Devices = append([]Device(nil), v.Devices...)
	for i := range out.Devices {
		d := &out.Devices[i]
		f := found.device(d.Name, d.Index)
		if f == nil {
			continue
		}
		if f.File != "" {
			d.File = f.File
		}
		if f.UUID != "" {
			d.UUID = f.UUID
		}
		if f.Cores != nil {
			d.Cores = f.Cores
		}
	}
	// A matrix of other devices than the declared ones would tell nothing of these.
	if n := v.count(linked) + len(found.NICs); len(found.Links) == n*n {
		out.NICs, out.Links = found.NICs, found.Links
	}
	return out
}

// device finds a device by name and number; nil if there is none.
func (v *Inventory) device(name string, index int) *Device {
	for i := range v.Devices {
		if d := &v.Devices[i]; d.Name == name && d.Index == index {
			return d
		}
	}
	return nil
}
