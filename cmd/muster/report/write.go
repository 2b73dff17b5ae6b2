package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Write writes the report, all of it in one piece.
func (r *Report) Write(w io.Writer, format string) error {
	var b bytes.Buffer
	var err error
	switch format {
	case "csv":
		err = r.csv(&b)
	case "json":
		err = r.json(&b)
	case "html":
		err = page().Execute(&b, r)
	default:
		err = r.text(&b)
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the report %s: %w", r.Name, err)
	}
	return nil
}

// Title is the report's first line.
func (r *Report) Title() string {
	s := fmt.Sprintf("%s of cluster %s, %s: %s to %s", r.Name, r.Cluster, r.Period, r.From, r.To)
	if r.Open {
		s += " (not over)"
	}
	return s
}

func (r *Report) text(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.Title())
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

func (r *Report) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	return cmp.Or(c.Write(r.Columns), c.WriteAll(r.Rows))
}

// json writes rows as objects; numbers are numbers.
func (r *Report) json(w io.Writer) error {
	rows := []map[string]any{}
	for _, row := range r.Rows {
		o := map[string]any{}
		for i, v := range row {
			if o[r.Columns[i]] = v; i >= r.Labels {
				o[r.Columns[i]] = json.Number(v)
			}
		}
		rows = append(rows, o)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"report": r.Name, "cluster": r.Cluster, "period": r.Period, "from": r.From, "to": r.To, "open": r.Open, "rows": rows})
}

// Bar is one bar of the chart: its name, its value and its length, 0 to 100.
type Bar struct {
	Label, Value string
	Length       string
}

// Chart are the bars of the column that the chart shows.
func (r *Report) Chart() []Bar {
	most := 0.0
	value := func(row []string) float64 { n, _ := strconv.ParseFloat(row[r.Bars], 64); return n }
	for _, row := range r.Rows {
		most = max(most, value(row))
	}
	var out []Bar
	for _, row := range r.Rows {
		if most > 0 {
			out = append(out, Bar{strings.Join(row[:r.Labels], " "), row[r.Bars], fmt.Sprintf("%.1f", 100*value(row)/most)})
		}
	}
	return out
}

// Bold is the name of the column that the chart shows.
func (r *Report) Bold() string { return r.Columns[r.Bars] }

// page is one file that needs no other: no script, no picture, no font.
func page() *template.Template {
	return template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<style>body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:left}
.bar{background:#36c;height:1em;display:inline-block}.chart td{border:0}</style></head><body>
<h1>{{.Title}}</h1>
<h2>{{.Bold}}</h2><table class="chart">{{range .Chart}}
<tr><td>{{.Label}}</td><td style="width:30em"><span class="bar" style="width:{{.Length}}%"></span></td><td>{{.Value}}</td></tr>{{end}}
</table>
<table><tr>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>{{range .Rows}}
<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>{{end}}
</table></body></html>
`))
}

func compareNumbers(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y)
}
