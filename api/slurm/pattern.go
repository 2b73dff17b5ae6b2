package slurm

import (
	"strconv"
	"strings"

	"muster/job"
)

// Names fills in the patterns of a file name (sbatch(1), filename pattern).
// Node and Rank are 0 for a batch script.
type Names struct {
	Job       job.ID
	ArrayJob  job.ID // 0: no array; %A is Job then
	ArrayTask uint32 // job.NoTask for no array
	Name      string // of the job
	User      string
	Node      string // short name of the node
	NodeIndex uint32
	Rank      uint32
	Restarts  uint32
	SLUID     string
	Step      string // batch, or the number of the step
}

// maxPad is the widest that a number is padded.
const maxPad = 10

// ExpandPattern replaces the patterns of a file name. A backslash anywhere
// switches all replacements off; it is removed.
func ExpandPattern(pattern string, n *Names) string {
	if strings.IndexByte(pattern, '\\') >= 0 {
		return strings.ReplaceAll(pattern, "\\", "")
	}
	if strings.IndexByte(pattern, '%') < 0 {
		return pattern
	}
	var b []byte
	for i := 0; i < len(pattern); {
		if pattern[i] != '%' {
			b = append(b, pattern[i])
			i++
			continue
		}
		end, width := i+1, 0
		for end < len(pattern) && pattern[end] >= '0' && pattern[end] <= '9' {
			width = min(width*10+int(pattern[end]-'0'), maxPad)
			end++
		}
		var ok bool
		if end < len(pattern) {
			b, ok = n.expand(b, pattern[end], width)
		}
		if !ok { // not a pattern: it stays as it is
			b = append(b, pattern[i:min(end+1, len(pattern))]...)
		}
		i = end + 1
	}
	return string(b)
}

// expand appends what stands for one letter; false if it is no pattern.
func (n *Names) expand(b []byte, letter byte, width int) ([]byte, bool) {
	array := n.ArrayJob
	if array == 0 {
		array = n.Job
	}
	switch letter {
	case '%':
		return append(b, '%'), true
	case 'A':
		return pad(b, uint64(array), width), true
	case 'a':
		return pad(b, uint64(n.ArrayTask), width), true
	case 'b':
		return pad(b, uint64(n.ArrayTask%10), width), true
	case 'J':
		b = pad(b, uint64(n.Job), width)
		if _, ok := digits(n.Step); ok {
			b = append(append(b, '.'), n.Step...)
		}
		return b, true
	case 'j':
		return pad(b, uint64(n.Job), width), true
	case 'N':
		return append(b, n.Node...), true
	case 'n':
		return pad(b, uint64(n.NodeIndex), width), true
	case 'r':
		return pad(b, uint64(n.Restarts), width), true
	case 'S':
		return append(b, n.SLUID...), true
	case 's':
		if s, ok := digits(n.Step); ok {
			return pad(b, uint64(s), width), true
		}
		return append(b, n.Step...), true
	case 't':
		return pad(b, uint64(n.Rank), width), true
	case 'u':
		return append(b, n.User...), true
	case 'x':
		return append(b, n.Name...), true
	}
	return b, false
}

// pad appends n with zeros in front up to width.
func pad(b []byte, n uint64, width int) []byte {
	s := strconv.FormatUint(n, 10)
	for range width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}
