package ctld

import (
	"log/slog"
	"strings"
	"time"

	"muster/api/slurm"
	"muster/ctld/admit"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// purgeComp is how long a reservation with PURGE_COMP may be without jobs, unless
// the flag says how long (scontrol(1)).
const purgeComp = 5 * time.Minute

// reserving moves recurring reservations on, replaces nodes, and takes those away
// whose time is over.
type reserving struct {
	idle map[string]job.Time // since when a reservation is known to have no jobs
	log  *slog.Logger
}

// due makes the commands for what is due at a moment.
func (v *reserving) due(root *state.Root, now job.Time) []state.Command {
	var list []state.Command
	idle := make(map[string]job.Time)
	for r := range root.Reservations() {
		switch {
		case r.End != 0 && r.End <= now:
			list = append(list, v.over(root, r, now)...)
		case r.Start <= now && v.purged(root, r, now, idle):
			v.log.Info("a reservation that nobody uses goes", "reservation", r.Name, "flags", r.Flags)
			list = append(list, &state.Reservation{Delete: true, Value: *r})
		default:
			if next, ok := admit.Replenished(root, now, r); ok {
				v.log.Info("nodes of a reservation are replaced", "reservation", r.Name, "nodes", next.NodeList, "before", r.NodeList)
				list = append(list, &state.Reservation{Value: *next})
			}
		}
	}
	v.idle = idle
	return list
}

// over is what becomes of a reservation that has ended: its next occurrence, or
// nothing, once no job is left in it.
func (v *reserving) over(root *state.Root, r *partition.Reservation, now job.Time) []state.Command {
	zone, err := time.LoadLocation(root.Cluster().TimeZone)
	if err != nil {
		v.log.Error("a reservation cannot recur: the cluster's time zone is not known on this controller", "reservation", r.Name, "err", err)
		return nil
	}
	next := *r
	for next.End <= now {
		start, ok := admit.NextOccurrence(r, next.Start, zone)
		if !ok {
			if admit.InUse(root, r.Name) {
				return nil
			}
			return []state.Command{&state.Reservation{Delete: true, Value: *r}}
		}
		next.Start, next.End = start, start+(r.End-r.Start)
	}
	return []state.Command{&state.Reservation{Value: next}}
}

// purged tells whether a reservation with PURGE_COMP has had no jobs for long enough,
// and notes since when. A new leader begins to count anew.
func (v *reserving) purged(root *state.Root, r *partition.Reservation, now job.Time, idle map[string]job.Time) bool {
	wait, ok := purgeAfter(r)
	if !ok || admit.Wanted(root, r.Name) {
		return false
	}
	since, ok := v.idle[r.Name]
	if !ok {
		since = now
	}
	idle[r.Name] = since
	return now.Sub(since) >= wait
}

// purgeAfter reads PURGE_COMP[=hh:mm:ss].
func purgeAfter(r *partition.Reservation) (time.Duration, bool) {
	for _, f := range r.Flags {
		name, text, timed := strings.Cut(f, "=")
		if name != partition.PurgeComp {
			continue
		}
		if seconds, err := slurm.ParseSeconds(text); timed && err == nil {
			return time.Duration(seconds) * time.Second, true
		}
		return purgeComp, true
	}
	return 0, false
}
