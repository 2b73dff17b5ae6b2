package partition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxConstraint bounds the length of a constraint expression in bytes.
const maxConstraint = 4096

// Features is a constraint, parsed (sbatch(1), --constraint): & and | from left
// to right without precedence, parentheses, and one pair of brackets for either
// alternatives of which all nodes must share one, or counts.
type Features struct {
	// Any lists alternatives of which all nodes must meet the same one; a
	// constraint without brackets has one.
	Any []Expr
	// Groups are counts: so many nodes must meet the expression. The other
	// nodes need not. Empty without counts.
	Groups []Group
}

// Group is an expression that a number of nodes must meet.
type Group struct {
	Expr  Expr
	Count int
}

// Expr is a combination of features. With Op 0 it is the feature Name; "" is
// met by every node.
type Expr struct {
	Name string
	Op   byte // '&', '|' or 0
	Args []Expr
}

// FeatureError is a constraint that cannot be read or names a feature that no
// node has.
type FeatureError struct{ Text, Why string }

// Error gives Slurm's wording first.
func (e *FeatureError) Error() string {
	return fmt.Sprintf("Invalid feature specification: %q: %s", e.Text, e.Why)
}

// ParseFeatures reads a constraint. "" asks for nothing.
func ParseFeatures(text string) (*Features, error) {
	if strings.TrimSpace(text) == "" {
		return &Features{Any: []Expr{{}}}, nil
	}
	if len(text) > maxConstraint {
		return nil, &FeatureError{text[:32] + "…", fmt.Sprintf("longer than %d bytes", maxConstraint)}
	}
	p := &featureParser{text: text}
	f, why := p.whole()
	if why != "" {
		return nil, &FeatureError{text, why}
	}
	return f, nil
}

type featureParser struct {
	text  string
	at    int
	depth int
}

// term is one operand with its count (0: none).
type term struct {
	expr  Expr
	count int
}

func (p *featureParser) peek() byte {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *featureParser) whole() (*Features, string) {
	if p.peek() == '[' {
		return p.bracketed()
	}
	terms, ops, why := p.list()
	if why != "" {
		return nil, why
	}
	if p.peek() != 0 {
		return nil, fmt.Sprintf("%q is not expected there (brackets must enclose the whole constraint)", p.text[p.at:])
	}
	if len(terms) == 1 && terms[0].count > 0 {
		return &Features{Any: []Expr{{}}, Groups: []Group{{terms[0].expr, terms[0].count}}}, ""
	}
	if slices.ContainsFunc(terms, func(t term) bool { return t.count > 0 }) {
		return counted(terms, ops)
	}
	return &Features{Any: []Expr{fold(terms, ops)}}, ""
}

func (p *featureParser) bracketed() (*Features, string) {
	p.at++
	terms, ops, why := p.list()
	if why != "" {
		return nil, why
	}
	if p.peek() != ']' {
		return nil, "a bracket is not closed"
	}
	p.at++
	if p.peek() != 0 {
		return nil, "nothing may follow the brackets"
	}
	if slices.ContainsFunc(terms, func(t term) bool { return t.count > 0 }) {
		return counted(terms, ops)
	}
	if slices.Contains(ops, '&') {
		return nil, "& in brackets needs a count for each feature, such as [a*2&b*1]"
	}
	f := &Features{}
	for _, t := range terms {
		f.Any = append(f.Any, t.expr)
	}
	return f, ""
}

func counted(terms []term, ops []byte) (*Features, string) {
	if slices.Contains(ops, '|') {
		return nil, "counts can only be joined by &"
	}
	f := &Features{Any: []Expr{{}}}
	for _, t := range terms {
		if t.count == 0 { // outside brackets a&b*2: all nodes need a
			f.Any[0] = fold([]term{{expr: f.Any[0]}, t}, []byte{'&'})
			continue
		}
		f.Groups = append(f.Groups, Group{t.expr, t.count})
	}
	return f, ""
}

// list reads operands and the operators between them.
func (p *featureParser) list() (terms []term, ops []byte, why string) {
	for {
		t, why := p.term()
		if why != "" {
			return nil, nil, why
		}
		terms = append(terms, t)
		switch c := p.peek(); c {
		case '&', ',':
			ops = append(ops, '&')
		case '|':
			ops = append(ops, '|')
		default:
			return terms, ops, ""
		}
		p.at++
	}
}

func (p *featureParser) term() (term, string) {
	var t term
	if p.peek() == '(' {
		if p.depth++; p.depth > 8 {
			return t, "parentheses are nested more than 8 deep"
		}
		p.at++
		terms, ops, why := p.list()
		if why != "" {
			return t, why
		}
		if p.peek() != ')' {
			return t, "a parenthesis is not closed"
		}
		p.at++
		p.depth--
		if slices.ContainsFunc(terms, func(t term) bool { return t.count > 0 }) {
			return t, "a count cannot be inside parentheses"
		}
		t.expr = fold(terms, ops)
	} else {
		p.peek()
		start := p.at
		for p.at < len(p.text) && !strings.ContainsRune("&|,*()[] ", rune(p.text[p.at])) {
			p.at++
		}
		if t.expr.Name = p.text[start:p.at]; t.expr.Name == "" {
			return t, "a feature name is missing"
		}
	}
	if p.peek() != '*' {
		return t, ""
	}
	p.at++
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[start:p.at])
	if err != nil || n < 1 || n > 1<<20 {
		return t, "* must be followed by a number of nodes"
	}
	t.count = n
	return t, ""
}

// fold joins operands from left to right.
func fold(terms []term, ops []byte) Expr {
	e := terms[0].expr
	for i, op := range ops {
		next := terms[i+1].expr
		if e.Op == 0 && e.Name == "" {
			e = next
			continue
		}
		if e.Op == op {
			e = Expr{Op: op, Args: append(slices.Clone(e.Args), next)}
			continue
		}
		e = Expr{Op: op, Args: []Expr{e, next}}
	}
	return e
}

// Matches tells whether a node with these features meets the expression.
func (e *Expr) Matches(has []string) bool {
	switch e.Op {
	case '&':
		for i := range e.Args {
			if !e.Args[i].Matches(has) {
				return false
			}
		}
		return true
	case '|':
		for i := range e.Args {
			if e.Args[i].Matches(has) {
				return true
			}
		}
		return false
	}
	return e.Name == "" || slices.Contains(has, e.Name)
}

// Names lists all features that the constraint speaks of.
func (f *Features) Names() []string {
	var out []string
	var walk func(e *Expr)
	walk = func(e *Expr) {
		if e.Op == 0 && e.Name != "" && !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
		for i := range e.Args {
			walk(&e.Args[i])
		}
	}
	for i := range f.Any {
		walk(&f.Any[i])
	}
	for i := range f.Groups {
		walk(&f.Groups[i].Expr)
	}
	return out
}

// Plain tells whether each node can be judged alone: no alternatives that nodes
// must share, no counts.
func (f *Features) Plain() bool { return len(f.Any) == 1 && len(f.Groups) == 0 }

// FeaturesOf lists the features that a node has now.
func (n *Node) FeaturesOf() []string {
	if n.Active != nil {
		return n.Active
	}
	return n.Features
}
