package shepherd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// listenFD is where the daemon that starts a shepherd leaves the socket.
const listenFD = 3

// Main is the program: it serves the socket that it was started with until it is
// killed. args are the command line without the program's name.
func Main(args []string) error {
	flags := flag.NewFlagSet("muster-shepherd", flag.ContinueOnError)
	host := flags.String("hostname", "", "host name for this process and its jobs, which have their own UTS name space")
	if err := flags.Parse(args); err != nil {
		return err
	}
	unix.CloseOnExec(listenFD)
	f := os.NewFile(listenFD, socketName)
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("descriptor %d is no socket (%w); the node daemon starts this program, do not start it by hand", listenFD, err)
	}
	ul, ok := l.(*net.UnixListener)
	if !ok {
		return errors.New("the socket is no unix socket")
	}
	ul.SetUnlinkOnClose(false)
	if *host != "" {
		if err := unix.Sethostname([]byte(*host)); err != nil {
			return fmt.Errorf("set the host name %s: %w", *host, err)
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := NewServer(log)
	if err != nil {
		return err
	}
	log.Info("shepherd ready", "pid", os.Getpid(), "instance", s.instance)
	return s.Serve(context.Background(), ul)
}
