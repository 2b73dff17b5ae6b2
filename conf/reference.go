package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Defaults is a cluster file of all keys with their defaults; the ones without
// a default are there as comments.
func Defaults() string {
	var b strings.Builder
	b.WriteString("# Every key of cluster.toml with its default. Keys without one are comments.\n")
	for _, t := range tables() {
		if t.name != "" {
			// A [[node]] is not there by default: its keys show what one would have.
			b.WriteString("\n" + comment(t.array) + t.header() + "\n")
		}
		for _, f := range t.fields {
			text, set := f.Tag.Lookup("default")
			if !set {
				fmt.Fprintf(&b, "# %s =\n", f.Tag.Get("toml"))
				continue
			}
			fmt.Fprintf(&b, "%s%s = %s\n", comment(t.array), f.Tag.Get("toml"), defaultText(f, text))
		}
	}
	return b.String()
}

func comment(on bool) string {
	if on {
		return "# "
	}
	return ""
}

// Reference is the page docs/cluster-toml.md.
func Reference() string {
	var b strings.Builder
	b.WriteString("# cluster.toml\n\n" +
		"This page is made from the schema in `conf/schema.go` (`make generate`); change it there.\n\n" +
		"One file describes the cluster. A key that is not on this page is an error. Four lines are a cluster:\n\n" +
		"```toml\n[[node]]\nnames = \"n[1-4]\"\ncpus = 8\nmemory = \"16G\"\n```\n\n" +
		"`muster conf init` writes a file to start from, `muster conf check` reads one, and\n" +
		"`muster conf show --defaults` prints every default.\n\n" +
		"Sizes are in MB of 2^20 bytes, or carry a unit: `4000M`, `64G`, `1T`. Times are in seconds (those of\n" +
		"milliseconds say so), or carry a unit: `250ms`, `30s`, `5m`, `2h`, `7d`. Time limits are in minutes, or in Slurm's\n" +
		"forms: `1:30:00`, `1-00:00:00`, `UNLIMITED`. Node lists are host-list expressions: `n[1-4,7]`,\n" +
		"`row[0-1]_n[01-16]`. In place of a list of one string the string will do.\n")
	for _, t := range tables() {
		title := "At the top"
		if t.name != "" {
			title = "`" + t.header() + "`"
		}
		b.WriteString("\n## " + title + "\n\n")
		if t.doc != "" {
			b.WriteString(t.doc + "\n\n")
		}
		b.WriteString("| key | value | default | |\n|---|---|---|---|\n")
		for _, f := range t.fields {
			text, set := f.Tag.Lookup("default")
			shown := ""
			if set {
				shown = "`" + defaultText(f, text) + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Tag.Get("toml"), valueName(f.Type), shown, f.Tag.Get("doc")+laterText(f))
		}
	}
	return b.String()
}

// laterText says of a key that nothing acts on it yet.
func laterText(f reflect.StructField) string {
	if later := f.Tag.Get("later"); later != "" {
		return " **Kept and shown only**: acting on it comes with " + later + "."
	}
	return ""
}

// tableDoc is one table of the file as the reference shows it.
type tableDoc struct {
	name   string // "" is the top
	array  bool
	doc    string
	fields []reflect.StructField // plain values only
}

func (t tableDoc) header() string {
	if t.array {
		return "[[" + t.name + "]]"
	}
	return "[" + t.name + "]"
}

// tables lists the tables of the schema in its order, the top first.
func tables() []tableDoc {
	out := []tableDoc{{}}
	top := reflect.TypeFor[schema]()
	for i := range top.NumField() {
		f := top.Field(i)
		t := tableDoc{name: f.Tag.Get("toml"), doc: f.Tag.Get("doc")}
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			t.array, inner = true, inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			out[0].fields = append(out[0].fields, f)
			continue
		}
		for k := range inner.NumField() {
			t.fields = append(t.fields, inner.Field(k))
		}
		out = append(out, t)
	}
	return out
}

// defaultText is a default as the file would have it.
func defaultText(f reflect.StructField, text string) string {
	if f.Type.Kind() == reflect.Bool {
		return text
	}
	if s, ok := defaultValue(reflect.New(f.Type).Elem(), text).(string); ok {
		return quote(s)
	}
	return text
}

// valueName is the kind of a value for people.
func valueName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[megabytes]():
		return "size"
	case reflect.TypeFor[seconds]():
		return "time"
	case reflect.TypeFor[millis]():
		return "time (ms)"
	case reflect.TypeFor[timeLimit]():
		return "time limit"
	case reflect.TypeFor[ports]():
		return "port"
	case reflect.TypeFor[count]():
		return "number from 1"
	}
	switch t.Kind() {
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "table"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "string"
	}
	return "number"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func zoneExists(name string) bool {
	if name == "" || name == "Local" {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}
