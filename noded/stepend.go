package noded

import (
	"fmt"

	"golang.org/x/sys/unix"

	"muster/api"
	"muster/noded/shepherd"
)

// sayEnds writes into the output why srun ends its step.
func (st *step) sayEnds(ends uint8) {
	switch ends {
	case api.EndsKilled:
		st.writeEnd(" DUE to SIGNAL Killed")
	case api.EndsFailure:
		st.writeEnd(" DUE TO TASK FAILURE")
	}
}

// sayEnding tells srun that its step is being ended by somebody else, and why.
func (st *step) sayEnding(why string) {
	if st.number == 0 {
		st.send(&api.StepEvent{Ending: true})
	}
	st.writeEnd(why)
}

// writeEnd writes the line of a step's end; the first node does so for all.
func (st *step) writeEnd(why string) {
	if st.number == 0 {
		st.write(cancelledLine(st.launch, fmt.Sprintf("STEP %d.%d ON %s", st.grant.Job, st.grant.Step, st.node.cfg.Name), why, st.node.leaderNow()))
	}
}

// write adds a text of the node's own to the error output of the step.
func (st *step) write(text string) {
	if len(st.part.Tasks) > 0 {
		st.send(&api.StepEvent{Output: &api.Output{Task: st.part.Tasks[0], Error: true, Data: []byte(text)}})
	}
}

// stepSignal sends a signal to the tasks of an attempt: those of one step, or
// with none given of all.
func (n *Node) stepSignal(attempt shepherd.Key, number uint32, only *uint32) {
	told := map[*step]bool{}
	for k, t := range n.tasks {
		if k.Attempted() == attempt && (only == nil || k.Step == uint64(*only)+1) {
			if only != nil && number == uint32(unix.SIGKILL) && !told[t.step] { // scancel of a step
				told[t.step] = true
				go t.step.sayEnding(" DUE to SIGNAL Killed")
			}
			t.step.killed = t.step.killed || number == uint32(unix.SIGKILL)
			n.client.Signal(&shepherd.Signal{Key: k, Number: number, Group: true})
		}
	}
}

// noteSteps tells the srun of each step that is ended why.
func (n *Node) noteSteps(a *attempt) {
	if a.ending.Why == "" {
		return
	}
	told := map[*step]bool{}
	for k, t := range n.tasks {
		st := t.step
		if k.Attempted() != a.key || told[st] || st.number != 0 {
			continue
		}
		told[st] = true
		text := endLine(a, fmt.Sprintf("STEP %d.%d", st.grant.Job, st.grant.Step), n.cfg.Name, a.ending, n.leaderNow())
		// srun may be slow to take it: the loop does not wait.
		go func() {
			st.send(&api.StepEvent{Ending: true})
			st.write(text)
		}()
	}
}
