package conf

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const diffBase = `
name = "c"
[[controller]]
name = "c1"
[[node]]
names = "n[1-4]"
cpus = 8
memory = "4G"
[[partition]]
name = "main"
[[partition]]
name = "long"
max_time = "2-00:00:00"
nodes = "n[1-2]"
[timers]
silent = "15s"
`

func TestDiffSaysWhatIsOther(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string // old, new, …
		want    []string
	}{
		"nothing":            {nil, nil},
		"a comment":          {[]string{"[timers]", "# times\n[timers]"}, nil},
		"another way":        {[]string{`"15s"`, "15", `"4G"`, "4096", `"2-00:00:00"`, "2880"}, nil},
		"split alike":        {[]string{"n[1-4]", "n[1-2]\"\ncpus = 8\nmemory = \"4G\"\n[[node]]\nnames = \"n[3-4]"}, nil},
		"the top":            {[]string{`name = "c"`, "name = \"c\"\ntime_zone = \"Europe/Berlin\""}, []string{"~ time_zone: UTC -> Europe/Berlin"}},
		"a timer":            {[]string{"15s", "20s"}, []string{"~ timers: silent: 15 -> 20"}},
		"nodes added":        {[]string{"n[1-4]", "n[1-6]"}, []string{"+ node n[5-6]: port = 6818"}},
		"a node removed":     {[]string{"n[1-4]", "n[1-3]"}, []string{"- node n4"}},
		"other nodes":        {[]string{"4G", "8G"}, []string{"~ node n[1-4]: memory: 4096 -> 8192"}},
		"partition gone":     {[]string{"[[partition]]\nname = \"main\"", ""}, []string{"- partition main"}},
		"partition new":      {[]string{"[timers]", "[[partition]]\nname = \"p\"\n[timers]"}, []string{"+ partition p: nodes = ALL, state = UP, max_time = UNLIMITED"}},
		"partition other":    {[]string{`max_time = "2-00:00:00"`, "hidden = true"}, []string{"~ partition long: max_time: 2880 -> UNLIMITED", "~ partition long: hidden: false -> true"}},
		"controllers other":  {[]string{`name = "c1"`, "name = \"c1\"\nport = 7000"}, []string{"~ controller c1: port: [6817] -> [7000]"}},
		"switches":           {[]string{"[timers]", "[[switch]]\nname = \"s\"\nnodes = \"n[1-4]\"\n[timers]"}, []string{"+ switch s of topology default: topology = default, nodes = n[1-4]"}},
		"several of a table": {[]string{"15s\"", "15s\"\nheartbeat = \"3s\"\nkill_wait = \"5s\""}, []string{"~ timers: kill_wait: 30 -> 5", "~ timers: heartbeat: 1000 -> 3000"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := Parse("a", []byte(diffBase))
			if err != nil {
				t.Fatal(err)
			}
			after, err := Parse("b", []byte(strings.NewReplacer(c.replace...).Replace(diffBase)))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range Diff(before, after) {
				got = append(got, d.String())
			}
			same := len(got) == len(c.want)
			for i := range got {
				same = same && strings.HasPrefix(got[i], c.want[i])
			}
			if !same {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
			if back := Diff(after, before); len(back) != len(got) {
				t.Errorf("the other way round: %q", back)
			}
		})
	}
	if !slices.Equal(Diff(&File{schema: &schema{}}, &File{schema: &schema{}}), nil) {
		t.Error("two files that say nothing differ")
	}
}

// A list of tables is compared by the name that each table begins with.
func TestTablesOfListsBeginWithAName(t *testing.T) {
	s := reflect.TypeFor[schema]()
	for i := range s.NumField() {
		f := s.Field(i)
		if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		if key := f.Type.Elem().Field(0).Tag.Get("toml"); key != "name" && f.Name != "Nodes" {
			t.Errorf("[[%s]] begins with %s", f.Tag.Get("toml"), key)
		}
	}
}
