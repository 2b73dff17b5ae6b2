package conf

import (
	"fmt"
	"strings"
)

// lineIndex knows the line of every table and key of a TOML text. Tables of an
// array carry their number: node#0, node#0.names.
type lineIndex map[string]int

// of is the line of a path, or of the nearest thing around it that has one.
func (x lineIndex) of(path string) int {
	for path != "" {
		if line, ok := x[path]; ok {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".#"))]
	}
	return 0
}

// lineScanner walks through a text that is known to be valid TOML.
type lineScanner struct {
	text  string
	pos   int
	line  int
	index lineIndex
}

// scanLines finds where everything is. The TOML reader does not tell the lines
// of the keys of a table that occurs more than once.
func scanLines(text string) lineIndex {
	s := &lineScanner{text: text, line: 1, index: lineIndex{}}
	table, count := "", map[string]int{}
	for s.skipBlank(); s.pos < len(s.text); s.skipBlank() {
		line := s.line
		if s.text[s.pos] != '[' {
			key := s.until("=")
			s.pos++
			s.skipValue()
			s.note(join(table, key), line)
			continue
		}
		header := s.until("\n")
		name := plainKey(header[:strings.IndexByte(header+"]", ']')])
		table = name
		if strings.HasPrefix(header, "[[") {
			table = fmt.Sprintf("%s#%d", name, count[name])
			count[name]++
			s.note(name, line)
		}
		s.note(table, line)
	}
	return s.index
}

func (s *lineScanner) note(path string, line int) {
	if _, ok := s.index[path]; !ok {
		s.index[path] = line
	}
}

func join(table, key string) string {
	if table == "" {
		return plainKey(key)
	}
	return table + "." + plainKey(key)
}

// plainKey takes brackets, blanks and quotes off a key.
func plainKey(key string) string {
	return strings.NewReplacer("[", "", " ", "", "\t", "", `"`, "", "'", "").Replace(key)
}

// skipBlank goes to the next statement.
func (s *lineScanner) skipBlank() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '\n':
			s.line++
			s.pos++
		case ' ', '\t', '\r':
			s.pos++
		case '#':
			s.until("\n")
		default:
			return
		}
	}
}

// until returns the text up to one of the stop bytes and stands on it.
func (s *lineScanner) until(stop string) string {
	start := s.pos
	if n := strings.IndexAny(s.text[s.pos:], stop); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
	return s.text[start:s.pos]
}

// skipValue goes to the end of a value: the first line end outside brackets
// and strings.
func (s *lineScanner) skipValue() {
	for depth := 0; s.pos < len(s.text); {
		switch s.text[s.pos] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			s.until("\n")
			continue
		case '"', '\'':
			s.skipString()
			continue
		case '\n':
			if depth == 0 {
				return
			}
			s.line++
		}
		s.pos++
	}
}

// skipString goes behind a string of any of the four kinds.
func (s *lineScanner) skipString() {
	quote := s.text[s.pos : s.pos+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.pos:], long) {
		quote = long
	}
	s.pos += len(quote)
	for s.pos < len(s.text) && !strings.HasPrefix(s.text[s.pos:], quote) {
		if s.text[s.pos] == '\n' {
			s.line++
		}
		if s.text[s.pos] == '\\' && quote[0] == '"' {
			s.pos++
		}
		s.pos++
	}
	s.pos = min(s.pos+len(quote), len(s.text))
}
