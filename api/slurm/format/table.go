// Package format reads the format languages of Slurm's listing commands (-o with
// letters, -O and sacct's --format with names) and writes records by them, byte
// for byte as Slurm does.
package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api/slurm"
	"muster/job"
)

// Context is what texts depend on besides the record.
type Context struct {
	Now     job.Time // running times count up to it
	Times   *slurm.TimeFormat
	Unit    slurm.Unit // unit of memory sizes: slurm.Exact, or slurm.Keep for --noconvert
	Cluster string
	Expand  bool // fill in the patterns of the files' names
}

// Field is one thing that a listing can show of a record.
type Field[R any] struct {
	Name   string // for -O, in any case
	Letter byte   // for -o; 0: none
	Head   string
	Over   bool            // set right, it may be wider than its column
	Heavy  bool            // and so may its head
	Star   bool            // a star at the end stays when the text is cut
	Hidden bool            // an old name that --helpformat leaves out
	Needs  uint32          // parts of the record that the text is made from
	Note   string          // how it differs from Slurm's; "" for not at all
	Cut    func(r *R) bool // of a field that may be over: whether this text is cut all the same; nil: never
	Text   func(dst []byte, x *Context, r *R) []byte
}

// Column is one field in a format, or fixed text.
type Column[R any] struct {
	Field  *Field[R] // nil: only Suffix
	Width  int       // 0: as wide as the text
	Right  bool
	Suffix string // text that follows
}

// Table is a format: its columns in order.
type Table[R any] struct {
	Columns []Column[R]
	Unknown []string // letters and names that the table of fields lacks
}

// Needs are the parts of a record that any of the columns shows.
func (t *Table[R]) Needs() (n uint32) {
	for i := range t.Columns {
		if f := t.Columns[i].Field; f != nil {
			n |= f.Needs
		}
	}
	return n
}

// AppendHead writes the line of heads, with its line end.
func (t *Table[R]) AppendHead(dst []byte) []byte {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Field != nil {
			at := len(dst)
			dst = append(dst, c.Field.Head...)
			dst = fit(dst, at, c.Width, c.Right, c.Field.Heavy)
		}
		dst = append(dst, c.Suffix...)
	}
	return append(dst, '\n')
}

// AppendRow writes one record, with its line end.
func (t *Table[R]) AppendRow(dst []byte, x *Context, r *R) []byte {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Field != nil {
			at := len(dst)
			dst = c.Field.Text(dst, x, r)
			if !c.Right && 0 < c.Width && c.Width < len(null) && string(dst[at:]) == null {
				dst = dst[:at] // the C library writes nothing where the word does not fit
			}
			starred := c.Field.Star && len(dst) > at && dst[len(dst)-1] == '*'
			dst = fit(dst, at, c.Width, c.Right, c.Field.Over && (c.Field.Cut == nil || !c.Field.Cut(r)))
			if starred && c.Width > 0 && len(dst) == at+c.Width {
				keepStar(dst[at:])
			}
		}
		dst = append(dst, c.Suffix...)
	}
	return append(dst, '\n')
}

// fit cuts and fills what dst holds from at on to the width, in bytes as Slurm
// does. A text set right keeps its first bytes when it is cut; one that may be
// over is then not cut at all.
func fit(dst []byte, at, width int, right, over bool) []byte {
	if width <= 0 {
		return dst
	}
	n := len(dst) - at
	switch {
	case n > width && !(right && over):
		return dst[:at+width]
	case n >= width:
		return dst
	}
	for range width - n {
		dst = append(dst, ' ')
	}
	if right {
		copy(dst[at+width-n:], dst[at:at+n])
		for i := at; i < at+width-n; i++ {
			dst[i] = ' '
		}
	}
	return dst
}

// keepStar puts the star back that was cut off a text, as Slurm marks the default
// partition however narrow the column is.
func keepStar(text []byte) {
	if !bytes.Contains(text, []byte{'*'}) {
		text[len(text)-1] = '*'
	}
}

// maxWidth bounds a column's width, so that a format costs no memory.
const maxWidth = 1 << 16

// Letters reads a format of -o: literal text and %[.][width]letter. What follows
// a letter up to the next % is printed after it. "%all" is all letters, with
// bars between. A letter that is not known stands for itself in each line, and
// is listed in Unknown.
func Letters[R any](format string, fields []Field[R]) Table[R] {
	if strings.EqualFold(format, "%all") {
		return allLetters(fields)
	}
	var t Table[R]
	before, rest, found := strings.Cut(format, "%")
	if before != "" {
		t.Columns = append(t.Columns, Column[R]{Suffix: before})
	}
	for found {
		var token string
		token, rest, found = strings.Cut(rest, "%")
		if token == "" {
			continue
		}
		c, letter := column[R](token)
		c.Field = byLetter(fields, letter)
		if c.Field == nil {
			c = Column[R]{Suffix: "%" + token}
			t.Unknown = append(t.Unknown, string(letter))
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// column reads [.][width]letter and the text behind it.
func column[R any](token string) (c Column[R], letter byte) {
	i := 0
	if token[i] == '.' {
		c.Right = true
		i++
	}
	for ; i < len(token) && token[i] >= '0' && token[i] <= '9'; i++ {
		c.Width = min(c.Width*10+int(token[i]-'0'), maxWidth)
	}
	if i == len(token) {
		return c, ' '
	}
	c.Suffix = token[i+1:]
	return c, token[i]
}

func byLetter[R any](fields []Field[R], letter byte) *Field[R] {
	for i := range fields {
		if fields[i].Letter == letter {
			return &fields[i]
		}
	}
	return nil
}

// allLetters is %all.
func allLetters[R any](fields []Field[R]) (t Table[R]) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		f := byLetter(fields, c)
		if f == nil {
			continue
		}
		if n := len(t.Columns); n > 0 {
			t.Columns[n-1].Suffix = "|"
		}
		t.Columns = append(t.Columns, Column[R]{Field: f})
	}
	return t
}

// defaultWidth is the width of a field of -O that names none.
const defaultWidth = 20

// Names reads a format of -O: names separated by commas, each with an optional
// :[.][width][suffix]. Without the colon a field is 20 wide; with one and no
// width it is as wide as its text. A name that is not known prints nothing, and
// is listed in Unknown.
func Names[R any](format string, fields []Field[R]) Table[R] {
	var t Table[R]
	for token := range strings.SplitSeq(format, ",") {
		if token == "" {
			continue
		}
		name, size, has := strings.Cut(token, ":")
		c := Column[R]{Width: defaultWidth}
		if has {
			c = sized[R](size)
		}
		if c.Field = ByName(fields, name); c.Field == nil {
			t.Unknown = append(t.Unknown, name)
			c = Column[R]{Suffix: c.Suffix}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// sized reads [.][width][suffix].
func sized[R any](text string) (c Column[R]) {
	if rest, ok := strings.CutPrefix(text, "."); ok {
		c.Right, text = true, rest
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:digits])
	if err == nil {
		c.Width = min(n, maxWidth)
	} else if digits > 0 {
		c.Width = maxWidth
	}
	c.Suffix = text[digits:]
	return c
}

// ByName finds a field by its name in any case, nil if there is none.
func ByName[R any](fields []Field[R], name string) *Field[R] {
	for i := range fields {
		if fields[i].Name != "" && strings.EqualFold(fields[i].Name, name) {
			return &fields[i]
		}
	}
	return nil
}

// HelpLetters lists the letters of -o as --helpformat does.
func HelpLetters[R any](fields []Field[R]) []byte {
	var dst []byte
	n := 0
	for _, f := range inNameOrder(fields) {
		if f.Letter == 0 || f.Hidden {
			continue
		}
		if n == 8 {
			dst, n = append(dst, '\n'), 0
		}
		dst = fmt.Appendf(dst, "%%%-5c", f.Letter)
		n++
	}
	return append(dst, '\n')
}

// inNameOrder sorts fields by the letters of their names.
func inNameOrder[R any](fields []Field[R]) []Field[R] {
	key := func(name string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) }
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b Field[R]) int { return strings.Compare(key(a.Name), key(b.Name)) })
	return sorted
}

// HelpNames lists the names of -O as --helpFormat does.
func HelpNames[R any](fields []Field[R]) []byte {
	var dst []byte
	n := 0
	for _, f := range inNameOrder(fields) {
		if f.Name == "" || f.Hidden {
			continue
		}
		if n == 4 {
			dst, n = append(dst, '\n'), 0
		}
		dst = fmt.Appendf(dst, "%-20s", f.Name)
		n++
	}
	return append(dst, '\n')
}
