package query

import (
	"io"
	"testing"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/api/slurm/tree"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/job"
	"muster/state"
)

// BenchmarkSqueue10000 is squeue of 10,000 waiting jobs without the network: the
// controller's answer, and the client's reading and printing of it.
func BenchmarkSqueue10000(b *testing.B) {
	c := benchCore(b)
	times, err := slurm.NewTimeFormat("", time.UnixMilli(int64(c.now)).UTC())
	if err != nil {
		b.Fatal(err)
	}
	for name, fields := range map[string]api.JobFields{"table": 0, "json": api.JobAll &^ api.JobSteps} {
		query := &api.JobQuery{AnyState: true, Fields: fields}
		b.Run(name+"/server", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.answer(b, query)
			}
		})
		chunks := c.answer(b, query)
		b.Run(name+"/client", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var list api.JobList
				list.Grow(len(chunks))
				for _, chunk := range chunks {
					if err := wire.Decode(chunk, &list); err != nil {
						b.Fatal(err)
					}
				}
				if name == "json" {
					w := tree.NewWriter(io.Discard, false)
					tree.Jobs(w, &list)
					if err := w.Close(); err != nil {
						b.Fatal(err)
					}
					continue
				}
				table := format.Letters("%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R", format.JobFields())
				order, _ := format.JobOrder("")
				x := &format.Context{Now: list.Now, Times: times}
				jobs := make([]*api.JobRecord, len(list.Jobs))
				for i := range list.Jobs {
					jobs[i] = &list.Jobs[i]
				}
				order.Sort(jobs, x)
				var out []byte
				for _, r := range jobs {
					out = table.AppendRow(out, x, r)
				}
			}
		})
	}
}

// benchCore is a cluster with 10,000 waiting jobs.
func benchCore(b *testing.B) *core {
	c := newCore(b)
	for range 100 {
		var jobs []state.Envelope
		for range 100 {
			n := state.NewJob{Owner: job.Owner{UID: 1001, User: "alice"}, Account: "phys", Priority: 100,
				Request: job.Request{Name: "job", Partitions: []string{"debug"}, SubmitLine: "sbatch job.sh", Batch: job.Batch{WorkDir: "/home/alice/project"}}}
			jobs = append(jobs, state.Seal(&state.Submit{Jobs: []state.NewJob{n}}, state.Actor{}, state.RequestID{}))
		}
		c.index++
		if _, err := c.m.Apply(c.index, &state.Entry{Now: c.now, Commands: jobs}); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// answer runs a query and returns its chunks.
func (c *core) answer(b *testing.B, q *api.JobQuery) (chunks [][]byte) {
	r := &service.Request{Call: api.Call{Body: wire.Encode(nil, q)}}
	r.Send = func(chunk []byte) error {
		chunks = append(chunks, append([]byte(nil), chunk...))
		return nil
	}
	if err := jobs(b.Context(), c, r); err != nil {
		b.Fatal(err)
	}
	return chunks
}
