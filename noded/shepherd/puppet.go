package shepherd

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// puppet is a traced child that stands at the first instruction of its program
// and is made to call the kernel before it runs: an instruction for that is put
// where it stands, with registers to suit. Afterwards it is as it was.
type puppet struct {
	pid   int
	regs  registers // as they were
	text  []byte    // what is where it stands
	below uintptr   // memory below its stack, which nothing uses yet
}

// errMachine is why a child can't be a puppet.
var errMachine = errors.New("the program is not of this machine's own kind")

// puppetOf remembers how a child stands.
func puppetOf(pid int) (*puppet, error) {
	p := &puppet{pid: pid, text: make([]byte, len(callKernel))}
	if err := getRegisters(pid, &p.regs); err != nil {
		return nil, fmt.Errorf("registers of process %d: %w", pid, err)
	}
	if !native(&p.regs) {
		return nil, errMachine
	}
	p.below = stackOf(&p.regs)&^15 - 256
	if _, err := unix.PtracePeekText(pid, standsAt(&p.regs), p.text); err != nil {
		return nil, fmt.Errorf("program of process %d: %w", pid, err)
	}
	if _, err := unix.PtracePokeText(pid, standsAt(&p.regs), callKernel); err != nil {
		return nil, fmt.Errorf("program of process %d: %w", pid, err)
	}
	return p, nil
}

// release puts everything back. A child that can't be put back must not run: the
// caller's next call on it, to let it go, is its last, so it is killed here.
func (p *puppet) release() {
	_, err := unix.PtracePokeText(p.pid, standsAt(&p.regs), p.text)
	if err := errors.Join(err, setRegisters(p.pid, &p.regs)); err != nil {
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

// setLimit is setLimit by the child itself: it may lower its limits and raise
// them to the hard ones.
func (p *puppet) setLimit(l Limit) error {
	old := make([]byte, 16) // struct rlimit64: soft, hard
	if err := p.call(unix.SYS_PRLIMIT64, 0, uint64(l.Resource), 0, uint64(p.below)); err != nil {
		return err
	}
	if _, err := unix.PtracePeekData(p.pid, p.below, old); err != nil {
		return err
	}
	soft, hard := binary.NativeEndian.Uint64(old), binary.NativeEndian.Uint64(old[8:])
	want := min(l.Value, hard)
	if want == soft {
		return nil
	}
	binary.NativeEndian.PutUint64(old, want)
	if _, err := unix.PtracePokeData(p.pid, p.below, old); err != nil {
		return err
	}
	return p.call(unix.SYS_PRLIMIT64, 0, uint64(l.Resource), uint64(p.below), 0)
}

// call has the child call the kernel and returns the kernel's error.
func (p *puppet) call(number uint64, args ...uint64) error {
	r := p.regs
	setCall(&r, number, args)
	if err := setRegisters(p.pid, &r); err != nil {
		return fmt.Errorf("registers of process %d: %w", p.pid, err)
	}
	if err := unix.PtraceSingleStep(p.pid); err != nil {
		return fmt.Errorf("step of process %d: %w", p.pid, err)
	}
	if err := awaitStop(p.pid); err != nil {
		return err
	}
	if err := getRegisters(p.pid, &r); err != nil {
		return fmt.Errorf("registers of process %d: %w", p.pid, err)
	}
	if code := int64(result(&r)); code < 0 && code > -4096 {
		return unix.Errno(-code)
	}
	return nil
}

// awaitStop waits until a traced child stands still.
func awaitStop(pid int) error {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return fmt.Errorf("wait for process %d: %w", pid, err)
		}
	}
	if !ws.Stopped() {
		return fmt.Errorf("process %d ended before it began", pid)
	}
	return nil
}
