package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// exitPause is how long srun waits for more tasks of a node that end alike, to
// name them in one line.
const exitPause = 25 * time.Millisecond

// exitLines are the ends of tasks that srun has still to speak of: those of a node
// that end alike at about the same time share a line.
type exitLines struct {
	mu    sync.Mutex
	lines []exitLine
	timer *time.Timer
	// verbose: -v was given.
	verbose bool
}

type exitLine struct {
	node, text string // "" for one that ended well
	step       string
	status     uint32 // as wait(2) gives it
	tasks      []uint32
}

// add notes the end of tasks. With -v all ends are spoken of, and how they were
// heard of.
func (e *exitLines) add(in *invocation, line exitLine, verbose bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.verbose = verbose
	if e.timer == nil {
		e.timer = time.AfterFunc(exitPause, func() { e.flush(in) })
	}
	for i := range e.lines {
		if l := &e.lines[i]; l.node == line.node && l.text == line.text && l.step == line.step {
			l.tasks = append(l.tasks, line.tasks...)
			return
		}
	}
	e.lines = append(e.lines, line)
}

// flush prints what there is.
func (e *exitLines) flush(in *invocation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.lines {
		slices.Sort(e.lines[i].tasks)
	}
	slices.SortStableFunc(e.lines, func(a, b exitLine) int { return cmp.Compare(a.tasks[0], b.tasks[0]) })
	for i := range e.lines {
		l := &e.lines[i]
		if e.verbose {
			noun := "task"
			if len(l.tasks) > 1 {
				noun = "tasks"
			}
			fmt.Fprintf(in.stderr, "srun: Received task exit notification for %d %s of %s (status=0x%04x).\n", len(l.tasks), noun, l.step, l.status)
		}
		if l.text != "" {
			in.errorf("%s", l.String())
		} else {
			fmt.Fprintf(in.stderr, "srun: %s\n", l.String())
		}
	}
	e.lines = nil
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
}

// String is the line as Slurm prints it: n1: tasks 0-2,5: Killed.
func (l *exitLine) String() string {
	text := l.text
	if text == "" {
		text = "Completed"
	}
	return l.node + ": " + taskList(l.tasks) + ": " + text
}
