package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"muster/api"
)

// watchSignals passes on what srun is sent: srun(1), SIGNALS AND ESCAPE
// SEQUENCES. The first SIGINT asks for the state, the second within a second goes
// to the tasks, the next one ends them.
func (s *stepIO) watchSignals() (stop func()) {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGALRM,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH)
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		var interrupts []time.Time
		for {
			select {
			case sig := <-ch:
				number := sig.(syscall.Signal)
				if number == syscall.SIGINT {
					interrupts = append(interrupts, time.Now())
					s.interrupted(interrupts)
					continue
				}
				s.signalled(number)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(done)
	}
}

func (s *stepIO) signalled(number syscall.Signal) {
	switch number {
	case syscall.SIGTERM, syscall.SIGHUP:
		fmt.Fprintln(s.c.in.stderr, "srun: forcing job termination")
		s.abort()
	case syscall.SIGWINCH:
		if rows, columns, ok := windowSize(0); ok && s.start.Terminal {
			s.send(&api.StepInput{Rows: rows, Columns: columns})
		}
	default:
		s.send(&api.StepInput{Signal: uint8(number)})
	}
}

// interrupted acts on a SIGINT by how many came before within a second each.
func (s *stepIO) interrupted(at []time.Time) {
	quick := 1
	for i := len(at) - 1; i > 0 && at[i].Sub(at[i-1]) < time.Second; i-- {
		quick++
	}
	if s.c.o.Run.NoStatus {
		quick++
	}
	w := s.c.in.stderr
	switch {
	case quick == 1:
		fmt.Fprintln(w, "srun: interrupt (one more within 1 sec to abort)")
		s.sayTasks()
	case quick == 2:
		s.say("sending Ctrl-C to %s", s.id())
		s.send(&api.StepInput{Signal: uint8(syscall.SIGINT)})
	default:
		fmt.Fprintln(w, "srun: forcing job termination")
		s.abort()
	}
}

// signalText is the C library's word for a signal, as srun prints it.
func signalText(n uint8) string {
	text := syscall.Signal(n).String()
	if text == "" {
		return fmt.Sprintf("Signal %d", n)
	}
	return string(text[0]&^0x20) + text[1:]
}

// rawTerminal hands the terminal of srun to the task's: keys go there as they
// are. restore undoes it.
func (s *stepIO) rawTerminal() (restore func()) {
	if rows, columns, ok := windowSize(0); ok {
		s.start.Rows, s.start.Columns = rows, columns
	}
	var old syscall.Termios
	if terminalCall(0, syscall.TCGETS, unsafe.Pointer(&old)) != 0 {
		return func() {}
	}
	raw := old
	raw.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	raw.Oflag &^= syscall.OPOST
	raw.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	raw.Cflag = raw.Cflag&^(syscall.CSIZE|syscall.PARENB) | syscall.CS8
	raw.Cc[syscall.VMIN], raw.Cc[syscall.VTIME] = 1, 0
	terminalCall(0, syscall.TCSETS, unsafe.Pointer(&raw))
	return func() { terminalCall(0, syscall.TCSETS, unsafe.Pointer(&old)) }
}

// windowSize is the size of a terminal.
func windowSize(fd int) (rows, columns uint16, ok bool) {
	var size struct{ rows, columns, x, y uint16 }
	errno := terminalCall(fd, syscall.TIOCGWINSZ, unsafe.Pointer(&size))
	return size.rows, size.columns, errno == 0 && size.rows > 0
}

func terminalCall(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno
}
