package state

import (
	"errors"
	"fmt"

	"muster/internal/wire"
)

// ErrUnknown is wrapped by errors about entries, commands and snapshots that
// this program does not know: it is too old for what the cluster does.
var ErrUnknown = errors.New("state: not known to this version of the program")

// entryFormat is the first byte of every entry in the raft log.
const entryFormat = 1

// Encode appends the bytes of an entry for the raft log.
func (e *Entry) Encode(dst []byte) []byte {
	return wire.Encode(append(dst, entryFormat), e)
}

// DecodeEntry reads what Encode wrote.
func DecodeEntry(b []byte) (*Entry, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: an empty entry", wire.ErrCorrupt)
	}
	if b[0] != entryFormat {
		return nil, fmt.Errorf("%w: entry format %d (known: %d); upgrade this controller", ErrUnknown, b[0], entryFormat)
	}
	e := new(Entry)
	if err := wire.Decode(b[1:], e); err != nil {
		return nil, fmt.Errorf("decode raft entry: %w", err)
	}
	return e, nil
}

// Seal makes an envelope of a command. FirstTry is left to the caller.
func Seal(c Command, by Actor, req RequestID) Envelope {
	return Envelope{Kind: c.Kind(), Body: wire.Encode(nil, c), By: by, Request: req}
}

// Open decodes the command in an envelope.
func (e *Envelope) Open() (Command, error) {
	c := newCommand(e.Kind)
	if c == nil {
		return nil, fmt.Errorf("%w: command kind %d; upgrade this controller", ErrUnknown, e.Kind)
	}
	if err := wire.Decode(e.Body, c); err != nil {
		return nil, fmt.Errorf("decode command of kind %d: %w", e.Kind, err)
	}
	return c, nil
}
