package format

import (
	"fmt"
	"time"

	"muster/api"
	"muster/api/slurm"
)

// ReservationState is ACTIVE while a reservation's time runs.
func ReservationState(x *Context, r *api.ReservationRecord) string {
	if r.Start <= x.Now && x.Now <= r.End {
		return "ACTIVE"
	}
	return "INACTIVE"
}

// reservationLine is a line of sinfo -T; the first column is as wide as asked.
const reservationLine = "%-*s  %8s  %19s  %19s  %11s  %s\n"

// AppendReservationTable writes the table of sinfo --reservation.
func AppendReservationTable(dst []byte, x *Context, list []api.ReservationRecord, head bool) []byte {
	width := len("RESV_NAME")
	if head {
		for i := range list {
			width = max(width, len(list[i].Name))
		}
		dst = fmt.Appendf(dst, reservationLine, width, "RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST")
	}
	for i := range list {
		r := &list[i]
		span := slurm.AppendSpan(nil, int64(r.End.Sub(r.Start)/time.Second))
		dst = fmt.Appendf(dst, reservationLine, width, r.Name, ReservationState(x, r),
			x.Times.Append(nil, r.Start, "Unknown"), x.Times.Append(nil, r.End, "Unknown"), span, r.Nodes)
	}
	return dst
}
