package main

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/internal/hostlist"
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
}

type exitLine struct {
	node, text string
	tasks      []uint32
}

// add notes that a task did not end well.
func (e *exitLines) add(in *invocation, node, text string, task uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer == nil {
		e.timer = time.AfterFunc(exitPause, func() { e.flush(in) })
	}
	for i := range e.lines {
		if l := &e.lines[i]; l.node == node && l.text == text {
			l.tasks = append(l.tasks, task)
			return
		}
	}
	e.lines = append(e.lines, exitLine{node: node, text: text, tasks: []uint32{task}})
}

// flush prints what there is.
func (e *exitLines) flush(in *invocation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.lines {
		in.errorf("%s", e.lines[i].String())
	}
	e.lines = nil
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
}

// String is the line as Slurm prints it: n1: tasks 0-2,5: Killed.
func (l *exitLine) String() string {
	word := "task "
	if len(l.tasks) > 1 {
		word = "tasks "
	}
	slices.Sort(l.tasks)
	names := make([]string, len(l.tasks))
	for i, t := range l.tasks {
		names[i] = strconv.FormatUint(uint64(t), 10)
	}
	list := strings.Trim(hostlist.Compress(names), "[]")
	return l.node + ": " + word + list + ": " + l.text
}
