// Package state is the replicated machine: versioned commands, Apply, immutable
// roots, indices, snapshots and the state hash. It is deterministic: no clock,
// no randomness, no floats, no goroutine, no file, no network.
package state

import (
	"io"
)

// Machine applies entries. One goroutine owns it; Root may be called by any.
type Machine struct {
	// owned by the state package
}

// New makes an empty machine.
func New() *Machine { panic("contract") }

// Apply applies one entry and publishes the root after it. There is one Result
// for each command, in order. The error is for an entry that cannot be decoded
// or is of a version this program does not know: the replica must stop.
func (m *Machine) Apply(index uint64, e *Entry) ([]Result, error) { panic("contract") }

// Root is the last published root.
func (m *Machine) Root() *Root { panic("contract") }

// Restore replaces everything by a snapshot.
func (m *Machine) Restore(r io.Reader) error { panic("contract") }
