package treefile

import (
	"fmt"
	"slices"
	"strings"
)

// maxLine is the longest line of a file in bytes.
const maxLine = 64 << 10

// Parse reads a file. Empty lines and those that begin with # are passed over. An
// error names the line.
func Parse(text string) ([]Line, error) {
	var out []Line
	n := 0
	for raw := range strings.Lines(text) {
		n++
		raw = strings.TrimSpace(raw)
		if raw == "" || raw[0] == '#' {
			continue
		}
		l, err := parseLine(raw)
		if err != nil {
			return nil, fmt.Errorf("line(%d) %w", n, err)
		}
		l.Number = n
		out = append(out, l)
	}
	return out, nil
}

func parseLine(raw string) (Line, error) {
	if len(raw) > maxLine {
		return Line{}, fmt.Errorf("is longer than %d bytes", maxLine)
	}
	kind, rest, ok := strings.Cut(raw, "-")
	kind = strings.TrimSpace(kind)
	at := slices.IndexFunc(kinds(), func(k string) bool { return strings.EqualFold(k, kind) })
	if !ok || at < 0 {
		return Line{}, fmt.Errorf("%.60q: want QOS, Cluster, Parent, Account or User, then - and a name", raw)
	}
	fields, err := split(rest)
	if err != nil {
		return Line{}, err
	}
	l := Line{Kind: kinds()[at], Name: bare(fields[0])}
	if l.Name == "" {
		return Line{}, fmt.Errorf("%s without a name", l.Kind)
	}
	for _, f := range fields[1:] {
		name, value, ok := strings.Cut(f, "=")
		if name = strings.TrimSpace(name); name == "" && !ok {
			continue // two colons in a row
		}
		if !ok || name == "" {
			return Line{}, fmt.Errorf("%q: want OPTION=VALUE", f)
		}
		l.Options = append(l.Options, Option{Name: name, Value: bare(value)})
	}
	return l, nil
}

func kinds() []string { return []string{"QOS", "Cluster", "Parent", "Account", "User"} }

// split cuts at colons that are not between quotation marks.
func split(s string) ([]string, error) {
	var out []string
	var quote rune
	from := 0
	for i, c := range s {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ':' && !inGres(s[from:i]):
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is not closed", quote)
	}
	return append(out, s[from:]), nil
}

// inGres tells whether a colon after s is that between a device and its type, as in
// GrpTRES=gres/gpu:a100=4: the item that it stands in has no count yet.
func inGres(s string) bool {
	item := s[strings.LastIndexAny(s, ",=")+1:]
	return strings.HasPrefix(item, "gres/")
}

// bare takes blanks and quotation marks off a value.
func bare(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return strings.TrimSpace(s)
}
