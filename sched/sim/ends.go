package sim

import (
	"container/heap"

	"muster/job"
)

// ending is the end of an attempt that is to come.
type ending struct {
	at      job.Time
	job     job.ID
	attempt uint32
	timeout bool
}

// endQueue is a heap of ends; the first, and of those at one time the one of the
// lowest job, is on top.
type endQueue []ending

// Len implements heap.Interface.
func (q endQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q endQueue) Less(a, b int) bool {
	return q[a].at < q[b].at || q[a].at == q[b].at && q[a].job < q[b].job
}

// Swap implements heap.Interface.
func (q endQueue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push implements heap.Interface.
func (q *endQueue) Push(x any) { *q = append(*q, x.(ending)) }

// Pop implements heap.Interface.
func (q *endQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q *endQueue) push(e ending) { heap.Push(q, e) }
func (q *endQueue) pop() ending   { return heap.Pop(q).(ending) }
