package main

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"

	"muster/api"
)

func TestManagerWords(t *testing.T) {
	names, where, set := managerPairs([]string{"bob", "where", "Account=a", "set", "MaxJobs=1", "qos+=x,y", "Description=\"two words\""})
	if !reflect.DeepEqual(names, []string{"bob"}) || !reflect.DeepEqual(where, []api.Pair{{Name: "account", Value: "a"}}) ||
		!reflect.DeepEqual(set, []api.Pair{{Name: "maxjobs", Value: "1"}, {Name: "qos", Op: "+", Value: "x,y"}, {Name: "description", Value: "two words"}}) {
		t.Errorf("got %v, %v, %v", names, where, set)
	}
	for word, want := range map[string]string{"assoc": "association", "acc": "account", "users": "user", "QOS": "qos", "clusters": "cluster", "tres": "tre", "nothing": "", "runaway": "runawayjob"} {
		if got := managerEntity(word); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

// printed is what a function prints.
func printed(f func(*invocation)) string {
	var b bytes.Buffer
	in := &invocation{name: "test", stdout: bufio.NewWriter(&b), stderr: &b}
	f(in)
	in.stdout.Flush()
	return b.String()
}

func TestTables(t *testing.T) {
	table := &api.Table{Fields: []string{"user", "adminlevel", "defaccount"}, Rows: []api.TableRow{{Values: []string{"root", "Administrator", "root"}}}}
	for _, c := range []struct {
		format string
		o      tableOptions
		want   string
	}{
		{"", tableOptions{}, "      User   Def Acct     Admin \n---------- ---------- --------- \n      root       root Administ+ \n"},
		{"", tableOptions{between: true}, "User|Def Acct|Admin\nroot|root|Administrator\n"},
		{"", tableOptions{after: true, noHeader: true}, "root|root|Administrator|\n"},
		{"admin%14,name%-6", tableOptions{}, "         Admin User   \n-------------- ------ \n Administrator root   \n"},
	} {
		heads := managerHeads("user")
		if c.format != "" {
			var err error
			if heads, err = chooseHeads(heads, c.format); err != nil {
				t.Fatal(err)
			}
		}
		if got := printed(func(in *invocation) { in.printTable(heads, table, &c.o) }); got != c.want {
			t.Errorf("%q: got\n%s\nwant\n%s", c.format, got, c.want)
		}
	}
	if _, err := chooseHeads(managerHeads("user"), "user,nosuch"); err == nil || err.Error() != "Unknown field 'nosuch'" {
		t.Errorf("got %v", err)
	}
}

func TestPriorityFormat(t *testing.T) {
	table := &api.Table{Fields: []string{"jobid", "user", "nice", "priority"}, Rows: []api.TableRow{{Values: []string{"12", "alice", "10", "500"}}}}
	if got := printed(func(in *invocation) { in.printPriorities("%i %u %N %Y", table, true) }); got != "12 alice 10 500\n" {
		t.Errorf("got %q", got)
	}
	if got := printed(func(in *invocation) { in.printPriorities("%.6i %3u|", table, false) }); got != " JOBID USE|\n    12 ali|\n" {
		t.Errorf("got %q", got)
	}
	if got := printed(func(in *invocation) { in.printPriorities("%.6z", table, false) }); got != "test: error: Invalid job format specification: %.6z\n" {
		t.Errorf("got %q", got)
	}
	weights := &api.Table{Fields: []string{"age", "qos"}, Rows: []api.TableRow{{Values: []string{"0", "7"}}}}
	if got := usedFactors(weights, false) + usedFactors(weights, true); got != " %.10Q %.10q" {
		t.Errorf("got %q", got)
	}
}

// What real Slurm prints for numbers that are too long for their columns.
func TestNumbersTooLongForTheirColumn(t *testing.T) {
	for _, c := range []struct {
		value string
		width int
		want  string
	}{{"12345.678900", 10, "1.2346e+04"}, {"1234567890.123456", 10, "1.2346e+09"}} {
		if got := exponent(c.value, c.width); got != c.want {
			t.Errorf("%s in %d: got %s, want %s", c.value, c.width, got, c.want)
		}
	}
}
