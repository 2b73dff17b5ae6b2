// Package tree writes records as JSON and YAML with the names and shapes of
// Slurm's data_parser/v0.0.45.
package tree

import (
	"io"
	"strconv"
	"unicode/utf8"
)

// Writer writes one document, value by value: JSON as Slurm lays it out, or YAML
// with the tags that Slurm gives.
type Writer struct {
	out   io.Writer
	err   error
	buf   []byte
	yaml  bool
	depth int
	empty bool // nothing was written yet in the innermost map or list
}

// flushAt is how much text is gathered before it is written.
const flushAt = 64 << 10

// NewWriter makes a writer of JSON or, with yaml, of YAML to out.
func NewWriter(out io.Writer, yaml bool) *Writer {
	w := &Writer{out: out, yaml: yaml}
	if yaml {
		w.buf = append(w.buf, "%YAML 1.1\n--- !!map\n"...)
	} else {
		w.buf = append(w.buf, '{')
		w.depth = 1
	}
	w.empty = true
	return w
}

// Close ends the document. The error is the first that writing met.
func (w *Writer) Close() error {
	if w.yaml {
		w.buf = append(w.buf, "...\n\n"...)
	} else {
		w.depth = 0
		w.line()
		w.buf = append(w.buf, "}\n"...)
	}
	w.flush()
	return w.err
}

// flush writes what was gathered.
func (w *Writer) flush() {
	if w.err == nil {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// line begins a new line of JSON.
func (w *Writer) line() {
	w.buf = append(w.buf, '\n')
	for range w.depth {
		w.buf = append(w.buf, ' ', ' ')
	}
}

// key begins a pair; an empty key begins an element of a list.
func (w *Writer) key(k string) {
	if w.yaml {
		w.yamlKey(k)
		return
	}
	if !w.empty {
		w.buf = append(w.buf, ',')
	}
	w.empty = false
	w.line()
	if k != "" {
		w.buf = append(w.buf, '"')
		w.buf = append(w.buf, k...)
		w.buf = append(w.buf, `": `...)
	}
}

func (w *Writer) yamlKey(k string) {
	w.empty = false
	for range w.depth {
		w.buf = append(w.buf, ' ', ' ')
	}
	if k == "" {
		w.buf = append(w.buf, "- "...)
		return
	}
	w.buf = append(w.buf, "!!str "...)
	w.buf = append(append(w.buf, k...), ": "...)
}

// open begins a map or list.
func (w *Writer) open(k, tag string, mark byte) {
	w.key(k)
	if w.yaml {
		w.buf = append(append(w.buf, tag...), '\n')
	} else {
		w.buf = append(w.buf, mark)
	}
	if !w.yaml || mark == '{' { // elements of a YAML list stand below its key
		w.depth++
	}
	w.empty = true
}

// close ends a map or list.
func (w *Writer) close(mark byte, none string) {
	if !w.yaml || mark == '}' {
		w.depth--
	}
	if w.yaml {
		if w.empty { // put the sign for nothing behind the tag
			w.buf = append(w.buf[:len(w.buf)-1], none...)
		}
	} else {
		w.line()
		w.buf = append(w.buf, mark)
	}
	w.empty = false
}

// Map writes a map; fill writes its pairs.
func (w *Writer) Map(k string, fill func()) {
	w.open(k, "!!map", '{')
	fill()
	w.close('}', " {}\n")
	if len(w.buf) > flushAt {
		w.flush()
	}
}

// List writes a list; fill writes its elements, each with an empty key.
func (w *Writer) List(k string, fill func()) {
	w.open(k, "!!seq", '[')
	fill()
	w.close(']', " []\n")
}

// Texts writes a list of texts.
func (w *Writer) Texts(k string, list []string) {
	w.List(k, func() {
		for _, s := range list {
			w.Text("", s)
		}
	})
}

// Text writes a text.
func (w *Writer) Text(k, s string) {
	w.key(k)
	if w.yaml {
		w.buf = append(w.buf, "!!str"...)
		if s != "" {
			w.buf = append(w.buf, ' ')
			w.buf = appendYAML(w.buf, s)
		}
		w.buf = append(w.buf, '\n')
		return
	}
	w.buf = appendJSON(w.buf, s)
}

// Int writes a whole number.
func (w *Writer) Int(k string, n int64) {
	w.key(k)
	if w.yaml {
		w.buf = append(strconv.AppendInt(append(w.buf, "!!int "...), n, 10), '\n')
		return
	}
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// Float writes a whole number as one with a fraction, as Slurm does for some.
func (w *Writer) Float(k string, n int64) {
	w.key(k)
	if w.yaml {
		w.buf = append(strconv.AppendInt(append(w.buf, "!!float "...), n, 10), ".000000\n"...)
		return
	}
	w.buf = append(strconv.AppendInt(w.buf, n, 10), ".0"...)
}

// Bool writes a truth value.
func (w *Writer) Bool(k string, b bool) {
	w.key(k)
	if w.yaml {
		w.buf = append(strconv.AppendBool(append(w.buf, "!!bool "...), b), '\n')
		return
	}
	w.buf = strconv.AppendBool(w.buf, b)
}

// Null writes that there is no value.
func (w *Writer) Null(k string) {
	w.key(k)
	if w.yaml {
		w.buf = append(w.buf, "!!null null\n"...)
		return
	}
	w.buf = append(w.buf, "null"...)
}

// Number writes Slurm's map for a number that may be missing or endless.
func (w *Writer) Number(k string, set, infinite bool, n int64) {
	w.Map(k, func() {
		w.Bool("set", set)
		w.Bool("infinite", infinite)
		w.Int("number", n)
	})
}

// Set writes a number that is there.
func (w *Writer) Set(k string, n int64) { w.Number(k, true, false, n) }

// SetIf writes a number that is there unless it is 0.
func (w *Writer) SetIf(k string, n int64) { w.Number(k, n != 0, false, n) }

const hex = "0123456789abcdef"

// appendJSON writes a text in quotes with what JSON wants escaped, and slashes as
// Slurm does. Bytes that are no UTF-8 become the replacement character.
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\' || c == '/':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < 0x20 || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}

// appendYAML writes a text plainly where nothing in it has a meaning to YAML, and
// quoted as JSON, which YAML reads too, otherwise.
func appendYAML(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		safe := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' ||
			i > 0 && (c == '-' || c == '=' || c == ' ' || c == '+' || c == '(' || c == ')' || c == ';') && i < len(s)-1 ||
			c == '-' && (i > 0 || len(s) > 2 && s[1] == '-')
		if c == ',' && i > 0 && i < len(s)-1 && s[i+1] != ' ' {
			safe = true
		}
		if !safe {
			return appendJSON(dst, s)
		}
	}
	return append(dst, s...)
}
