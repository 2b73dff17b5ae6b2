package api

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"muster/internal/wire"
)

// ErrFrame is wrapped by the error of a frame that breaks the rules of the
// socket: no more can be read from that connection.
var ErrFrame = errors.New("malformed frame")

// frameHead is the length of what precedes a frame's payload.
const frameHead = 5

// frameStep is how much of a long frame is made room for before it has arrived,
// so that a length alone never costs its reader memory.
const frameStep = 64 << 10

// ReadFrame reads one frame. The payload is in buf if it fits, and is the
// reader's until its next use of buf. The error is io.EOF only if the stream
// ended between two frames.
func ReadFrame(r io.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size < 1 || size > MaxFrame {
		return 0, nil, fmt.Errorf("%w: length %d, want 1 to %d", ErrFrame, size, MaxFrame)
	}
	payload, err = readN(r, buf[:0], int(size-1))
	return head[4], payload, err
}

// readN appends n bytes of r to buf.
func readN(r io.Reader, buf []byte, n int) ([]byte, error) {
	for n > 0 {
		room := cap(buf) - len(buf)
		if room == 0 {
			grown := make([]byte, len(buf), len(buf)+min(n, max(frameStep, len(buf))))
			copy(grown, buf)
			buf, room = grown, cap(grown)-len(buf)
		}
		step := min(n, room)
		got, err := io.ReadFull(r, buf[len(buf):len(buf)+step])
		buf, n = buf[:len(buf)+got], n-got
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// AppendFrame appends one frame to dst; a payload that is too long is an error.
func AppendFrame(dst []byte, kind byte, payload []byte) ([]byte, error) {
	if len(payload) >= MaxFrame {
		return dst, tooLong(len(payload))
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)+1))
	return append(append(dst, kind), payload...), nil
}

// AppendMessage appends one frame that holds m.
func AppendMessage(dst []byte, kind byte, m wire.Message) ([]byte, error) {
	at := len(dst)
	dst = wire.Encode(append(dst, 0, 0, 0, 0, kind), m)
	size := len(dst) - at - frameHead
	if size >= MaxFrame {
		return dst[:at], tooLong(size)
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(size+1))
	return dst, nil
}

// WriteFrame writes one frame with one call of Write.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	b, err := AppendFrame(make([]byte, 0, frameHead+len(payload)), kind, payload)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func tooLong(n int) error {
	return fmt.Errorf("%w: a message of %d bytes is longer than the %d that fit", ErrFrame, n, MaxFrame-1)
}
