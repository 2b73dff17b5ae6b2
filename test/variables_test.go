package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
)

// mutableVariables lists the variables of a package that something in it may
// change: assigned, counted up, its address taken, deleted from, or the receiver
// of a method that can change it. A table that is only read is no state.
func mutableVariables(p *packages.Package) []finding {
	global := map[types.Object]bool{}
	for _, name := range p.Types.Scope().Names() {
		if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok {
			global[v] = true
		}
	}
	var found []finding
	note := func(e ast.Expr, how string) {
		if v := root(p, e); v != nil && global[v] {
			found = append(found, finding{p.Fset.Position(e.Pos()), "variable", fmt.Sprintf("the package variable %s is %s", v.Name(), how)})
		}
	}
	for _, f := range p.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					note(e, "assigned")
				}
			case *ast.IncDecStmt:
				note(n.X, "changed")
			case *ast.UnaryExpr:
				// &table[i] is how a row of a table is found without a copy.
				if _, row := ast.Unparen(n.X).(*ast.IndexExpr); n.Op == token.AND && !row {
					note(n.X, "handed out by its address")
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") {
					note(n.Args[0], "changed")
				}
			case *ast.SelectorExpr:
				if s := p.TypesInfo.Selections[n]; s != nil && s.Kind() == types.MethodVal && takesPointer(s) && addressed(p, n.X) {
					note(n.X, "the receiver of "+n.Sel.Name+", which can change it")
				}
			}
			return true
		})
	}
	return found
}

// root is the variable that an expression such as v.a[i].b is a part of. A part
// that is reached through a pointer counts too.
func root(p *packages.Package, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return p.TypesInfo.Uses[x]
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func takesPointer(s *types.Selection) bool {
	f, ok := s.Obj().(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return false
	}
	_, ok = f.Signature().Recv().Type().(*types.Pointer)
	return ok
}

// addressed tells whether calling a pointer method takes the address of the
// expression itself, or, for a pointer of our own, what it points to. Pointers
// to types of others, such as a compiled pattern, are made to be shared.
func addressed(p *packages.Package, e ast.Expr) bool {
	t := p.TypesInfo.TypeOf(e)
	ptr, ok := t.(*types.Pointer)
	if !ok {
		return true
	}
	named, ok := ptr.Elem().(*types.Named)
	return ok && named.Obj().Pkg() == p.Types
}

// No package of the product has state of its own; it is passed.
func TestNoPackageState(t *testing.T) {
	for _, p := range load(t, typesMode, "./...") {
		if generated(p.PkgPath) {
			continue
		}
		for _, f := range mutableVariables(p) {
			t.Error(f)
		}
	}
}

func generated(pkg string) bool { return pkg == module+"api/pb" }
