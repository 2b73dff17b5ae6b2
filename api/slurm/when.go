package slurm

import (
	"fmt"
	"strings"
	"time"
)

// TimeError is a time that could not be read. Slurm prints it on a line of its
// own before the message of the option.
type TimeError struct {
	Text string
	Pos  int // byte at which the reading stopped
}

// Error is Slurm's line.
func (e *TimeError) Error() string {
	return fmt.Sprintf("Invalid time specification (pos=%d): %s", e.Pos, e.Text)
}

// Towards says where an incomplete time is looked for.
type Towards uint8

// The directions: --begin means the next 16:00, sacct -S the last one.
const (
	Future Towards = iota
	Past
)

// dayWords are the names for times of day (sbatch(1), --begin).
var dayWords = []struct {
	word string
	hour int
}{{"midnight", 0}, {"noon", 12}, {"elevenses", 11}, {"fika", 15}, {"teatime", 16}}

// ParseTime reads a moment as --begin takes it: now[+-]count[unit], today,
// tomorrow, midnight, noon, elevenses, fika, teatime, HH:MM[:SS] [AM|PM],
// MMDD[YY], MM/DD[/YY], MM.DD[.YY], YYYY-MM-DD[THH:MM[:SS]], and uts followed by
// seconds since the epoch. What is left out is filled in relative to now, in
// now's zone. An empty text gives the zero time.
func ParseTime(text string, now time.Time, dir Towards) (time.Time, error) {
	r := timeReader{text: text, now: now, dir: dir, hour: -1, month: -1, year: -1}
	if rest, ok := cutFold(text, "uts"); ok {
		n, good := digits(rest)
		if !good && len(rest) == 10 {
			hi, ok1 := digits(rest[:1])
			lo, ok2 := digits(rest[1:])
			n, good = hi*1e9+lo, ok1 && ok2
		}
		if !good || n < 1000000 {
			return time.Time{}, &TimeError{text, 0}
		}
		return time.Unix(n, 0).In(now.Location()), nil
	}
	for r.pos < len(text) {
		if !r.word() && !r.number() {
			return time.Time{}, &TimeError{text, r.pos}
		}
	}
	return r.moment()
}

// timeReader is one reading; fields are -1 while they are not known.
type timeReader struct {
	text                 string
	now                  time.Time
	dir                  Towards
	pos                  int
	hour, minute, second int
	year, month, day     int
}

// word reads a separator or a word at the current place.
func (r *timeReader) word() bool {
	rest := r.text[r.pos:]
	switch rest[0] {
	case ' ', '\t', '-', 'T':
		if _, ok := cutFold(rest, "today"); !ok {
			if _, ok := cutFold(rest, "tomorrow"); !ok {
				if _, ok := cutFold(rest, "teatime"); !ok {
					r.pos++
					return true
				}
			}
		}
	}
	for _, d := range dayWords {
		if _, ok := cutFold(rest, d.word); ok {
			r.hour, r.minute, r.second = d.hour, 0, 0
			r.pos += len(d.word)
			return true
		}
	}
	if _, ok := cutFold(rest, "today"); ok {
		r.date(r.now)
		r.pos += len("today")
		return true
	}
	if _, ok := cutFold(rest, "tomorrow"); ok {
		r.date(r.now.Add(24 * time.Hour))
		r.pos += len("tomorrow")
		return true
	}
	if _, ok := cutFold(rest, "now"); ok {
		return r.fromNow()
	}
	return false
}

// date takes year, month and day of t.
func (r *timeReader) date(t time.Time) {
	y, m, d := t.Date()
	r.year, r.month, r.day = y, int(m), d
}

// spanUnits are the units after now+N; a plural comes before its singular.
var spanUnits = []struct {
	word    string
	seconds int64
}{
	{"seconds", 1}, {"second", 1}, {"minutes", 60}, {"minute", 60}, {"hours", 3600}, {"hour", 3600},
	{"days", 86400}, {"day", 86400}, {"weeks", 604800}, {"week", 604800},
}

// fromNow reads now, now+N and now-N with a unit.
func (r *timeReader) fromNow() bool {
	p := r.pos + len("now")
	for p < len(r.text) && (r.text[p] == ' ' || r.text[p] == '\t') {
		p++
	}
	var delta int64
	if p < len(r.text) {
		sign := int64(1)
		switch r.text[p] {
		case '+':
		case '-':
			sign = -1
		default:
			r.pos = p
			return false
		}
		n, end, ok := span(r.text, p+1)
		if !ok {
			r.pos = p
			return false
		}
		delta, p = sign*n, end
	}
	t := r.now.Add(time.Duration(delta) * time.Second)
	r.date(t)
	r.hour, r.minute, r.second = t.Clock()
	r.pos = p
	return true
}

// span reads a count and an optional unit from p on; it returns seconds and
// where it stopped.
func span(text string, p int) (int64, int, bool) {
	for p < len(text) && text[p] == ' ' {
		p++
	}
	start := p
	for p < len(text) && text[p] >= '0' && text[p] <= '9' {
		p++
	}
	n, ok := digits(text[start:p])
	if !ok {
		return 0, p, false
	}
	for p < len(text) && text[p] == ' ' {
		p++
	}
	for _, u := range spanUnits {
		if _, ok := cutFold(text[p:], u.word); ok {
			p += len(u.word)
			if n > 1e9/u.seconds*10 { // three centuries are enough
				return 0, start, false
			}
			return n * u.seconds, p, true
		}
	}
	return n, p, p == len(text)
}

// number reads a time of day or a date.
func (r *timeReader) number() bool {
	rest := r.text[r.pos:]
	if c := at(rest, 0); c < '0' || c > '9' {
		return false
	}
	if at(rest, 1) == ':' || at(rest, 2) == ':' {
		return r.clock()
	}
	if at(rest, 4) == '-' {
		return r.isoDate()
	}
	return r.shortDate()
}

// at is byte i of s, 0 past its end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// take reads between min and max digits at the current place.
func (r *timeReader) take(min, max int) (int, bool) {
	n, i := 0, 0
	for i < max && at(r.text, r.pos) >= '0' && at(r.text, r.pos) <= '9' {
		n = n*10 + int(r.text[r.pos]-'0')
		r.pos++
		i++
	}
	return n, i >= min
}

// skip passes over one of the bytes in set.
func (r *timeReader) skip(set string) bool {
	if r.pos < len(r.text) && strings.IndexByte(set, r.text[r.pos]) >= 0 {
		r.pos++
		return true
	}
	return false
}

// clock reads HH:MM[:SS] [AM|PM]; a wrong one leaves the place where it is.
func (r *timeReader) clock() bool {
	start := r.pos
	if r.clockTime() {
		return true
	}
	r.pos = start
	return false
}

func (r *timeReader) clockTime() bool {
	h, ok := r.take(1, 2)
	if !ok || h > 23 || !r.skip(":") {
		return false
	}
	m, ok := r.take(2, 2)
	if !ok || m > 59 {
		return false
	}
	s := 0
	if r.skip(":") {
		if s, ok = r.take(2, 2); !ok || s > 59 {
			return false
		}
	}
	for r.skip(" \t") {
	}
	if _, pm := cutFold(r.text[r.pos:], "pm"); pm {
		r.pos += 2
		if h > 12 {
			return false
		}
		h = h%12 + 12
	} else if _, am := cutFold(r.text[r.pos:], "am"); am {
		r.pos += 2
		if h > 12 {
			return false
		}
		h %= 12
	}
	r.hour, r.minute, r.second = h, m, s
	return true
}

// isoDate reads YYYY-MM-DD.
func (r *timeReader) isoDate() bool {
	start := r.pos
	y, ok := r.take(4, 4)
	if !ok || !r.skip("-") {
		r.pos = start
		return false
	}
	month := r.pos
	m, ok := r.take(2, 2)
	if !ok || !r.skip("-") {
		r.pos = start
		return false
	}
	day := r.pos
	d, ok := r.take(2, 2)
	switch {
	case !ok:
		r.pos = start
		return false
	case m < 1 || m > 12:
		r.pos = month
		return false
	case !realDate(m, d):
		r.pos = day
		return false
	}
	r.year, r.month, r.day = y, m, d
	return true
}

// shortDate reads MMDD[YY], MM/DD[/YY] and MM.DD[.YY]; a wrong one leaves the
// place where it is.
func (r *timeReader) shortDate() bool {
	start := r.pos
	if r.monthDay() {
		return true
	}
	r.pos = start
	return false
}

func (r *timeReader) monthDay() bool {
	m, ok := r.take(1, 2)
	if !ok {
		return false
	}
	r.skip("./")
	d, ok := r.take(1, 2)
	if !ok || !realDate(m, d) {
		return false
	}
	r.skip("./")
	if c := at(r.text, r.pos); c >= '0' && c <= '9' {
		y, ok := r.take(2, 2)
		if !ok {
			return false
		}
		r.year = 2000 + y
	}
	r.month, r.day = m, d
	return true
}

func realDate(m, d int) bool { return m >= 1 && m <= 12 && d >= 1 && d <= 31 }

// moment fills in what was left out and gives the whole.
func (r *timeReader) moment() (time.Time, error) {
	if r.hour < 0 && r.month < 0 {
		return time.Time{}, nil
	}
	if r.hour < 0 {
		r.hour, r.minute = 0, 0
	}
	if r.month < 0 {
		day := r.now
		h, m, _ := r.now.Clock()
		if r.dir == Future && (r.hour < h || r.hour == h && r.minute <= m) {
			day = day.Add(24 * time.Hour)
		}
		r.date(day)
	}
	if r.year < 0 {
		r.year = r.nearestYear()
	}
	return time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, 0, r.now.Location()), nil
}

// nearestYear is the year of a date that has none.
func (r *timeReader) nearestYear() int {
	year, month, day := r.now.Date()
	if r.dir == Past {
		if r.month > int(month) {
			return year - 1
		}
		return year
	}
	h, m, _ := r.now.Clock()
	is := [4]int{int(month), day, h, m}
	for i, want := range [4]int{r.month, r.day, r.hour, r.minute} {
		if want != is[i] {
			if want > is[i] {
				return year
			}
			return year + 1
		}
	}
	return year + 1
}

// cutFold is strings.CutPrefix without regard to case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}
