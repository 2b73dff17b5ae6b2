package main

import (
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
)

// counted are the fields of scontrol update JobId= that hold a number, and how
// many bits it may have.
var counted = map[string]int{
	"Priority": 32, "CPUsPerTask": 16, "NumTasks": 32, "Requeue": 16, "ReqSockets": 16, "ReqCores": 16, "TasksPerNode": 16,
	"ReqThreads": 16, "MinCPUsNode": 16, "MinMemoryNode": 64, "MinMemoryCPU": 64, "MinTmpDiskNode": 32, "wait-for-switch": 32,
}

// checkJobField looks at the value of a field as scontrol itself does, before
// anything is sent, and says what is wrong with it. typed is the name as typed.
func (in *invocation) checkJobField(p *api.Pair, typed string) bool {
	switch {
	case p.Op != "" && p.Name == "AdminComment":
		in.errorf("Invalid syntax, AdminComment can not be added/subtracted from.")
		return false
	case (p.Op == "+" || p.Op == "-") && p.Name != "TimeLimit":
		in.errorf("Option %s%s=%s does not accept [+|-]= syntax", typed, p.Op, p.Value)
		return false
	}
	if bits := counted[p.Name]; bits != 0 {
		if _, err := strconv.ParseUint(p.Value, 10, bits); err != nil {
			in.errorf("Invalid %s value: %s", p.Name, p.Value)
			return false
		}
		return true
	}
	switch p.Name {
	case "TimeLimit":
		return in.checkTimeLimit(p)
	case "TimeMin":
		if _, err := slurm.ParseTimeLimit(p.Value); err != nil {
			in.errorf("Invalid TimeMin value")
			return false
		}
	case "DelayBoot":
		// Nodes are not booted for jobs, so there is nothing to put off.
		if _, err := slurm.ParseSeconds(p.Value); err != nil {
			in.errorf("Invalid DelayBoot value")
			return false
		}
	case "NumCPUs":
		if low, high, ok := countRange(p.Value); !ok || low == 0 || high < low {
			in.errorf("Invalid NumCPUs value: %s", p.Value)
			return false
		}
	case "MailType":
		if _, err := slurm.ParseMailTypes(p.Value); err != nil {
			fmt.Fprintf(in.stderr, "Invalid MailType: %s\n", p.Value)
			return false
		}
	case "UserId":
		return in.resolveUser(p)
	}
	return true
}

// checkTimeLimit reads a limit, also TimeLimit=+5 and TimeLimit+=5.
func (in *invocation) checkTimeLimit(p *api.Pair) bool {
	if rest := strings.TrimLeft(p.Value, "+-"); rest != p.Value {
		if p.Op != "" || len(p.Value)-len(rest) > 1 {
			in.errorf("Invalid syntax, variations of +=- are not accepted.")
			return false
		}
		p.Op, p.Value = p.Value[:1], rest
	}
	if _, err := slurm.ParseTimeLimit(p.Value); err != nil {
		in.errorf("Invalid TimeLimit value")
		return false
	}
	return true
}

// resolveUser makes a user id of a name.
func (in *invocation) resolveUser(p *api.Pair) bool {
	if _, err := strconv.ParseUint(p.Value, 10, 32); err == nil {
		return true
	}
	u, err := user.Lookup(p.Value)
	if err != nil {
		fmt.Fprintf(in.stderr, "Invalid UserID: %s\nRequest aborted\n", p.Value)
		return false
	}
	p.Value = u.Uid
	return true
}

// countRange reads N or N-M.
func countRange(s string) (low, high uint64, ok bool) {
	first, second, ranged := strings.Cut(s, "-")
	low, err := strconv.ParseUint(first, 10, 31)
	if err != nil {
		return 0, 0, false
	}
	if !ranged {
		return low, low, true
	}
	high, err = strconv.ParseUint(second, 10, 31)
	return low, high, err == nil
}
