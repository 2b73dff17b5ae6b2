package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/accounting"
	"muster/accounting/rollup"
	"muster/job"
)

// history makes random records whose jobs cross the ends of hours, days and months
// and both changes of the clocks of a year. A user comes and goes and an account takes
// another name half way: what was used stays with the names that the jobs had.
func history(t *rapid.T, from, to int64) []Numbered {
	var out []Numbered
	at := func(name string) int64 {
		edges := []int64{from, 1774746000 /* 2026-03-29 01:00 UTC */, 1792890000 /* 2026-10-25 01:00 UTC */, 1777586400 /* May 1st in Berlin */}
		return rapid.SampledFrom(edges).Draw(t, name+" near") + rapid.Int64Range(0, 9000).Draw(t, name)
	}
	for n := range rapid.IntRange(1, 12).Draw(t, "records") {
		if rapid.IntRange(0, 4).Draw(t, "event") == 0 {
			start := at("from")
			e := &accounting.Event{Kind: accounting.EventKind(rapid.IntRange(1, 4).Draw(t, "kind")), Name: "n1", From: job.Time(start * 1000),
				To: job.Time(1000 * (start + rapid.Int64Range(1, 200_000).Draw(t, "length"))), Has: accounting.Amounts{{Name: "cpu", Count: 8}}, Maint: true}
			out = append(out, Numbered{uint64(n + 1), accounting.Record{Event: e}})
			continue
		}
		eligible := at("eligible")
		start := eligible + rapid.Int64Range(0, 5000).Draw(t, "wait")
		end := start + rapid.SampledFrom([]int64{0, 1, 3599, 3600, 86_400, 5_000_000}).Draw(t, "long") + rapid.Int64Range(0, 4000).Draw(t, "more")
		account := "old"
		if n > 6 {
			account = "new"
		}
		cpus := rapid.Uint32Range(1, 64).Draw(t, "cpus")
		j := &job.Job{
			ID: job.ID(n + 1), State: job.Completed, Account: account, QOS: rapid.SampledFrom([]string{"normal", "high"}).Draw(t, "qos"),
			Owner:   &job.Owner{UID: 7, User: rapid.SampledFrom([]string{"ann", "gone"}).Draw(t, "user")},
			Request: &job.Request{WCKey: rapid.SampledFrom([]string{"", "w"}).Draw(t, "wckey")},
			// Milliseconds must not count: times are whole seconds, as in Slurm.
			Times: job.Times{Eligible: job.Time(eligible*1000 + 999), Start: job.Time(start*1000 + 1), End: job.Time(end*1000 + 500)},
			Alloc: &job.Allocation{Partition: "main", CPUs: cpus, MemoryMB: 100, Billing: 3, Nodes: []job.Share{{Devices: []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 2}}}}},
		}
		out = append(out, Numbered{uint64(n + 1), accounting.Record{Job: j}})
	}
	return out
}

// overlap is how many seconds two stretches have in common.
func overlap(a, b, from, to int64) uint64 { return uint64(max(0, min(b, to)-max(a, from))) }

// brute is what a key held of a resource, straight from the records.
func brute(list []Numbered, k rollup.Key, resource string, from, to int64) uint64 {
	sum := uint64(0)
	for _, r := range list {
		if r.Job == nil || rollup.KeyOf(r.Job) != k {
			continue
		}
		n := map[string]uint64{"cpu": uint64(r.Job.Alloc.CPUs), "mem": 100, "node": 1, "billing": 3, "gres/gpu": 2, "gres/gpu:a100": 2}[resource]
		sum += n * overlap(r.Job.Times.Start.Unix(), r.Job.Times.End.Unix(), from, to)
	}
	return sum
}

// Sums over any hours equal what the records come to, however the records were cut
// into batches, with some of them not summed up yet, and after the file was lost.
func TestUseAgainstRecords(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = 1772323200, 1796083200 // March to December 2026
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		l, err := Open(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { l.Close() }()
		list := history(rt, begin, end)
		rolled := rapid.IntRange(0, len(list)).Draw(rt, "summed up")
		for i := range list {
			if err := l.Append(list[i].Number, list[i:i+1]); err != nil {
				rt.Fatal(err)
			}
			if i < rolled && rapid.Bool().Draw(rt, "sum up now") || i+1 == rolled {
				if more, err := l.Roll(context.Background(), berlin); err != nil || more {
					rt.Fatal(more, err)
				}
			}
		}
		switch rapid.IntRange(0, 3).Draw(rt, "then") {
		case 1: // reopened
			l = reopen(rt, l, dir, false)
		case 2: // lost
			l = reopen(rt, l, dir, true)
		case 3: // made for another zone before
			if _, err := l.Roll(context.Background(), time.UTC); err != nil {
				rt.Fatal(err)
			}
		}
		from := begin + rapid.Int64Range(0, end-begin).Draw(rt, "from")
		to := from + rapid.SampledFrom([]int64{1, 3600, 86_400, 2_700_000, 20_000_000}).Draw(rt, "length")
		checkUse(rt, l, list, berlin, from, to)
	})
}

func reopen(t *rapid.T, l *Ledger, dir string, lost bool) *Ledger {
	err := l.Close()
	if lost {
		err = errors.Join(err, os.Remove(filepath.Join(dir, rollupFile)))
	}
	l, open := Open(dir)
	if err := errors.Join(err, open); err != nil {
		t.Fatal(err)
	}
	return l
}

func checkUse(t *rapid.T, l *Ledger, list []Numbered, zone *time.Location, from, to int64) {
	u, through, err := l.Use(context.Background(), zone, from, to)
	if err != nil || through != uint64(len(list)) {
		t.Fatal(through, err)
	}
	if u.From > from || u.From <= from-3600 || u.To < to || u.To >= to+3600 {
		t.Fatalf("asked for %d to %d, got %d to %d", from, to, u.From, u.To)
	}
	keys, ended := map[rollup.Key]bool{}, map[rollup.Key]uint64{}
	for _, r := range list {
		if r.Job != nil {
			k := rollup.KeyOf(r.Job)
			keys[k] = true
			if e := r.Job.Times.End.Unix(); e >= u.From && e < u.To {
				ended[k]++
			}
		}
	}
	for k := range keys {
		sum := u.Sums[k]
		if sum == nil {
			sum = &rollup.Sum{}
		}
		for _, resource := range []string{"cpu", "mem", "node", "billing", "gres/gpu", "gres/gpu:a100"} {
			if got, _ := sum.Held.Get(resource); got != brute(list, k, resource, u.From, u.To) {
				t.Fatalf("%+v held %d of %s, want %d", k, got, resource, brute(list, k, resource, u.From, u.To))
			}
		}
		if sum.Done.Jobs != ended[k] {
			t.Fatalf("%+v: %d jobs ended, want %d", k, sum.Done.Jobs, ended[k])
		}
	}
	for k := range maps.Keys(u.Sums) {
		if !keys[k] {
			t.Fatalf("nobody used %+v", k)
		}
	}
	var reported, allocated uint64
	for _, r := range list {
		switch {
		case r.Job != nil:
			allocated += uint64(r.Job.Alloc.CPUs) * overlap(r.Job.Times.Start.Unix(), r.Job.Times.End.Unix(), u.From, u.To)
		case r.Event.Kind != accounting.Reserved:
			reported += 8 * overlap(r.Event.From.Unix(), r.Event.To.Unix(), u.From, u.To)
		}
	}
	p := u.Parts("cpu")
	if p.Allocated != allocated || p.Reported < max(reported, allocated) || p.Allocated+p.Down+p.PlannedDown+p.Idle+p.Planned != p.Reported {
		t.Fatalf("the cluster: %+v; jobs held %d, nodes had %d", p, allocated, reported)
	}
}

// Records that are read by user are those of the user, by name or uid, in their order.
func TestByUser(t *testing.T) {
	l := open(t, t.TempDir())
	fill(t, l, 1, 500, 60) // over the end of a month
	for _, c := range []struct {
		users []string
		want  func(uid int) bool
	}{
		{[]string{"user3"}, func(u int) bool { return u == 3 }},
		{[]string{"3", "user3"}, func(u int) bool { return u == 3 }},
		{[]string{"user5", "1"}, func(u int) bool { return u == 5 || u == 1 }},
		{[]string{"user"}, func(int) bool { return false }},
		{[]string{"nobody", "99"}, func(int) bool { return false }},
	} {
		var got, want []string
		for n := 40; n < 480; n++ {
			if c.want(n % 7) {
				want = append(want, fmt.Sprint(1000+n))
			}
		}
		err := l.Jobs(t.Context(), december+40_000, december+480_000, nil, c.users, func(j *job.Job) bool {
			got = append(got, fmt.Sprint(j.ID))
			return true
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %v, want %v (%v)", c.users, got, want, err)
		}
	}
}
