package api

import (
	"fmt"
	"syscall"

	"muster/internal/wire"
)

// StepStream is a step that runs: events come from it while input goes to it.
// Next is for one goroutine and Send for another.
type StepStream struct {
	client *Client
	buf    []byte
	out    []byte
}

// Run starts the tasks of a step. The connection is the step's from now on; when
// it is closed, the tasks are killed.
func (c *Client) Run(start *StepStart) (*StepStream, error) {
	call := &Call{Method: MethodRun, Body: wire.Encode(nil, start)}
	c.prepare(call)
	out, err := AppendMessage(nil, FrameCall, call)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", call.Method, err)
	}
	if c.conn == nil {
		return nil, &NoAgentError{Socket: c.path, Err: syscall.ENOTCONN}
	}
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := c.conn.timeout(option, 0); err != nil {
			return nil, err
		}
	}
	if _, err := c.conn.Write(out); err != nil {
		return nil, lost(err)
	}
	return &StepStream{client: c}, nil
}

// Next waits for the next event; false when the step has ended. What is in the
// event is the reader's until the next call.
func (s *StepStream) Next(e *StepEvent) (bool, error) {
	kind, payload, err := ReadFrame(s.client.in, s.buf)
	if err != nil {
		return false, lost(err)
	}
	s.buf = payload
	switch kind {
	case FrameChunk:
		if err := wire.Decode(payload, e); err != nil {
			return false, fmt.Errorf("event of the step: %w", err)
		}
		return true, nil
	case FrameEnd:
		end := new(End)
		if err := wire.Decode(payload, end); err != nil {
			return false, fmt.Errorf("end of the step: %w", err)
		}
		if end.Err != nil {
			return false, end.Err
		}
		return false, nil
	}
	return false, fmt.Errorf("the step: %w: kind %d", ErrFrame, kind)
}

// Send sends input to the tasks. It waits while they take none.
func (s *StepStream) Send(in *StepInput) error {
	var err error
	if s.out, err = AppendMessage(s.out[:0], FrameInput, in); err != nil {
		return err
	}
	if _, err := s.client.conn.Write(s.out); err != nil {
		return lost(err)
	}
	return nil
}
