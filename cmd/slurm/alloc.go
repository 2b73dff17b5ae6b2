package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/internal/wire"
	"muster/job"
)

// allocation is what salloc or srun has got.
type allocation struct {
	id         job.ID
	record     *api.JobRecord
	components []*api.JobRecord // of a heterogeneous job, the record first
	cluster    string
}

// allocate asks for an allocation and waits until it is there. The allocation
// lasts as long as the client's connection.
func (c *stepCommand) allocate() (*allocation, int) {
	in := c.in
	request, err := c.allocationRequest()
	if err == nil {
		err = c.connect()
	}
	if err != nil {
		in.errorf("%v", err)
		return nil, 1
	}
	var reply api.SubmitReply
	if _, err := c.client.Ask(api.MethodAllocate, request, &reply); err != nil {
		return nil, c.allocationRefused(err)
	}
	if len(reply.Jobs) == 0 {
		in.errorf("Unable to allocate resources: the controller gave no job id")
		return nil, 1
	}
	for _, m := range reply.Messages {
		fmt.Fprintf(in.stderr, "%s: %s\n", in.name, m)
	}
	id := reply.Jobs[0]
	if code, ok := c.await(id); !ok {
		return nil, code
	}
	a := &allocation{id: id, cluster: reply.Cluster}
	for _, id := range reply.Jobs {
		r, err := c.lookUp(id)
		if err != nil {
			in.errorf("Unable to look up job %d: %v", id, err)
			return nil, 1
		}
		a.components = append(a.components, r)
	}
	a.record = a.components[0]
	return a, 0
}

// test is --test-only: it says when and where the job could start, and asks for
// no allocation.
func (c *stepCommand) test() int {
	in := c.in
	request, err := c.allocationRequest()
	if err == nil {
		err = c.connect()
	}
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer c.client.Close()
	request.TestOnly, request.Script = true, []byte("#!/bin/sh\n")
	s := &submission{in: in}
	var reply api.SubmitReply
	if _, err := c.client.Ask(api.MethodSubmit, request, &reply); err != nil {
		return s.refused(err, true)
	}
	if !c.o.Act.Quiet {
		s.couldStart(request, &reply)
	}
	return 0
}

// allocationRequest makes the message out of the options of all components.
func (c *stepCommand) allocationRequest() (*api.SubmitRequest, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host's name: %w", err)
	}
	out := &api.SubmitRequest{Keep: c.o.Run.NoShell}
	for _, one := range c.components() {
		if one.o.Job.Name == "" {
			one.o.Job.Name = c.o.Job.Name
		}
		out.Jobs = append(out.Jobs, one.submitJob(host))
	}
	return out, nil
}

// submitJob is the job of one component.
func (c *stepCommand) submitJob(host string) api.SubmitJob {
	o := c.o
	r := &o.Job
	if r.Name == "" {
		r.Name = "interactive"
		if len(c.args) > 0 {
			r.Name = filepath.Base(c.args[0])
		}
	}
	q := *r
	q.Batch = job.Batch{WorkDir: r.Batch.WorkDir, SubmitDir: c.in.dir, SubmitHost: host, Umask: umask()}
	if q.Batch.WorkDir == "" {
		q.Batch.WorkDir = c.in.dir
	}
	if len(c.args) > 0 {
		q.Batch.Command = c.args[0]
	}
	q.SubmitLine = submitLine(c.in.name, c.in.args)
	j := api.SubmitJob{Request: q, Dependency: o.Dependency, Hold: o.Hold, Requeue: job.No}
	if o.Priority != nil {
		j.HasPriority, j.Priority = true, *o.Priority
	}
	return j
}

// allocationRefused prints why there is no allocation.
func (c *stepCommand) allocationRefused(err error) int {
	var e *api.Error
	if !errors.As(err, &e) {
		c.in.errorf("Unable to allocate resources: %v", err)
		return 1
	}
	lines := strings.Split(e.Text, "\n")
	for _, line := range lines[:len(lines)-1] {
		c.in.errorf("%s", line)
	}
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "Invalid generic resource") {
		c.in.errorf("%s", last)
	} else {
		c.in.errorf("%s: %s", c.refusal(), last)
	}
	if e.Hint != "" {
		fmt.Fprintf(c.in.stderr, "%s: %s\n", c.in.name, e.Hint)
	}
	return 1
}

// refusal is how the command begins to say that its job was not taken.
func (c *stepCommand) refusal() string {
	if c.in.name == "salloc" {
		return "Job submit/allocate failed"
	}
	return "Unable to allocate resources"
}

// granted is what came of waiting.
type granted struct {
	reply api.ReadyReply
	err   error
}

// await waits until the job has started. It says that it waits, as Slurm does,
// if that takes more than a moment.
func (c *stepCommand) await(id job.ID) (int, bool) {
	in := c.in
	done := make(chan granted, 1)
	client := c.client
	go func() {
		var g granted
		_, g.err = client.Ask(api.MethodReady, &api.ReadyRequest{Job: id}, &g.reply)
		done <- g
	}()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	queued := time.After(time.Second)
	var limit <-chan time.Time
	if s := c.o.Run.Immediate; s >= 0 {
		limit = time.After(max(time.Second, time.Duration(s)*time.Second))
	}
	said := false
	for {
		select {
		case g := <-done:
			return c.started(id, g, said)
		case <-queued:
			if said = true; !c.o.Act.Quiet {
				if in.name == "salloc" {
					fmt.Fprintf(in.stderr, "salloc: Pending job allocation %d\n", id)
				}
				fmt.Fprintf(in.stderr, "%s: job %d queued and waiting for resources\n", in.name, id)
			}
		case <-limit:
			c.revoke(id)
			in.errorf("Unable to allocate resources: Immediate execution impossible, insufficient priority or resources")
			return 1, false
		case <-signals:
			c.revoke(id)
			fmt.Fprintf(in.stderr, "%s: Job allocation %d has been revoked.\n", in.name, id)
			return 1, false
		}
	}
}

// started says what came of waiting; false if there is no allocation.
func (c *stepCommand) started(id job.ID, g granted, said bool) (int, bool) {
	in := c.in
	switch {
	case g.err != nil:
		in.errorf("Unable to allocate resources: %v", g.err)
		return 1, false
	case !g.reply.Known || g.reply.State.Ended():
		if g.reply.Detail != "" {
			in.errorf("%s", g.reply.Detail)
		}
		fmt.Fprintf(in.stderr, "%s: error: Job allocation %d has been revoked\n", in.name, id)
		return 1, false
	}
	if said && !c.o.Act.Quiet {
		fmt.Fprintf(in.stderr, "%s: job %d has been allocated resources\n", in.name, id)
	}
	return 0, true
}

// revoke ends an allocation over a connection of its own.
func (c *stepCommand) revoke(id job.ID) {
	client, err := c.in.connect()
	if err != nil {
		return // the agent ends it when our connection breaks
	}
	defer client.Close()
	var reply api.ChangeReply
	if _, err := client.Ask(api.MethodComplete, &api.CompleteRequest{Job: id, Signal: uint8(syscall.SIGTERM)}, &reply); err != nil && !alreadyEnded(err) {
		c.in.errorf("Unable to end job %d: %v", id, err)
	}
}

// lookUp reads the record of a job that this user's own calls have changed.
func (c *stepCommand) lookUp(id job.ID) (*api.JobRecord, error) {
	return c.lookUpRef(api.JobRef{ID: id})
}

// lookUpRef is lookUp for a job or a component of one.
func (c *stepCommand) lookUpRef(ref api.JobRef) (*api.JobRecord, error) {
	q := &api.JobQuery{Jobs: []api.JobRef{ref}, Fields: api.JobRequest | api.JobAllocated, AnyState: true}
	call := api.Call{Method: api.MethodJobs, Body: wire.Encode(nil, q), Read: api.ReadLinearizable}
	chunks, _, err := c.client.All(&call)
	if err != nil {
		return nil, err
	}
	var list api.JobList
	for _, b := range chunks {
		if err := wire.Decode(b, &list); err != nil {
			return nil, err
		}
	}
	for i := range list.Jobs {
		if r := &list.Jobs[i]; (ref.HasHet || r.ID == ref.ID) && r.Alloc != nil && r.Request != nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("job %d is not there any more", ref.ID)
}

// environment is that of the host with the job's variables.
func (a *allocation) environment(base []string) []string {
	r := a.record
	j := &slurm.BatchJob{
		ID: r.ID, ArrayTask: job.NoTask, SLUID: string(format.AppendSLUID(nil, r.SLUID)), Cluster: a.cluster, Name: r.Name,
		Partition: r.Partition, Account: r.Account, QOS: r.QOS, Reservation: r.Reservation, Licenses: r.Request.Licenses,
		User: r.Owner.User, UID: r.Owner.UID, GID: r.Owner.GID, Group: r.Owner.Group, Request: r.Request,
		Start: r.Times.Start, End: r.Times.LimitEnd,
	}
	if len(a.components) > 1 {
		j.Het = hetEnvironment(a.components)
	}
	for i := range r.Alloc.Nodes {
		n := &r.Alloc.Nodes[i]
		j.Nodes = append(j.Nodes, slurm.NodeTasks{Name: n.Name, CPUs: n.CPUs, Tasks: n.Tasks})
	}
	if len(r.Alloc.Nodes) > 0 {
		j.CPUs, j.MemoryMB, j.Whole = r.Alloc.Nodes[0].CPUs, r.Alloc.Nodes[0].MemoryMB, r.Alloc.Nodes[0].Whole
	}
	return slurm.AllocationEnv(j, base)
}
