package gres

// Whole is all of one device, in the thousandths in which shares are counted.
const Whole = 1000

// Ask is a kind of request as placement over many nodes sees it. CPUs and Memory
// are in any unit that the rooms share.
type Ask struct {
	CPUs, Memory int64
	Count        int    // devices; 0: none
	Share        int    // thousandths of each: Whole, or less when Count is 1
	Types        uint64 // bit i: devices of type i will do; 0: any
	Weight       int64  // how often it is asked for, against the others
}

// Room is what is free of one node.
type Room struct {
	CPUs, Memory int64
	Type         int     // number of the type of its devices, below 64
	Free         []int32 // thousandths free of each device
}

// Fits tells whether a request could run in a room.
func (r *Room) Fits(a *Ask) bool {
	if a.CPUs > r.CPUs || a.Memory > r.Memory {
		return false
	}
	if a.Count == 0 {
		return true
	}
	if a.Types != 0 && a.Types>>r.Type&1 == 0 {
		return false
	}
	n := 0
	for _, f := range r.Free {
		if int(f) >= a.Share {
			n++
		}
	}
	return n >= a.Count
}

// free is the sum over all devices, in thousandths.
func (r *Room) free() int64 {
	var n int64
	for _, f := range r.Free {
		n += int64(f)
	}
	return n
}
