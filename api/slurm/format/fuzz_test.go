package format

import (
	"testing"

	"muster/api/slurm"
	"muster/job"
)

// FuzzFormats holds that no format, however odd, makes a line longer than its
// widths and texts say, nor ends the program.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{"%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R", "%all", "%", "%%", "%.i", "%99999999999i|", "JobID:.20x,Name:,State", "a:99999999999", "jobid%-30,state%5", "ALL", "%5P*"} {
		f.Add(s)
	}
	times, err := slurm.NewTimeFormat("", testNow)
	if err != nil {
		f.Fatal(err)
	}
	x := &Context{Now: job.TimeOf(testNow), Times: times}
	r := held()
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			return
		}
		most := len(s)*(maxWidth+4096) + 4096
		for _, table := range []Table[NodeGroup]{Letters(s, NodeFields()), Names(s, NodeFields())} {
			if got := len(table.AppendHead(nil)); got > most {
				t.Errorf("%q: a head of %d bytes", s, got)
			}
		}
		jobs := Names(s, JobFields())
		for i := range jobs.Columns {
			if c := &jobs.Columns[i]; c.Width < 0 || c.Width > maxWidth || c.Field == nil && c.Width > maxWidth {
				t.Errorf("%q: column %+v", s, c)
			}
		}
		columns, err := AcctColumns(s)
		if err != nil {
			return
		}
		table := AcctTable{Columns: columns, Delimiter: "|"}
		if got := len(table.AppendHead(nil)); got > 2*most*len(AcctFields()) {
			t.Errorf("%q: a head of %d bytes", s, got)
		}
		for _, c := range columns {
			c.Text(nil, x, &AcctRow{Job: r})
		}
	})
}
