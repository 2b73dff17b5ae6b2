package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// How big things may get, so that each can be read in one go.
const (
	maxFileLines     = 800
	maxFunctionLines = 100
	maxStructFields  = 36
	minDocumented    = 97 // percent of exported names
)

// forbiddenNames say nothing about what is inside.
func forbiddenNames() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "types", "manager"}
}

// docCount is how many exported names a tree has and which of them have no
// comment.
type docCount struct {
	names int
	bare  []string
}

func (d *docCount) note(p *packages.Package, name *ast.Ident, docs ...*ast.CommentGroup) {
	if !name.IsExported() {
		return
	}
	d.names++
	if !slices.ContainsFunc(docs, func(g *ast.CommentGroup) bool { return g.Text() != "" }) {
		d.bare = append(d.bare, fmt.Sprintf("%s: %s.%s", p.Fset.Position(name.Pos()), p.Name, name.Name))
	}
}

func (d *docCount) decl(p *packages.Package, decl ast.Decl) {
	switch x := decl.(type) {
	case *ast.FuncDecl:
		if x.Recv == nil || ast.IsExported(receiver(x)) {
			d.note(p, x.Name, x.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range x.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				d.note(p, s.Name, s.Doc, s.Comment, x.Doc)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					d.note(p, n, s.Doc, s.Comment, x.Doc)
				}
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// oversized lists functions and structs of a file that are too big.
func oversized(fset *token.FileSet, f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			if lines := fset.Position(x.End()).Line - fset.Position(x.Pos()).Line + 1; lines > maxFunctionLines {
				out = append(out, fmt.Sprintf("%s: function %s has %d lines, more than %d", fset.Position(x.Pos()), x.Name.Name, lines, maxFunctionLines))
			}
		case *ast.StructType:
			if n := x.Fields.NumFields(); n > maxStructFields {
				out = append(out, fmt.Sprintf("%s: a struct has %d fields, more than %d", fset.Position(x.Pos()), n, maxStructFields))
			}
		}
		return true
	})
	return out
}

func TestSizesAndComments(t *testing.T) {
	docs := &docCount{}
	for _, p := range load(t, packages.NeedName|packages.NeedFiles|packages.NeedSyntax, "./...") {
		if generated(p.PkgPath) {
			continue
		}
		if slices.Contains(forbiddenNames(), p.Name) {
			t.Errorf("package %s: the name says nothing", p.PkgPath)
		}
		packageDoc := false
		for _, f := range p.Syntax {
			packageDoc = packageDoc || f.Doc.Text() != ""
			for _, big := range oversized(p.Fset, f) {
				t.Error(big)
			}
			for _, d := range f.Decls {
				docs.decl(p, d)
			}
		}
		if !packageDoc && len(p.Syntax) > 0 {
			t.Errorf("package %s: no comment says what it is for", p.PkgPath)
		}
	}
	if docs.names < 100 {
		t.Fatalf("only %d exported names were found", docs.names)
	}
	if len(docs.bare)*100 > docs.names*(100-minDocumented) {
		t.Errorf("%d of %d exported names have no comment:\n%s", len(docs.bare), docs.names, strings.Join(docs.bare, "\n"))
	}
}

// sourceFiles lists the Go files of the tree, tests too, without generated ones.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("..", func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != ".." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".pb.go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFiles(t *testing.T) {
	files := sourceFiles(t)
	if len(files) < 50 {
		t.Fatalf("only %d files were found", len(files))
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", path, n, maxFileLines)
		}
		if base := strings.TrimSuffix(filepath.Base(path), ".go"); slices.Contains(forbiddenNames(), base) {
			t.Errorf("%s: the name says nothing", path)
		}
	}
}

func TestShapeRulesBite(t *testing.T) {
	p := load(t, packages.NeedName|packages.NeedFiles|packages.NeedSyntax, "./test/testdata/shapeless")[0]
	docs, big := &docCount{}, []string{}
	for _, f := range p.Syntax {
		big = append(big, oversized(p.Fset, f)...)
		for _, d := range f.Decls {
			docs.decl(p, d)
		}
	}
	if docs.names != 7 || len(docs.bare) != 3 {
		t.Errorf("%d exported names, without a comment: %v", docs.names, docs.bare)
	}
	if len(big) != 2 || !strings.Contains(big[0], "Long has 102 lines") && !strings.Contains(big[1], "Long has 102 lines") {
		t.Errorf("too big: %v", big)
	}
	if !slices.Contains(forbiddenNames(), p.Name) {
		t.Errorf("the name %s is not forbidden", p.Name)
	}
}
