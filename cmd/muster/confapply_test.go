package main

import (
	"strings"
	"testing"

	"muster/api"
	"muster/job"
)

func TestWritePreview(t *testing.T) {
	for _, c := range []struct {
		name string
		r    api.ConfigureReply
		want string
	}{
		{"the same", api.ConfigureReply{Serial: 3, Same: true}, "Nothing is other than in the configuration in force, number 3.\n"},
		{"other words", api.ConfigureReply{Serial: 3}, "It says the same as the configuration in force, number 3, in other words.\n"},
		{"all", api.ConfigureReply{Changes: []string{"- node n3"}, Effects: []string{"something"}, Ends: []string{"job 1 on n3: gone"}, Warnings: []string{"f:1: warning: hm"}},
			"f:1: warning: hm\n- node n3\nWhat follows:\n  something\nOnly with --force, since these end:\n  job 1 on n3: gone\n"},
	} {
		var got strings.Builder
		if err := writePreview(&got, &c.r); err != nil || got.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got.String(), c.want)
		}
	}
}

func TestWriteHistory(t *testing.T) {
	at := job.Time(1_700_000_000_000)
	r := api.ConfigsReply{Zone: "UTC", Behind: "n[2-3]", Configs: []api.ConfigRecord{
		{Serial: 1, At: at, By: "c1", Host: "c1"},
		{Serial: 2, At: at, By: "alice", Host: "login", Forced: true},
		{Serial: 3, At: at, By: "root", Host: "c1", Undo: 1},
	}}
	want := `NUMBER  SINCE                BY               WHAT
     1  2023-11-14T22:13:20  c1               a file
     2  2023-11-14T22:13:20  alice@login      a file, forced
     3  2023-11-14T22:13:20  root@c1          number 1 again, in force
Behind, without new jobs until they have it: n[2-3]
`
	var got strings.Builder
	if err := writeHistory(&got, &r); err != nil || got.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got.String(), want)
	}
}
