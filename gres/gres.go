// Package gres is about a node's devices (GPU, MIG slice, NIC, NUMA domain), the
// links between them, and the choice of the best ones for a job.
package gres

import (
	"muster/internal/bitset"
)

// Item asks for a count of one kind of device, of a given type or of any.
type Item struct {
	Name  string // gpu, nic, shard, …
	Type  string // a100, 1g.10gb, …; "" is any
	Count uint64
}

// Spec is a list of items, as --gres and --gpus give it.
type Spec []Item

// Device is one device of a node.
type Device struct {
	Name  string
	Type  string
	Index int    // number among the node's devices of this name
	File  string // device file, "" if it is only counted
	UUID  string
	Cores *bitset.Set // cores near it; nil: all
	// Visible is the variables, separated by commas, that tell programs which of
	// these devices they may use; "": those that are usual for the name and type.
	Visible string
}

// Inventory is what a node has of all kinds.
type Inventory struct {
	Devices []Device // with numbers, by name then index
	Counts  []Item   // kinds that are only counted
	NICs    []NIC
	Links   Links
	Found   bool // nothing is declared: it is as the node reported it
}
