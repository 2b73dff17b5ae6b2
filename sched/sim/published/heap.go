package published

// ending is a running job, by its place in the list of jobs, and when it ends.
// Of jobs that end together, the lower turn comes first.
type ending struct {
	end       int64
	turn, job int32
}

// endHeap is a binary heap of running jobs; the first to end is on top.
type endHeap []ending

func (a ending) before(b ending) bool { return a.end < b.end || a.end == b.end && a.turn < b.turn }

func (h *endHeap) push(e ending) {
	list := append(*h, e)
	i := len(list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(list[up]) {
			break
		}
		list[i] = list[up]
		i = up
	}
	list[i] = e
	*h = list
}

// pop takes the job off that ends first.
func (h *endHeap) pop() int32 {
	list := *h
	top := list[0].job
	last := list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	if len(list) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(list) {
			break
		}
		if down+1 < len(list) && list[down+1].before(list[down]) {
			down++
		}
		if !list[down].before(last) {
			break
		}
		list[i] = list[down]
		i = down
	}
	list[i] = last
	return top
}
