package shepherd

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"muster/internal/wire"
)

// maxFrame is the longest message: an environment and a list of arguments
// can't be longer than what exec takes (a few MiB).
const maxFrame = 16 << 20

// appendFrame appends m behind its length, four bytes big-endian.
func appendFrame(b []byte, m wire.Message) []byte {
	at := len(b)
	b = wire.Encode(append(b, 0, 0, 0, 0), m)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// readFrame reads one message into m, a zero value. It returns io.EOF when the
// other side has closed between two messages.
func readFrame(r *bufio.Reader, m wire.Message) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("a message of %d bytes, at most %d are taken", n, maxFrame)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("message cut off: %w", err)
	}
	return wire.Decode(b, m)
}
