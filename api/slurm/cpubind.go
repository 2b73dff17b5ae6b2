package slurm

import (
	"slices"
	"strconv"
	"strings"
)

// CPUBind is the value of --cpu-bind (srun(1)).
type CPUBind struct {
	Verbose bool     // each task says what it is bound to
	Kind    string   // "": automatic; none, threads, cores, sockets, ldoms, rank_ldom, or one with a list
	List    []string // of map_cpu, mask_cpu, map_ldom and mask_ldom, repetitions written out
	text    string   // the list as it was given
}

// maxBindList bounds the list of a binding, repetitions written out.
const maxBindList = 1 << 16

// bindKinds are the kinds without a list, under all their names.
var bindKinds = map[string]string{
	"no": "none", "none": "none", "thread": "threads", "threads": "threads", "core": "cores", "cores": "cores",
	"socket": "sockets", "sockets": "sockets", "ldom": "ldoms", "ldoms": "ldoms", "rank_ldom": "rank_ldom",
}

// bindLists are the kinds with a list, and the base of its numbers.
var bindLists = map[string]int{"map_cpu": 10, "mask_cpu": 16, "map_ldom": 10, "mask_ldom": 16}

// ParseCPUBind reads the value of --cpu-bind or of SLURM_CPU_BIND.
func ParseCPUBind(value string) (CPUBind, error) {
	var b CPUBind
	bad := &OptionError{Text: "unrecognized --cpu-bind argument \"" + value + "\"", Code: 1}
	words := strings.Split(value, ",")
	for i, w := range words {
		low := strings.ToLower(w)
		if kind, ok := bindKinds[low]; ok {
			b.Kind = kind
			continue
		}
		switch low {
		case "q", "quiet":
			b.Verbose = false
			continue
		case "v", "verbose":
			b.Verbose = true
			continue
		case "": // as in "verbose,"
			continue
		}
		kind, first, _ := strings.Cut(low, ":")
		base, ok := bindLists[kind]
		if !ok {
			return b, bad
		}
		// All that follows belongs to the list.
		b.Kind, b.text = kind, strings.Join(append([]string{first}, words[i+1:]...), ",")
		if b.List, ok = bindList(b.text, base); !ok {
			return b, bad
		}
		return b, nil
	}
	return b, nil
}

// bindList writes out a list such as 0*4,0x3.
func bindList(text string, base int) ([]string, bool) {
	var out []string
	for _, item := range strings.Split(text, ",") {
		value, times, repeated := strings.Cut(item, "*")
		n := 1
		if repeated {
			var err error
			if n, err = strconv.Atoi(times); err != nil || n < 1 {
				return nil, false
			}
		}
		if !bindNumber(value, base) || len(out)+n > maxBindList {
			return nil, false
		}
		out = append(out, slices.Repeat([]string{value}, n)...)
	}
	return out, true
}

// bindNumber tells whether an item is a CPU's number, or with base 16 a mask.
func bindNumber(value string, base int) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(value), "0x")
	if digits == "" || len(digits) > 2048 || base == 10 && len(digits) > 6 {
		return false
	}
	for _, r := range digits {
		decimal := r >= '0' && r <= '9'
		if !decimal && (base == 10 && !hex || r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// Type is the kind as SLURM_CPU_BIND_TYPE has it.
func (b *CPUBind) Type() string {
	if _, list := bindLists[b.Kind]; list {
		return b.Kind + ":"
	}
	return b.Kind
}

// String is the value of SLURM_CPU_BIND.
func (b *CPUBind) String() string {
	if t := b.Type(); t != "" {
		return b.loudness() + "," + t + b.text
	}
	return b.loudness()
}

func (b *CPUBind) loudness() string {
	if b.Verbose {
		return "verbose"
	}
	return "quiet"
}

// Variables are those that tasks have when --cpu-bind was given.
func (b *CPUBind) Variables() []string {
	return []string{"SLURM_CPU_BIND=" + b.String(), "SLURM_CPU_BIND_LIST=" + b.text, "SLURM_CPU_BIND_TYPE=" + b.Type(),
		"SLURM_CPU_BIND_VERBOSE=" + b.loudness()}
}

// setCPUBind checks and keeps the value of --cpu-bind.
func setCPUBind(o *Options, v string) error {
	b, err := ParseCPUBind(v)
	if err != nil {
		return err
	}
	o.Run.CPUBind = &b
	return nil
}

// setMemBind takes what of --mem-bind needs no more than the kernel's own rule: a
// task's memory is on the NUMA node of the CPU that touches it first.
func setMemBind(o *Options, v string) error {
	loud := "quiet"
	kind := ""
	for _, w := range strings.Split(strings.ToLower(v), ",") {
		switch w {
		case "q", "quiet", "":
			loud = "quiet"
		case "v", "verbose":
			loud = "verbose"
		case "no", "none":
			kind = "none"
		case "local":
			kind = "local"
		default:
			return &OptionError{Text: "--mem-bind=" + v + " is not supported: use local or none here, or numactl in the program", Code: 1}
		}
	}
	o.Run.MemBind = [2]string{loud, kind}
	return nil
}
