package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"muster/job"
)

// The sizes of a picture, in pixels.
const (
	pictureWidth  = 1200
	pictureMargin = 60
	panelHeight   = 200
	ganttHeight   = 420
	panelGap      = 50
)

// Picture draws a run as SVG: the share of the CPUs that jobs hold and the number
// of jobs that wait over time, the waits of the jobs by their submit, and which
// job held what when (a Gantt chart, one band for each node, or one of CPUs if
// there is one node).
func Picture(w io.Writer, r *Result) error {
	b := bufio.NewWriter(w)
	height := 3*(panelHeight+panelGap) + ganttHeight + 2*panelGap
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		pictureWidth, height, pictureWidth, height)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="white"/>`+"\n", pictureWidth, height)
	d := drawing{b: b, r: r, first: r.FirstSubmit()}
	for i := range r.Spans {
		d.last = max(d.last, r.Spans[i].End)
	}
	d.last = max(d.last, d.first+1)
	top := panelGap
	d.steps(top, "CPUs held, per cent", "#2b6cb0", d.held(), int64(max(1, r.CPUs)), 100)
	top += panelHeight + panelGap
	waiting := d.waiting()
	most := int64(1)
	for _, x := range waiting {
		most = max(most, x.value)
	}
	d.steps(top, "jobs waiting", "#b7791f", waiting, most, most)
	top += panelHeight + panelGap
	d.waits(top)
	top += panelHeight + panelGap
	d.gantt(top)
	fmt.Fprintln(b, "</svg>")
	return b.Flush()
}

// drawing is a picture in the making.
type drawing struct {
	b           *bufio.Writer
	r           *Result
	first, last job.Time
}

// point is a value that holds from a time on.
type point struct {
	at    job.Time
	value int64
}

func (d *drawing) x(t job.Time) float64 {
	return pictureMargin + float64(t-d.first)/float64(d.last-d.first)*(pictureWidth-2*pictureMargin)
}

// sums makes a running sum of changes.
func sums(list []point) []point {
	slices.SortStableFunc(list, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	var out []point
	sum := int64(0)
	for i, x := range list {
		sum += x.value
		if i+1 < len(list) && list[i+1].at == x.at {
			continue
		}
		out = append(out, point{x.at, sum})
	}
	return out
}

func (d *drawing) held() []point {
	var list []point
	for i := range d.r.Spans {
		s := &d.r.Spans[i]
		list = append(list, point{s.Start, int64(s.CPUs)}, point{s.End, -int64(s.CPUs)})
	}
	return sums(list)
}

func (d *drawing) waiting() []point {
	var list []point
	for i := range d.r.Spans {
		if s := &d.r.Spans[i]; s.Final {
			list = append(list, point{s.Submit, 1}, point{s.Start, -1})
		}
	}
	return sums(list)
}

// frame draws the axes of a panel and its title.
func (d *drawing) frame(top, height int, title, scale string) {
	fmt.Fprintf(d.b, `<text x="%d" y="%d">%s</text><text x="4" y="%d">%s</text>`+"\n", pictureMargin, top-6, title, top+10, scale)
	fmt.Fprintf(d.b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>`+"\n", pictureMargin, top, pictureWidth-2*pictureMargin, height)
	fmt.Fprintf(d.b, `<text x="%d" y="%d">0</text><text x="%d" y="%d" text-anchor="end">%.1f h</text>`+"\n",
		pictureMargin, top+height+14, pictureWidth-pictureMargin, top+height+14, float64(d.last-d.first)/3_600_000)
}

// steps draws values over time. Points that fall on one pixel are drawn as the
// highest of them.
func (d *drawing) steps(top int, title, colour string, list []point, most, shown int64) {
	d.frame(top, panelHeight, title, fmt.Sprint(shown))
	y := func(v int64) float64 { return float64(top) + panelHeight*(1-float64(v)/float64(most)) }
	fmt.Fprintf(d.b, `<path fill="none" stroke="%s" d="M%d %.1f`, colour, pictureMargin, y(0))
	last, pixel := int64(0), -1
	high := int64(0)
	for i, p := range list {
		at := int(d.x(p.at))
		if at == pixel {
			high = max(high, p.value)
			if i+1 < len(list) && int(d.x(list[i+1].at)) == pixel {
				continue
			}
			fmt.Fprintf(d.b, " V%.1f V%.1f", y(high), y(p.value))
			last = p.value
			continue
		}
		pixel, high = at, p.value
		fmt.Fprintf(d.b, " H%d V%.1f V%.1f", at, y(last), y(p.value))
		last = p.value
	}
	fmt.Fprintln(d.b, `"/>`)
}

// waits draws a dot for the wait of each job, at its submit.
func (d *drawing) waits(top int) {
	most := job.Time(1)
	for i := range d.r.Spans {
		most = max(most, d.r.Spans[i].Start-d.r.Spans[i].Submit)
	}
	d.frame(top, panelHeight, "wait by submit, hours", fmt.Sprintf("%.1f", float64(most)/3_600_000))
	type dot struct{ x, y int }
	seen := map[dot]bool{}
	for i := range d.r.Spans {
		s := &d.r.Spans[i]
		p := dot{int(d.x(s.Submit)), top + int(panelHeight*(1-float64(s.Start-s.Submit)/float64(most)))}
		if !seen[p] {
			seen[p] = true
			fmt.Fprintf(d.b, `<circle cx="%d" cy="%d" r="1" fill="#2f855a"/>`+"\n", p.x, p.y)
		}
	}
}

// maxBars bounds the bars of a Gantt chart, so that the picture can be opened.
const maxBars = 20_000

func (d *drawing) gantt(top int) {
	bands := map[job.NodeID]int{}
	for i := range d.r.Spans {
		for _, n := range d.r.Spans[i].Nodes {
			bands[n] = 0
		}
	}
	nodes := make([]job.NodeID, 0, len(bands))
	for n := range bands {
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	for i, n := range nodes {
		bands[n] = i
	}
	title := fmt.Sprintf("jobs on %d nodes", len(nodes))
	rows := len(nodes)
	var lanes []int
	if rows == 1 {
		title = "jobs, each as high as its CPUs"
		lanes = d.lanes()
		rows = int(d.r.CPUs)
	}
	if len(d.r.Spans) > maxBars {
		title += fmt.Sprintf(" (the first %d of %d)", maxBars, len(d.r.Spans))
	}
	d.frame(top, ganttHeight, title, "")
	unit := float64(ganttHeight) / float64(max(1, rows))
	for i := range d.r.Spans[:min(maxBars, len(d.r.Spans))] {
		s := &d.r.Spans[i]
		if lanes != nil {
			d.bar(s, float64(top)+unit*float64(lanes[i]), unit*float64(s.CPUs))
			continue
		}
		for _, n := range s.Nodes {
			d.bar(s, float64(top)+unit*float64(bands[n]), unit)
		}
	}
}

func (d *drawing) bar(s *Span, y, height float64) {
	x := d.x(s.Start)
	fmt.Fprintf(d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="hsl(%d,60%%,65%%)" stroke="white" stroke-width="0.2"><title>job %d, %d CPUs</title></rect>`+"\n",
		x, y, max(0.5, d.x(s.End)-x), max(0.5, height), int(s.Job)*47%360, s.Job, s.CPUs)
}

// lanes gives each span CPUs of its own on a single node: the first of a stretch
// that is free, or 0 where only scattered ones are.
func (d *drawing) lanes() []int {
	order := make([]int, len(d.r.Spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.r.Spans[a].Start, d.r.Spans[b].Start) })
	until := make([]job.Time, d.r.CPUs)
	out := make([]int, len(d.r.Spans))
	for _, i := range order[:min(maxBars, len(order))] {
		s := &d.r.Spans[i]
		run := 0
		for k := range until {
			if run++; until[k] > s.Start {
				run = 0
			}
			if run == int(s.CPUs) {
				out[i] = k + 1 - run
				for c := out[i]; c <= k; c++ {
					until[c] = s.End
				}
				break
			}
		}
	}
	return out
}
