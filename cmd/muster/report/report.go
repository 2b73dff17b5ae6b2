package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/api"
)

// Names are the reports.
func Names() []string { return []string{"usage", "efficiency", "waste", "waits", "utilization"} }

// Formats are the forms that a report is written in.
func Formats() []string { return []string{"text", "csv", "json", "html"} }

// Known refuses names of reports and formats that there are not.
func Known(name, format string) error {
	if !slices.Contains(Names(), name) {
		return fmt.Errorf("report %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("format %q: want one of %s", format, strings.Join(Formats(), ", "))
	}
	return nil
}

// Report is a table with what it is about. It says nothing of when it was made: of a
// period that is over, it is the same each time.
type Report struct {
	Name, Cluster, Period, From, To string
	Open                            bool // the period is not over: what is in it may grow
	Columns                         []string
	Labels                          int // how many columns are names; the rest are numbers
	Rows                            [][]string
	Bars                            int // column that the chart shows
}

// New makes a report by its name.
func New(name string, p Period, use *api.UseReply) *Report {
	const layout = "2006-01-02T15:04:05Z07:00"
	r := &Report{Name: name, Cluster: use.Cluster, Period: p.Word, From: p.From.Format(layout), To: p.To.Format(layout), Open: use.Now < use.To}
	switch name {
	case "usage":
		r.usage(use)
	case "efficiency":
		r.perUser(use, []string{"jobs", "failed", "cpu_hours_held", "cpu_hours_used", "cpu_percent", "gib_hours_held", "gib_hours_used", "memory_percent"}, efficiency, 4)
	case "waste":
		r.perUser(use, []string{"jobs", "cpu_hours_unused", "gib_hours_unused"}, waste, 3)
		slices.SortStableFunc(r.Rows, func(a, b []string) int { return compareNumbers(b[3], a[3]) })
		r.Rows = r.Rows[:min(len(r.Rows), 20)]
	case "waits":
		r.waits(use)
	case "utilization":
		r.utilization(use)
	}
	return r
}

// usage sums up what was held, by account and user, with a column for each type of GPU.
func (r *Report) usage(use *api.UseReply) {
	var gpus []string
	for i := range use.Rows {
		for _, a := range use.Rows[i].Held {
			if (a.Name == "gres/gpu" || strings.HasPrefix(a.Name, "gres/gpu:")) && !slices.Contains(gpus, a.Name) {
				gpus = append(gpus, a.Name)
			}
		}
	}
	slices.Sort(gpus)
	r.Columns, r.Labels, r.Bars = []string{"account", "user", "cpu_hours", "gib_hours", "node_hours", "billing_hours"}, 2, 2
	for _, g := range gpus {
		r.Columns = append(r.Columns, strings.TrimPrefix(g, "gres/")+"_hours")
	}
	byUser(use, func(account, user string, rows []*api.UseRow) {
		get := func(name string) (n uint64) {
			for _, row := range rows {
				n += row.Get(name)
			}
			return n
		}
		line := []string{account, user, hours(get("cpu")), gibHours(get("mem")), hours(get("node")), hours(get("billing"))}
		for _, g := range gpus {
			line = append(line, hours(get(g)))
		}
		r.Rows = append(r.Rows, line)
	})
}

// perUser has a line for each user of an account whose jobs ended in the period.
func (r *Report) perUser(use *api.UseReply, columns []string, values func(*api.UseDone) []string, bars int) {
	r.Columns, r.Labels, r.Bars = append([]string{"account", "user"}, columns...), 2, bars
	byUser(use, func(account, user string, rows []*api.UseRow) {
		var d api.UseDone
		for _, row := range rows {
			d.Add(&row.Done)
		}
		if d.Jobs > 0 {
			r.Rows = append(r.Rows, append([]string{account, user}, values(&d)...))
		}
	})
}

func efficiency(d *api.UseDone) []string {
	return []string{fmt.Sprint(d.Jobs), fmt.Sprint(d.Failed), hours(d.CPUHeld), hours(d.CPUUsed), percent(d.CPUUsed, d.CPUHeld), gibHours(d.MemHeld), gibHours(d.MemUsed), percent(d.MemUsed, d.MemHeld)}
}

func waste(d *api.UseDone) []string {
	return []string{fmt.Sprint(d.Jobs), hours(d.CPUHeld - min(d.CPUHeld, d.CPUUsed)), gibHours(d.MemHeld - min(d.MemHeld, d.MemUsed))}
}

// waits says how long the jobs that ended in the period were eligible before they
// started, by partition and QOS.
func (r *Report) waits(use *api.UseReply) {
	r.Columns, r.Labels, r.Bars = []string{"partition", "qos", "jobs", "mean_wait_minutes"}, 2, 3
	sums := map[[2]string]*api.UseDone{}
	var order [][2]string
	for i := range use.Rows {
		row := &use.Rows[i]
		k := [2]string{row.Partition, row.QOS}
		if sums[k] == nil {
			sums[k] = &api.UseDone{}
			order = append(order, k)
		}
		sums[k].Add(&row.Done)
	}
	slices.SortFunc(order, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range order {
		if d := sums[k]; d.Jobs > 0 {
			r.Rows = append(r.Rows, []string{k[0], k[1], fmt.Sprint(d.Jobs), fmt.Sprintf("%.1f", float64(d.Waited)/60/float64(d.Jobs))})
		}
	}
}

// utilization says what became of the cluster's time, by resource.
func (r *Report) utilization(use *api.UseReply) {
	r.Columns, r.Labels, r.Bars = []string{"resource", "allocated_hours", "down_hours", "planned_down_hours", "idle_hours", "planned_hours", "reported_hours", "used_percent", "available_percent"}, 1, 7
	for i := range use.Parts {
		p := &use.Parts[i]
		if p.Reported == 0 || p.Resource == "billing" {
			continue
		}
		line := []string{p.Resource}
		for _, n := range []uint64{p.Allocated, p.Down, p.PlannedDown, p.Idle, p.Planned, p.Reported} {
			if p.Resource == "mem" {
				line = append(line, gibHours(n))
			} else {
				line = append(line, hours(n))
			}
		}
		r.Rows = append(r.Rows, append(line, percent(p.Allocated, p.Reported), percent(p.Reported-min(p.Reported, p.Down+p.PlannedDown), p.Reported)))
	}
}

// byUser calls f with the rows of each user of each account, in order.
func byUser(use *api.UseReply, f func(account, user string, rows []*api.UseRow)) {
	var rows []*api.UseRow
	for i := range use.Rows {
		rows = append(rows, &use.Rows[i])
	}
	slices.SortStableFunc(rows, func(a, b *api.UseRow) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Account == rows[0].Account && rows[n].User == rows[0].User {
			n++
		}
		f(rows[0].Account, rows[0].User, rows[:n])
		rows = rows[n:]
	}
}

func hours(seconds uint64) string { return fmt.Sprintf("%.2f", float64(seconds)/3600) }

func gibHours(mbSeconds uint64) string { return fmt.Sprintf("%.2f", float64(mbSeconds)/3600/1024) }

func percent(part, whole uint64) string {
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(max(1, whole)))
}
