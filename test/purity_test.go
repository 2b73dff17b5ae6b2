package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// pure are the packages that must do the same on every machine, at every time.
// What they import of this module is held to the rules too.
func pure() []string {
	return []string{"./state", "./job", "./gres", "./partition", "./accounting", "./sched", "./sched/feed"}
}

// excuse allows a range over a map, or a package variable that is filled once;
// it stands on the line or on the one above, with the reason behind it.
const excuse = "// order does not matter: "

const typesMode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports

// finding is one breach of a rule.
type finding struct {
	pos  token.Position
	rule string // clock, float, goroutine, map, variable, world
	text string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s (%s)", f.pos.Filename, f.pos.Line, f.text, f.rule)
}

// checker goes through one package.
type checker struct {
	pkg     *packages.Package
	found   []finding
	excused map[string]bool // file:line
	sorted  map[ast.Node]bool
}

// impurities lists all that a package does and may not.
func impurities(p *packages.Package) []finding {
	c := &checker{pkg: p, excused: map[string]bool{}, sorted: map[ast.Node]bool{}}
	for _, f := range p.Syntax {
		c.excuses(f)
		ast.Inspect(f, func(n ast.Node) bool { c.sortedKeys(n); return true })
		ast.Inspect(f, func(n ast.Node) bool { c.node(n); return true })
	}
	c.found = append(c.found, mutableVariables(p)...)
	return c.found
}

func (c *checker) fail(n ast.Node, rule, format string, args ...any) {
	c.found = append(c.found, finding{c.pkg.Fset.Position(n.Pos()), rule, fmt.Sprintf(format, args...)})
}

// excuses notes the lines that an excuse covers.
func (c *checker) excuses(f *ast.File) {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, excuse) {
				at := c.pkg.Fset.Position(comment.Pos())
				c.excused[fmt.Sprint(at.Filename, at.Line)] = true
				c.excused[fmt.Sprint(at.Filename, at.Line+1)] = true
			}
		}
	}
}

func (c *checker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.fail(n, "goroutine", "a goroutine is started")
	case *ast.RangeStmt:
		if c.isMap(n.X) && !c.sorted[n] && !c.isExcused(n) {
			c.fail(n, "map", "a range over a map has no order; sort the keys, or say why with %q", excuse)
		}
	case *ast.CallExpr:
		if name := c.callee(n); slices.Contains([]string{"maps.Keys", "maps.Values", "maps.All"}, name) && !c.sorted[n] && !c.isExcused(n) {
			c.fail(n, "map", "%s has no order; wrap it in slices.Sorted", name)
		}
	case *ast.Ident:
		c.use(n)
	}
	if e, ok := n.(ast.Expr); ok {
		c.float(e)
	}
}

func (c *checker) isExcused(n ast.Node) bool {
	at := c.pkg.Fset.Position(n.Pos())
	return c.excused[fmt.Sprint(at.Filename, at.Line)]
}

func (c *checker) isMap(e ast.Expr) bool {
	t := c.pkg.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// callee is the called function as package.Name, "" if it is none of a package.
func (c *checker) callee(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := c.pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
		return ""
	}
	return f.Pkg().Path() + "." + f.Name()
}

// sorts tells whether a call brings its first argument in order.
func (c *checker) sorts(call *ast.CallExpr) bool {
	name := c.callee(call)
	return len(call.Args) > 0 && (strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort."))
}

// sortedKeys notes ranges over a map whose body only collects keys that the next
// statement sorts, and iterators that are sorted at once.
func (c *checker) sortedKeys(n ast.Node) {
	if call, ok := n.(*ast.CallExpr); ok && c.sorts(call) {
		if inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok {
			c.sorted[inner] = true
		}
	}
	var list []ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	}
	for i := range len(list) - 1 {
		loop, ok := list[i].(*ast.RangeStmt)
		if !ok {
			continue
		}
		next, ok := list[i+1].(*ast.ExprStmt)
		if !ok {
			continue
		}
		call, ok := next.X.(*ast.CallExpr)
		if ok && c.sorts(call) && collects(loop.Body) == types.ExprString(call.Args[0]) {
			c.sorted[loop] = true
		}
	}
}

// collects is the slice that a loop body appends to, if it does nothing else.
func collects(body *ast.BlockStmt) string {
	if len(body.List) != 1 {
		return ""
	}
	assign, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return ""
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || types.ExprString(call.Fun) != "append" || types.ExprString(call.Args[0]) != types.ExprString(assign.Lhs[0]) {
		return ""
	}
	return types.ExprString(assign.Lhs[0])
}

// use complains about functions, methods and variables of the outside world.
func (c *checker) use(id *ast.Ident) {
	obj := c.pkg.TypesInfo.Uses[id]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	path, name := obj.Pkg().Path(), obj.Name()
	switch {
	case path == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}, name):
		// Time.After is a comparison; the function After is a timer.
		if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil && name != "Local" {
			return
		}
		c.fail(id, "clock", "time.%s depends on when or where it runs", name)
	case path == "reflect" && (name == "MapKeys" || name == "MapRange"):
		c.fail(id, "map", "reflect's %s has no order", name)
	case within("math/rand/... crypto/rand hash/maphash", path):
		c.fail(id, "random", "%s.%s is random", path, name)
	case within("os/... net/... io/fs io/ioutil syscall runtime/... log/... golang.org/x/sys/... plugin", path):
		c.fail(id, "world", "%s.%s reaches outside", path, name)
	}
}

// float complains about every expression of a floating-point type.
func (c *checker) float(e ast.Expr) {
	tv, ok := c.pkg.TypesInfo.Types[e]
	if !ok || tv.Type == nil {
		return
	}
	if b, ok := tv.Type.Underlying().(*types.Basic); ok && b.Info()&(types.IsFloat|types.IsComplex) != 0 {
		c.fail(e, "float", "%s is of type %s, which differs between processors", types.ExprString(e), tv.Type)
	}
}

// withInternals adds what packages of this module import of it.
func withInternals(t *testing.T) []*packages.Package {
	t.Helper()
	names := map[string]bool{}
	packages.Visit(load(t, packages.NeedName|packages.NeedImports|packages.NeedDeps, pure()...), func(p *packages.Package) bool {
		if strings.HasPrefix(p.PkgPath, module) {
			names[p.PkgPath] = true
		}
		return true
	}, nil)
	var list []string
	for n := range names {
		list = append(list, n)
	}
	slices.Sort(list)
	return load(t, typesMode, list...)
}

func TestPurity(t *testing.T) {
	pkgs := withInternals(t)
	if len(pkgs) < len(pure()) {
		t.Fatalf("only %d packages were found", len(pkgs))
	}
	for _, p := range pkgs {
		for _, f := range impurities(p) {
			t.Error(f)
		}
	}
}

// The fixture breaks every rule; each line that does says so: // want: rule.
func TestPurityRulesBite(t *testing.T) {
	p := load(t, typesMode, "./test/testdata/impure")[0]
	want, got := map[string]bool{}, map[string]bool{}
	for _, f := range p.Syntax {
		for _, group := range f.Comments {
			for _, comment := range group.List {
				if _, rule, ok := strings.Cut(comment.Text, "want: "); ok {
					want[fmt.Sprint(p.Fset.Position(comment.Pos()).Line, " ", rule)] = true
				}
			}
		}
	}
	for _, f := range impurities(p) {
		key := fmt.Sprint(f.pos.Line, " ", f.rule)
		if got[key] = true; !want[key] {
			t.Errorf("not expected: %v", f)
		}
	}
	for key := range want {
		if !got[key] {
			t.Errorf("not found: line %s", key)
		}
	}
	if len(want) < 20 {
		t.Errorf("the fixture has only %d lines that break a rule", len(want))
	}
}
