package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/job"
)

// stepIO is a running step as srun sees it.
type stepIO struct {
	c      *stepCommand
	start  *api.StepStart
	grant  *api.Grant
	stream *api.StepStream
	input  io.Reader // nil: none
	out    io.Writer
	err    io.Writer
	only   [2]int64 // the one task whose output is shown; -1: all
	width  int      // of a task number in a label
	// keepFiles: an earlier component of the step has emptied the output files.
	keepFiles bool
	parts     map[partKey][]byte
	code      int // highest exit code
	ended     uint32
	ending    atomic.Bool     // the step was told to end
	abortSaid atomic.Bool     // and the user that it was
	later     []*time.Timer   // what ends it
	running   []int           // tasks by node, with -v
	over      map[uint32]bool // tasks that have ended
	exits     exitLines
	gathered  api.PMIBarrier // of an MPI program, from the nodes
	arrived   int            // nodes that are there

	sending sync.Mutex // of messages to the tasks
	taken   []uint64   // input that each node has taken
	window  chan struct{}
	mu      sync.Mutex // of taken and over
}

// partKey is a stream whose last line is not complete.
type partKey struct {
	task  uint32
	error bool
}

// windowBytes is how much input may be under way.
const windowBytes = 256 << 10

// prepare works out what the tasks are launched with.
func (s *stepIO) prepare(environ []string) error {
	o, in, b := s.c.o, s.c.in, &s.c.o.Job.Batch
	s.parts, s.taken, s.window = map[partKey][]byte{}, make([]uint64, len(s.grant.Nodes)), make(chan struct{}, 1)
	s.over, s.running = map[uint32]bool{}, make([]int, len(s.grant.Nodes))
	s.width = len(strconv.FormatUint(uint64(max(1, s.grant.Tasks, s.start.All)-1), 10))
	st := s.start
	st.Dir = in.dir
	if b.WorkDir != "" {
		st.Dir = b.WorkDir
	}
	st.Umask, st.Append, st.JobName = umask(), b.Append == job.Yes, in.env("SLURM_JOB_NAME")
	st.Terminal = o.Run.Terminal
	st.Dist, st.CPUsPerTask = o.Job.Place.Dist, uint32(o.Job.Size.CPUsPerTask)
	if o.Run.MPI != "none" {
		st.MPI = o.Run.MPI
	}
	st.OneThread = o.Job.Size.ThreadsPerCore == 1 && o.WasSet("threads-per-core")|o.WasSet("hint") == slurm.FromCommandLine
	if b := o.Run.CPUBind; b != nil {
		st.CPUBind = b.String()
	}
	if id, err := strconv.ParseUint(in.env("SLURM_ARRAY_JOB_ID"), 10, 32); err == nil {
		task, _ := strconv.ParseUint(in.env("SLURM_ARRAY_TASK_ID"), 10, 32)
		st.ArrayJob, st.ArrayTask = job.ID(id), uint32(task)
	}
	names, err := slurm.PropagatedLimits(o.Act.Propagate)
	if err != nil {
		return err
	}
	if st.Limits, err = slurm.ReadLimits(names, softLimit); err != nil {
		return err
	}
	if st.Env, err = s.environment(environ); err != nil {
		return err
	}
	if err := s.openInput(b.Stdin); err != nil {
		return err
	}
	return s.openOutputs(b.Stdout, b.Stderr)
}

// environment is what all tasks get: srun's own, as --export narrows it, and the
// step's variables.
func (s *stepIO) environment(environ []string) ([]byte, error) {
	export, err := slurm.ParseExport(s.c.o.Job.Batch.Export)
	if err != nil {
		return nil, err
	}
	env := slurm.StepExport(export, environ)
	g := s.grant
	nodes := make([]string, len(g.Nodes))
	tasks := make([]uint32, len(g.Nodes))
	for i, n := range g.Nodes {
		nodes[i], tasks[i] = n.Name, uint32(len(n.Tasks))
	}
	jobID := g.Job
	if s.start.Leader != 0 {
		jobID = s.start.Leader
	}
	id, step := strconv.FormatUint(uint64(jobID), 10), strconv.FormatUint(uint64(g.Step), 10)
	count, list := strconv.FormatUint(uint64(max(g.Tasks, s.start.All)), 10), hostlist.Compress(nodes)
	perNode, number := slurm.CompressCounts(tasks), strconv.Itoa(len(nodes))
	set := []string{
		"SLURM_JOB_ID=" + id, "SLURM_JOBID=" + id, "SLURM_STEP_ID=" + step, "SLURM_STEPID=" + step,
		"SLURM_NTASKS=" + count, "SLURM_NPROCS=" + count, "SLURM_STEP_NUM_TASKS=" + count, "SLURM_STEP_NUM_NODES=" + number,
		"SLURM_STEP_NODELIST=" + list, "SLURM_STEP_TASKS_PER_NODE=" + perNode, "SLURM_NNODES=" + number,
		"SLURM_NODELIST=" + list, "SLURM_TASKS_PER_NODE=" + perNode,
		fmt.Sprintf("SLURM_UMASK=%04o", s.start.Umask), "SLURM_SUBMIT_DIR=" + s.c.in.dir,
		"SLURM_STEP_LAUNCHER_PORT=0", "SLURM_SRUN_COMM_PORT=0",
	}
	if host, err := os.Hostname(); err == nil {
		set = append(set, "SLURM_SUBMIT_HOST="+host)
	}
	set = append(set, s.c.placement(g.Tasks, len(nodes))...)
	return slurm.SetEnvironment(env, set), nil
}

// openInput says where the tasks' input comes from: srun's own, a file that srun
// reads, or a file of each task's own on its node.
func (s *stepIO) openInput(value string) error {
	s.start.Feed = api.FeedAll
	if s.start.Terminal {
		s.start.Feed = 0
	}
	if task, ok := slurm.TaskNumber(value); ok && value != "" && task < s.grant.Tasks {
		s.start.Feed = int32(task)
		value = ""
	}
	switch {
	case value == "" || strings.EqualFold(value, "all"):
		s.input = s.c.in.stdin
	case slurm.TaskFile(value):
		s.start.Stdin = value
	case value == "/dev/null":
		s.start.Stdin = value
	default:
		f, err := os.Open(s.file(value))
		if err != nil {
			return fmt.Errorf("Could not open stdin file: %w", err)
		}
		s.input = f
	}
	return nil
}

// openOutputs says where output goes: to srun's own, to a file that srun writes,
// or to a file of each task's own on its node. Without -e, standard error goes
// where standard output does if that is a file.
func (s *stepIO) openOutputs(stdout, stderr string) error {
	s.only = [2]int64{-1, -1}
	s.out, s.err = os.Stdout, os.Stderr
	for i, value := range []string{stdout, stderr} {
		if task, ok := slurm.TaskNumber(value); ok && value != "" && task < s.grant.Tasks {
			s.only[i] = int64(task)
			continue
		}
		if value == "" || strings.EqualFold(value, "all") {
			if i == 1 && stderr == "" && s.out != io.Writer(os.Stdout) {
				s.err = s.out
			}
			continue
		}
		if slurm.TaskFile(value) {
			if i == 0 {
				s.start.Stdout = value
			} else {
				s.start.Stderr = value
			}
			continue
		}
		flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
		if !s.start.Append && !s.keepFiles {
			flags |= os.O_TRUNC
		}
		f, err := os.OpenFile(s.file(value), flags, 0o666)
		if err != nil {
			return fmt.Errorf("Could not open %s file: %w", []string{"stdout", "stderr"}[i], err)
		}
		if i == 0 {
			s.out = f
		} else {
			s.err = f
		}
	}
	return nil
}

// file is the name of a file that srun itself opens.
func (s *stepIO) file(pattern string) string {
	name := slurm.ExpandPattern(pattern, &slurm.Names{
		Job: s.grant.Job, ArrayJob: s.start.ArrayJob, ArrayTask: s.start.ArrayTask, Name: s.start.JobName,
		User: s.c.in.env("USER"), Step: strconv.FormatUint(uint64(s.grant.Step), 10), SLUID: s.c.in.env("SLURM_JOB_SLUID"),
	})
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.start.Dir, name)
	}
	return name
}

// run runs the tasks and relays until all have ended.
func (s *stepIO) run() int {
	in := s.c.in
	if s.start.Terminal {
		restore := s.rawTerminal()
		defer restore()
	}
	var err error
	if s.stream, err = s.c.client.Run(s.start); err != nil {
		in.errorf("%v", err)
		return 1
	}
	stop := s.watchSignals()
	defer stop()
	defer s.finish()
	s.sayLaunch()
	if s.start.Stdin == "" {
		go s.feed()
	}
	for {
		var e api.StepEvent
		more, err := s.stream.Next(&e)
		if err != nil {
			in.errorf("StepId=%d.%d: %v", s.grant.Job, s.grant.Step, err)
			return max(s.code, 1)
		}
		if !more {
			break
		}
		s.event(&e)
	}
	for k, rest := range s.parts {
		if len(rest) > 0 {
			s.line(k, append(rest, '\n'))
		}
	}
	if s.ended < s.grant.Tasks && s.code == 0 {
		return 1
	}
	return s.code
}

// event takes one message of a node.
func (s *stepIO) event(e *api.StepEvent) {
	name := ""
	if int(e.Node) < len(s.grant.Nodes) {
		name = s.grant.Nodes[e.Node].Name
	}
	switch {
	case e.Output != nil:
		s.write(e.Output)
	case e.Exit != nil:
		s.exit(name, e.Exit)
	case e.Lost != "":
		s.c.in.errorf("Node failure on %s: %s", name, e.Lost)
		s.code = max(s.code, 1)
		s.allTaken(int(e.Node))
		s.abort()
	case e.Started != nil:
		s.startedOn(e.Node)
	case e.Barrier != nil:
		s.barrier(e.Barrier)
	case e.Ending:
		s.aborted()
	case e.Done:
		s.allTaken(int(e.Node))
	case e.Taken > 0:
		s.mu.Lock()
		s.taken[e.Node] = e.Taken
		s.mu.Unlock()
		s.wakeFeed()
	}
}

// exit notes the end of a task, and says what was wrong with it.
func (s *stepIO) exit(node string, x *api.TaskExit) {
	s.mu.Lock()
	s.over[x.Task] = true
	s.mu.Unlock()
	s.ended++
	line := exitLine{node: node, step: s.id(), tasks: []uint32{s.start.Before + x.Task}, status: x.Status<<8 | uint32(x.Signal)}
	code := int(x.Status)
	switch {
	case x.Failure != "":
		s.c.in.errorf("task %d launch failed: %s", x.Task, x.Failure)
	case x.Signal != 0:
		code = 128 + int(x.Signal)
		line.text = signalText(x.Signal)
	case code != 0:
		line.text = fmt.Sprintf("Exited with exit code %d", code)
	}
	if line.text != "" || s.verbose() && x.Failure == "" {
		s.exits.add(s.c.in, line, s.verbose())
	}
	s.code = max(s.code, code)
	kill := s.c.o.Run.KillOnBad
	switch {
	case code != 0 && kill != "" && kill != "0" && s.ended < s.grant.Tasks && !s.ending.Load():
		s.endAfterFailure()
	case s.ended == 1 && s.c.o.Run.Wait > 0 && s.grant.Tasks > 1:
		s.later = append(s.later, time.AfterFunc(time.Duration(s.c.o.Run.Wait)*time.Second, s.endAfterFirst))
	}
	if s.ended == s.grant.Tasks {
		for _, t := range s.later {
			t.Stop()
		}
	}
}

func (s *stepIO) send(in *api.StepInput) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.stream.Send(in)
}

// write shows what a task wrote. With labels, only whole lines.
func (s *stepIO) write(o *api.Output) {
	k := partKey{o.Task, o.Error}
	at := 0
	if o.Error {
		at = 1
	}
	if s.only[at] >= 0 && s.only[at] != int64(o.Task) {
		return
	}
	if !s.c.o.Run.Label {
		s.raw(k, o.Data)
		return
	}
	data := o.Data
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		s.line(k, append(s.parts[k], data[:end+1]...))
		s.parts[k] = s.parts[k][:0]
		data = data[end+1:]
	}
	s.parts[k] = append(s.parts[k], data...)
	if len(s.parts[k]) > 1<<20 { // no line: it is shown as it is
		s.line(k, s.parts[k])
		s.parts[k] = nil
	}
}

// line shows a line with its label.
func (s *stepIO) line(k partKey, text []byte) {
	s.raw(k, fmt.Appendf(nil, "%*d: %s", s.width, s.start.Before+k.task, text))
}

func (s *stepIO) raw(k partKey, data []byte) {
	w := s.out
	if k.error {
		w = s.err
	}
	if _, err := w.Write(data); err != nil && !s.ending.Load() {
		s.c.in.errorf("writing the output: %v", err)
		s.code = max(s.code, 1)
		s.abort()
	}
}

// feed sends srun's input to the tasks, never more than they take.
func (s *stepIO) feed() {
	sent := uint64(0)
	buf := make([]byte, 32<<10)
	for s.input != nil {
		n, err := s.input.Read(buf)
		if n > 0 {
			sent += uint64(n)
			if s.send(&api.StepInput{Data: buf[:n]}) != nil {
				return
			}
		}
		if err != nil {
			break
		}
		for sent-s.leastTaken(sent) > windowBytes {
			<-s.window
		}
	}
	s.send(&api.StepInput{EOF: true})
}

// leastTaken is what all nodes have taken; sent if all are done.
func (s *stepIO) leastTaken(sent uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := sent
	for _, t := range s.taken {
		least = min(least, t)
	}
	return least
}

// allTaken: a node that is done holds no input up.
func (s *stepIO) allTaken(node int) {
	s.mu.Lock()
	if node < len(s.taken) {
		s.taken[node] = 1<<64 - 1
	}
	s.mu.Unlock()
	s.wakeFeed()
}

func (s *stepIO) wakeFeed() {
	select {
	case s.window <- struct{}{}:
	default:
	}
}
