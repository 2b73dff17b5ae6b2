// Package salvage brings a cluster back whose controllers cannot: from the one
// controller that is left, or from a backup.
package salvage

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/conf"
	"muster/ctld/store"
)

// answerTime is how long another controller may take to take a connection.
const answerTime = 2 * time.Second

// Recover makes a stopped controller the only one of its cluster, after the loss of
// the others for good; data is its data directory, file the cluster file. It refuses while
// another controller of the file answers. It returns the controller's name and the raft
// index at which its state stands.
func Recover(ctx context.Context, data string, file *conf.File, log *slog.Logger) (name string, index uint64, err error) {
	cluster, name, err := store.Owner(data)
	if err != nil {
		return "", 0, err
	}
	if there := answering(ctx, file, name); len(there) > 0 {
		return name, 0, fmt.Errorf("controllers answer that would be shut out: %s; stop them, or use muster controllers while they have a majority",
			strings.Join(there, ", "))
	}
	index, err = store.Recover(store.Config{Cluster: cluster, Name: name, Dir: data, Members: members(file), Log: log})
	return name, index, err
}

func members(file *conf.File) []store.Member {
	var out []store.Member
	for _, d := range file.Controllers {
		out = append(out, store.Member{Name: d.Name, Address: addresses(d)[0], Votes: d.Votes})
	}
	return out
}

func addresses(d conf.Daemon) []string {
	hosts := d.Addresses
	if len(hosts) == 0 {
		hosts = []string{d.Name}
	}
	var out []string
	for _, h := range hosts {
		out = append(out, net.JoinHostPort(h, strconv.Itoa(int(d.Port))))
	}
	return out
}

// answering lists the controllers, this one too, on whose port somebody listens.
func answering(ctx context.Context, file *conf.File, self string) []string {
	there := make([]bool, len(file.Controllers))
	var questions sync.WaitGroup
	for i, d := range file.Controllers {
		questions.Go(func() {
			for _, a := range addresses(d) {
				ctx, cancel := context.WithTimeout(ctx, answerTime)
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", a)
				cancel()
				if err == nil {
					conn.Close()
					there[i] = true
				}
			}
		})
	}
	questions.Wait()
	var out []string
	for i, d := range file.Controllers {
		if !there[i] {
			continue
		}
		name := d.Name
		if name == self {
			name += " (this one)"
		}
		out = append(out, name)
	}
	return out
}
