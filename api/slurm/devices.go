package slurm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Device is a device of a node that a process can open.
type Device struct {
	Name, Type string
	Index      int    // the node's number
	UUID       string // "" if it has none
	File       string
	Variables  string // that tell programs which devices to use, separated by commas; "": the usual ones
	Given      bool   // the process is to use it
}

// variables are the names by which each maker's library is told which devices to
// use (CUDA C++ Programming Guide, "CUDA Environment Variables"; ROCm, "GPU
// isolation techniques"; Level Zero; CANN; CNRT).
func (d *Device) variables() []string {
	switch {
	case d.Variables != "":
		return strings.Split(d.Variables, ",")
	case d.Name == "npu", d.Name == "gpu" && strings.HasPrefix(strings.ToLower(d.Type), "ascend"):
		return []string{"ASCEND_RT_VISIBLE_DEVICES"}
	case d.Name == "mlu":
		return []string{"MLU_VISIBLE_DEVICES"}
	case d.Name == "dcu":
		return []string{"HIP_VISIBLE_DEVICES"}
	case d.Name == "gpu":
		return []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"}
	}
	return nil
}

// migPrefix begins the id of a slice of an NVIDIA GPU, which has no number that
// CUDA takes.
const migPrefix = "MIG-"

// VisibleDevices are NAME=value for the devices given to a process, of those that
// it can open. With constrained it can open no others, and libraries number what
// they find from 0, in the order of the device files; else the values are the
// node's numbers. Slices of NVIDIA's GPUs are named by their ids.
func VisibleDevices(open []Device, constrained bool) []string {
	open = slices.Clone(open)
	slices.SortStableFunc(open, func(a, b Device) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.File), len(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Index, b.Index))
	})
	var names []string
	lists, seen := map[string][]string{}, map[string]int{}
	for i := range open {
		d := &open[i]
		for _, name := range d.variables() {
			number := d.Index
			if constrained {
				number = seen[name]
			}
			seen[name]++
			if !d.Given {
				continue
			}
			id := strconv.Itoa(number)
			if strings.HasPrefix(d.UUID, migPrefix) {
				id = d.UUID
			}
			if lists[name] == nil {
				names = append(names, name)
			}
			lists[name] = append(lists[name], id)
		}
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + "=" + strings.Join(lists[name], ",")
	}
	return out
}
