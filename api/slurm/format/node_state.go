package format

import (
	"strings"

	"muster/api"
)

// NodeState is the word that sinfo shows for a node's state (%T), or the short
// one (%t); both in lower case, with a sign behind for what else is the matter.
func NodeState(base api.NodeBase, f api.NodeFlag, compact bool) string {
	word := func(long, short string) string {
		if compact {
			return short
		}
		return long
	}
	silent := ""
	if f&api.NodeNoResponse != 0 {
		silent = "*"
	}
	busy := base == api.NodeAllocated || base == api.NodeMixed
	switch {
	case f&api.NodeInvalid != 0:
		return "inval"
	case f&api.NodeMaint != 0 && f&api.NodeDrain == 0 && !busy && base != api.NodeDown:
		return "maint" + silent
	case f&api.NodeReboot != 0 && !busy:
		return word("reboot", "boot") + silent
	case f&api.NodeDrain != 0:
		if busy || f&api.NodeCompleting != 0 {
			return word("draining", "drng") + sign(f)
		}
		return word("drained", "drain") + sign(f)
	case f&api.NodeFail != 0:
		if busy || f&api.NodeCompleting != 0 {
			return word("failing", "failg") + silent
		}
		return "fail" + silent
	case base == api.NodeDown:
		return "down" + sign(f)
	case base == api.NodeAllocated:
		s := sign(f)
		if s == "" && f&api.NodeCompleting != 0 {
			s = "+"
		}
		return word("allocated", "alloc") + s
	case f&api.NodeCompleting != 0:
		return word("completing", "comp") + sign(f)
	}
	return quietState(base, f, word)
}

// quietState is the word for a node that is neither wholly in use nor in trouble.
func quietState(base api.NodeBase, f api.NodeFlag, word func(long, short string) string) string {
	s := sign(f)
	switch base {
	case api.NodeIdle:
		switch {
		case s != "":
			return "idle" + s
		case f&api.NodeReserved != 0:
			return word("reserved", "resv")
		case f&api.NodePlanned != 0:
			return word("planned", "plnd")
		}
		return "idle"
	case api.NodeMixed:
		if s == "" && f&api.NodePlanned != 0 {
			s = "-"
		}
		return word("mixed", "mix") + s
	case api.NodeFuture:
		return word("future", "futr") + s
	}
	return word("unknown", "unk") + s
}

// sign is the sign behind the word of a state.
func sign(f api.NodeFlag) string {
	switch {
	case f&api.NodeMaint != 0:
		return "$"
	case f&api.NodeReboot != 0:
		return "@"
	case f&api.NodeNoResponse != 0:
		return "*"
	}
	return ""
}

// baseWords are the base states as scontrol shows them.
var baseWords = [...]string{"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "MIXED", "FUTURE"}

// NodeStateWords lists base state and flags as scontrol and JSON show them.
func NodeStateWords(base api.NodeBase, f api.NodeFlag) []string {
	words := []string{baseWords[min(int(base), len(baseWords)-1)]}
	for _, x := range []struct {
		flag api.NodeFlag
		word string
	}{
		{api.NodeCompleting, "COMPLETING"}, {api.NodeDrain, "DRAIN"}, {api.NodeFail, "FAIL"}, {api.NodeInvalid, "INVALID_REG"},
		{api.NodeMaint, "MAINTENANCE"}, {api.NodeNoResponse, "NOT_RESPONDING"}, {api.NodePlanned, "PLANNED"},
		{api.NodeReboot, "REBOOT_REQUESTED"}, {api.NodeReserved, "RESERVED"},
	} {
		if f&x.flag != 0 {
			words = append(words, x.word)
		}
	}
	return words
}

// NodeStateSet is a set of states that sinfo -t asks for.
type NodeStateSet struct {
	All  bool // every state asked for must hold (joined by &)
	asks []stateAsk
}

// stateAsk is one state: any of the bases (none: any base), all of the flags.
type stateAsk struct {
	not    bool
	bases  []api.NodeBase
	flags  api.NodeFlag
	absent bool // a state that no node is in here
}

// stateNames are the words of sinfo -t, with their short forms.
const stateNames = "unknown,down,idle,allocated,mixed,future,drain,drained,draining,no_respond,reserved,planned,blocked,cloud,completing," +
	"powering_down,powered_down,power_down,powering_up,power_up,inval,fail,maint,reboot,reboot^,external,dynamic_future,dynamic_norm"

// NodeStateNames is the list that sinfo gives with an unknown state.
const NodeStateNames = stateNames

// Add takes a state by its word, or a start of it, in any case; ~ or ! before it
// turns it round. It tells whether the word is one.
func (s *NodeStateSet) Add(word string) bool {
	a := stateAsk{}
	if word != "" && (word[0] == '~' || word[0] == '!') {
		a.not, word = true, word[1:]
	}
	if word == "" {
		return false
	}
	short := map[string]string{"alloc": "allocated", "comp": "completing", "drng": "draining", "plnd": "planned", "resv": "reserved", "unk": "unknown", "futr": "future", "inval_reg": "inval"}
	word = strings.ToLower(word)
	if long, ok := short[word]; ok {
		word = long
	}
	for _, name := range strings.Split(stateNames, ",") {
		if strings.HasPrefix(name, word) {
			a.set(name)
			s.asks = append(s.asks, a)
			return true
		}
	}
	return false
}

// set fills in what a state means.
func (a *stateAsk) set(name string) {
	busy := []api.NodeBase{api.NodeAllocated, api.NodeMixed}
	switch name {
	case "unknown":
		a.bases = []api.NodeBase{api.NodeUnknown}
	case "down":
		a.bases = []api.NodeBase{api.NodeDown}
	case "idle":
		a.bases = []api.NodeBase{api.NodeIdle}
	case "allocated":
		a.bases = []api.NodeBase{api.NodeAllocated}
	case "mixed":
		a.bases = []api.NodeBase{api.NodeMixed}
	case "future":
		a.bases = []api.NodeBase{api.NodeFuture}
	case "drain":
		a.flags = api.NodeDrain
	case "drained":
		a.flags, a.bases = api.NodeDrain, []api.NodeBase{api.NodeIdle, api.NodeDown}
	case "draining":
		a.flags, a.bases = api.NodeDrain, busy
	case "no_respond":
		a.flags = api.NodeNoResponse
	case "reserved":
		a.flags = api.NodeReserved
	case "planned":
		a.flags = api.NodePlanned
	case "completing":
		a.flags = api.NodeCompleting
	case "inval":
		a.flags = api.NodeInvalid
	case "fail":
		a.flags = api.NodeFail
	case "maint":
		a.flags = api.NodeMaint
	case "reboot":
		a.flags = api.NodeReboot
	default:
		a.absent = true
	}
}

// Empty tells whether no state was asked for.
func (s *NodeStateSet) Empty() bool { return len(s.asks) == 0 }

// Has tells whether a node is in the set.
func (s *NodeStateSet) Has(base api.NodeBase, f api.NodeFlag) bool {
	for i := range s.asks {
		a := &s.asks[i]
		in := a.matches(base, f) != a.not
		if in != s.All {
			return in
		}
	}
	return s.All
}

func (a *stateAsk) matches(base api.NodeBase, f api.NodeFlag) bool {
	if a.absent || f&a.flags != a.flags {
		return false
	}
	if len(a.bases) == 0 {
		return true
	}
	for _, b := range a.bases {
		// What is drained counts by what it is besides; allocated is any node with a job.
		if b == base || b == api.NodeAllocated && base == api.NodeMixed && a.flags == 0 {
			return true
		}
	}
	return false
}
