package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// report is one of sreport's: how it is made and what it takes.
type report struct {
	title   string
	heads   []head
	options string // names it takes besides start, end and format, separated by blanks
	seconds bool   // the length of the period is in the title
	rows    func(r *useReport) *api.Table
}

// useReport is a report being made.
type useReport struct {
	*report
	use     api.UseReply
	unit    timeUnit
	tres    []string // of -T, else cpu
	byTRES  bool     // -T was given
	words   map[string]string
	widths  map[string]uint64 // highest number of seconds by the field it is shown in
	columns []head
}

// reportNames are the reports by their kind, in Slurm's words (sreport(1)).
func reportNames() map[string][]string {
	return map[string][]string{
		"cluster":     {"AccountUtilizationByUser", "UserUtilizationByAccount", "UserUtilizationByWckey", "WCKeyUtilizationByUser", "Utilization"},
		"job":         {"SizesByAccount"},
		"reservation": {"Utilization"},
		"user":        {"TopUsage"},
	}
}

// reportOf finds a report by its two words, of which the start is enough.
func reportOf(words []string) (*report, error) {
	if len(words) < 2 {
		return nil, fmt.Errorf("name a report, such as: cluster AccountUtilizationByUser")
	}
	kinds := reportNames()
	for kind, names := range kinds {
		if !strings.HasPrefix(kind, strings.ToLower(words[0])) {
			continue
		}
		for _, name := range names {
			if strings.HasPrefix(strings.ToLower(name), strings.ToLower(words[1])) {
				return newReport(kind + " " + name), nil
			}
		}
	}
	return nil, fmt.Errorf("%s: not a report of this version", strings.Join(words[:2], " "))
}

func newReport(name string) *report {
	user, account := head{"Login", 9, "login", ""}, head{"Account", 15, "account", "accounts"}
	cluster, proper := head{"Cluster", 9, "cluster", ""}, head{"Proper Name", 15, "proper", ""}
	used, energy, wckey := head{"Used", 10, "used", ""}, head{"Energy", 10, "energy", ""}, head{"Wckey", 15, "wckey", ""}
	switch name {
	case "cluster AccountUtilizationByUser":
		return &report{"Cluster/Account/User Utilization", []head{cluster, account, user, proper, used, energy}, "accounts users tree", true, (*useReport).byAccount}
	case "cluster UserUtilizationByAccount":
		return &report{"Cluster/User/Account Utilization", []head{cluster, user, proper, account, used, energy}, "accounts users", true, (*useReport).byUser}
	case "cluster UserUtilizationByWckey":
		return &report{"Cluster/User/WCKey Utilization", []head{cluster, user, proper, wckey, used}, "users wckeys", true, (*useReport).byUserKey}
	case "cluster WCKeyUtilizationByUser":
		return &report{"Cluster/WCKey/User Utilization", []head{cluster, wckey, user, proper, used}, "users wckeys", true, (*useReport).byKey}
	case "cluster Utilization":
		return &report{"Cluster Utilization", utilizationHeads(), "", false, (*useReport).utilization}
	case "job SizesByAccount":
		return &report{"Job Sizes", nil, "accounts flatview grouping printjobcount users", true, nil}
	case "reservation Utilization":
		return &report{"Reservation Utilization", reservationHeads(), "names", false, (*useReport).reservations}
	}
	return &report{"Top 10 Users", []head{cluster, user, proper, account, used, energy}, "accounts users group topcount", true, (*useReport).top}
}

func utilizationHeads() []head {
	return []head{{"Cluster", 9, "cluster", ""}, {"Allocated", 8, "allocated", ""}, {"Down", 8, "down", ""}, {"PLND Down", 8, "planneddown", "plnddown"},
		{"Idle", 8, "idle", ""}, {"Planned", 8, "planned", "reserved"}, {"Reported", 8, "reported", ""}}
}

func reservationHeads() []head {
	return []head{{"Cluster", 9, "cluster", ""}, {"Name", 9, "name", ""}, {"Start", 19, "start", ""}, {"End", 19, "end", ""}, {"TRES Name", 14, "tresname", ""},
		{"Allocated", 20, "allocated", ""}, {"Idle", 20, "idle", ""}}
}

func sreportFlags() []slurm.Flag {
	return []slurm.Flag{
		{Name: "all_clusters", Short: 'a', Note: oneCluster}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
		{Name: "federation", Note: oneCluster}, {Name: "local", Note: oneCluster}, {Name: "quiet", Short: 'Q'}, {Name: "time", Short: 't', Arg: slurm.RequiredArg},
		{Name: "tres", Short: 'T', Arg: slurm.RequiredArg}, {Name: "verbose", Short: 'v', Note: wordy},
	}
}

// sreport reports use: sreport(1). What runs counts up to now, and hours that are not
// over are in it: nothing waits for a roll-up.
func sreport(in *invocation) int {
	o, rest, code := in.tableFlags(sreportFlags(), "n")
	if code != 0 || o.stop {
		return code
	}
	rep, err := reportOf(rest)
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	r := &useReport{report: rep, words: map[string]string{}, widths: map[string]uint64{}}
	from, to, err := r.read(in, rest[2:], o)
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	if rep.rows == nil {
		return in.sizes(r, from, to, o)
	}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed(in.name, err)
	}
	defer c.Close()
	if err := read(c, api.MethodUse, &api.UseQuery{From: job.TimeOf(from), To: job.TimeOf(to)}, &r.use); err != nil {
		return in.loadFailed(in.name, err)
	}
	return in.printReport(r, rep.rows(r), o)
}

// read reads options and the words after the report's name.
func (r *useReport) read(in *invocation, list []string, o *tableOptions) (from, to time.Time, err error) {
	now := in.now()
	y, m, d := now.Date()
	from, to = time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	if r.unit, err = timeUnitOf(o.flags["time"]); err != nil {
		return from, to, err
	}
	r.byTRES, r.tres = o.has("tres"), []string{"cpu"}
	if r.byTRES {
		r.tres = words(strings.ToLower(o.flags["tres"]))
	}
	for _, w := range list {
		key, value, valued := strings.Cut(w, "=")
		key = strings.ToLower(key)
		switch {
		case key != "" && valued && strings.HasPrefix("start", key):
			from, err = slurm.ParseTime(value, now, slurm.Past)
		case key != "" && valued && strings.HasPrefix("end", key):
			to, err = slurm.ParseTime(value, now, slurm.Past)
		case key != "" && valued && strings.HasPrefix("format", key):
			o.format = value
		default:
			i := slices.IndexFunc(strings.Fields(r.options), func(name string) bool { return key != "" && strings.HasPrefix(name, key) })
			if i < 0 {
				err = fmt.Errorf("Unknown condition: %s", w)
				break
			}
			name := strings.Fields(r.options)[i]
			if n, bad := strconv.Atoi(value); name == "topcount" && (bad != nil || n < 1) {
				err = fmt.Errorf("Invalid topcount %q: give a number of users from 1 up", value)
				break
			}
			r.words[name] = value
		}
		if err != nil {
			return from, to, err
		}
	}
	if !from.Before(to) {
		return from, to, fmt.Errorf("the start of the period is not before its end")
	}
	return from, to, nil
}

// printReport prints the head lines and the table.
func (in *invocation) printReport(r *useReport, t *api.Table, o *tableOptions) int {
	chosen := r.columnHeads(o.format == "")
	if o.format != "" {
		var err error
		if chosen, err = chooseHeads(chosen, o.format); err != nil {
			in.errorf("%s", strings.TrimSpace(err.Error()))
			return 1
		}
	}
	if !o.noHeader {
		in.reportTitle(r, "Usage reported in "+r.what()+" "+r.unit.words())
	}
	in.printTable(chosen, t, o)
	return 0
}

func (in *invocation) reportTitle(r *useReport, second string) {
	zone, err := time.LoadLocation(r.use.Zone)
	if err != nil {
		zone = time.UTC
	}
	const layout = "2006-01-02T15:04:05"
	rule := strings.Repeat("-", 80)
	length := ""
	if r.seconds {
		length = fmt.Sprintf(" (%d secs)", (r.use.To-r.use.From)/1000)
	}
	title := r.title
	if n := r.words["topcount"]; n != "" {
		title = strings.Replace(title, "10", n, 1)
	}
	fmt.Fprintf(in.stdout, "%s\n%s %s - %s%s\n%s\n%s\n", rule, title, r.use.From.Std().In(zone).Format(layout),
		(r.use.To - 1000).Std().In(zone).Format(layout), length, second, rule)
}

// what is what the second head line says is reported.
func (r *useReport) what() string {
	if r.byTRES || r.title == "Reservation Utilization" {
		return "TRES"
	}
	return "CPU"
}

// columnHeads are the columns as wide as their highest number makes them.
func (r *useReport) columnHeads(standard bool) []head {
	heads := slices.Clone(r.heads)
	if r.byTRES && r.title != "Reservation Utilization" {
		at := slices.IndexFunc(heads, func(h head) bool { return h.field == "used" || h.field == "allocated" })
		if at >= 0 {
			heads = slices.Insert(heads, at, head{"TRES Name", 14, "tresname", ""})
		}
		if standard { // energy is a resource of its own then
			heads = slices.DeleteFunc(heads, func(h head) bool { return h.field == "energy" })
		}
	}
	_, tree := r.words["tree"]
	for i := range heads {
		h := &heads[i]
		switch {
		case h.field == "account" && tree:
			h.width = -20
		case slices.Contains([]string{"used", "energy", "allocated", "down", "planneddown", "idle", "planned", "reported"}, h.field) && r.title != "Reservation Utilization":
			h.width = r.unit.width(r.widths[h.field])
		case r.unit.percent && r.unit.per > 0 && (h.field == "allocated" || h.field == "idle"):
			h.width = 29
		}
	}
	return heads
}

// amount writes seconds of a field, a part of a whole.
func (r *useReport) amount(field string, seconds, whole uint64) string {
	r.widths[field] = max(r.widths[field], seconds)
	return r.unit.text(seconds, whole)
}

// parts finds what became of a resource's time.
func (r *useReport) parts(resource string) *api.UseParts {
	for i := range r.use.Parts {
		if r.use.Parts[i].Resource == resource {
			return &r.use.Parts[i]
		}
	}
	return &api.UseParts{Resource: resource}
}

// timeUnit is how -t wants time written.
type timeUnit struct {
	per     float64 // seconds of one unit; 0: only the part of the whole
	percent bool
	name    string
}

// timeUnitOf reads -t (sreport(1)).
func timeUnitOf(word string) (timeUnit, error) {
	units := []struct {
		word  string
		least int
		unit  timeUnit
	}{
		{"secper", 6, timeUnit{1, true, "Seconds/Percentage of Total"}}, {"minper", 6, timeUnit{60, true, "Minutes/Percentage of Total"}},
		{"hourper", 6, timeUnit{3600, true, "Hours/Percentage of Total"}}, {"seconds", 1, timeUnit{1, false, "Seconds"}},
		{"minutes", 1, timeUnit{60, false, "Minutes"}}, {"hours", 1, timeUnit{3600, false, "Hours"}}, {"percent", 1, timeUnit{0, true, "Percentage of Total"}},
	}
	if word == "" {
		return units[4].unit, nil
	}
	word = strings.ToLower(word)
	for _, u := range units {
		if len(word) >= u.least && strings.HasPrefix(u.word, word) {
			return u.unit, nil
		}
	}
	return timeUnit{}, fmt.Errorf("unknown time format %s", word)
}

func (u timeUnit) words() string { return u.name }

// text writes seconds, rounded to the nearest unit.
func (u timeUnit) text(seconds, whole uint64) string {
	part := fmt.Sprintf("%.2f%%", float64(seconds)/float64(max(1, whole))*100)
	switch {
	case u.per == 0:
		return part
	case u.percent:
		return fmt.Sprintf("%.0f(%s)", float64(seconds)/u.per, part)
	}
	return strconv.FormatFloat(float64(seconds)/u.per, 'f', 0, 64)
}

// width is how wide a column has to be for a number of seconds, as Slurm has it.
func (u timeUnit) width(seconds uint64) int {
	width := 8
	for order := uint64(100_000_000); seconds >= order && width < 19; order *= 10 {
		width++
	}
	if u.percent && u.per > 0 {
		width += 9
	}
	return width
}
