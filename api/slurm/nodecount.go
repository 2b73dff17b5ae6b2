package slurm

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/bitset"
)

// maxNodes bounds every node count.
const maxNodes = 1 << 20

// maxNodeSizes bounds the counts of a list such as 1-7:2 (Slurm's limit).
const maxNodeSizes = 0x1ffff

// NodeCount is what --nodes asks for.
type NodeCount struct {
	Min, Max uint32
	Sizes    []uint32 // exact counts, ascending; nil: any from Min to Max
}

// ParseNodeCount reads --nodes: N, MIN-MAX, or a list of sizes such as 2,4 or
// 1-7:2 (sbatch(1)). The error text is Slurm's.
func ParseNodeCount(text string) (NodeCount, error) {
	text = strings.TrimRight(strings.ReplaceAll(text, " ", ""), ",")
	if strings.Contains(text, ",") || strings.Contains(text, ":") && strings.Contains(text, "-") {
		return nodeSizes(text)
	}
	loText, hiText, isRange := strings.Cut(text, "-")
	lo, ok := count(loText)
	if !ok {
		if !isRange || loText == "" {
			loText = text
		}
		return NodeCount{}, fmt.Errorf("\"%s\" is not a valid node count", loText)
	}
	hi := lo
	if isRange {
		if hiText == "" {
			return NodeCount{}, fmt.Errorf("Maximum node count -1 is less than minimum node count %d", lo) //lint:ignore ST1005 programs read the text
		}
		if hi, ok = count(hiText); !ok {
			return NodeCount{}, fmt.Errorf("\"%s\" is not a valid node count", hiText)
		}
	}
	if hi != 0 && hi < lo {
		return NodeCount{}, fmt.Errorf("Maximum node count %d is less than minimum node count %d", hi, lo) //lint:ignore ST1005 programs read the text
	}
	return NodeCount{Min: lo, Max: hi}, nil
}

// nodeSizes reads a list of exact sizes.
func nodeSizes(text string) (NodeCount, error) {
	set := new(bitset.Set)
	for part := range strings.SplitSeq(text, ",") {
		bad := fmt.Errorf("\"%s\" is not a valid node count", part)
		span, stepText, _ := strings.Cut(part, ":")
		loText, hiText, isRange := strings.Cut(span, "-")
		lo, ok := digits(loText)
		hi, step := lo, int64(1)
		if ok && isRange {
			hi, ok = digits(hiText)
		}
		if ok && stepText != "" {
			step, ok = digits(stepText)
		}
		if !ok || step < 1 || hi < lo || lo < 1 || hi >= maxNodeSizes {
			return NodeCount{}, bad
		}
		for n := lo; n <= hi; n += step {
			set.Add(int(n))
		}
	}
	c := NodeCount{Min: uint32(set.Next(0)), Max: uint32(set.Max())}
	for n := range set.All {
		c.Sizes = append(c.Sizes, uint32(n))
	}
	slices.Sort(c.Sizes)
	return c, nil
}

// count reads a number with an optional k or m, as node and CPU counts may have.
func count(text string) (uint32, bool) {
	factor := int64(1)
	if n := len(text); n > 1 {
		switch text[n-1] {
		case 'k', 'K':
			factor, text = 1024, text[:n-1]
		case 'm', 'M':
			factor, text = 1<<20, text[:n-1]
		}
	}
	n, ok := digits(text)
	if !ok || n*factor > maxNodes {
		return 0, false
	}
	return uint32(n * factor), true
}
