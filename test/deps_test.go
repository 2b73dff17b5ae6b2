// Package test holds the rules of the house to the code: who may import whom,
// what the deterministic packages may not do, and how big things may get.
package test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "muster/"

// rule says what a package, and the packages below it that have no rule of their
// own, may import of this module. All may import internal.
type rule struct {
	pkg    string
	may    string // separated by blanks; name/... is the package and all below
	reason string
}

// house is the import table of docs/architecture.md.
func house() []rule {
	const controller = "state sched sched/... accounting accounting/... partition job gres conf api api/..."
	return []rule{
		{"cmd/slurm", "api api/slurm/... job", "the commands start in 2 ms: flags in, frames out, no daemon code"},
		{"cmd/muster", "cmd/muster/... api api/... job partition conf sched/sim sched/sim/... sched/cyclelog gres/topo ctld/salvage", "the admin tool starts daemons as programs; it is none"},
		{"cmd/musterd", "ctld ctld/... noded noded/... api api/... conf job", "the main of the daemons puts their parts together"},
		{"cmd/muster-shepherd", "noded/shepherd", "the shepherd outlives the node daemon and stays tiny"},
		{"ctld", "ctld/... " + controller, "a controller knows everything but what is only of nodes"},
		{"ctld/store", "ctld/store/wal state api job partition", "the store carries commands; it does not judge them"},
		{"ctld/salvage", "ctld/store conf api api/identity state accounting/ledger job", "it works on the files of controllers that do not run"},
		{"ctld/store/wal", "", "entries on disk; it does not look inside"},
		{"ctld/dispatch", "state api api/pb job partition gres", "the reconciler compares state with reports"},
		{"ctld/mail", "state api/slurm job partition", "mails are made of the state alone"},
		{"ctld/service", "state sched api job accounting accounting/rollup", "the contract between core and handlers"},
		{"ctld/treefile", "api/slurm accounting", "the text form of the accounts, of records alone"},
		{"ctld/admit", "ctld/service ctld/treefile state api api/slurm partition accounting job gres sched conf", "handlers reach the core by its contract only"},
		{"ctld/query", "ctld/service ctld/treefile state sched api api/slurm accounting accounting/rollup partition job gres", "handlers reach the core by its contract only"},
		{"noded", "noded/... api api/... job gres conf gres/topo", "a node knows nothing of state, scheduling and priorities"},
		{"noded/agent", "api api/... job", "the agent passes calls on without looking inside"},
		{"noded/pmi", "", "a protocol between processes and whoever has started them"},
		{"noded/bind", "api/slurm", "which CPUs a task gets is worked out from numbers alone"},
		{"noded/shepherd", "", "standard library, golang.org/x/sys and leaf tools"},
		{"sched", "job gres partition accounting", "the planner is a pure function of its view"},
		{"sched/feed", "sched state job gres partition accounting", "feed turns roots of state into the planner's view"},
		{"sched/cyclelog", "sched sched/feed state job", "recorded cycles are planned again without daemons"},
		{"sched/sim", "sched/sim/... sched sched/feed sched/cyclelog state job gres partition accounting", "the simulator runs state and planner in virtual time, without daemons"},
		{"state", "job gres partition accounting", "the replicated machine knows no daemon, network or storage"},
		{"accounting", "job partition", "who may use what does not depend on raft or daemons"},
		{"accounting/rollup", "accounting job", "sums over records need no disk"},
		{"accounting/completion", "job", "lines of ended jobs, of records alone"},
		{"accounting/ledger", "accounting accounting/rollup job", "finished jobs on disk"},
		{"partition", "job gres", "where a job may be does not depend on who asks"},
		{"job", "gres", "what a job is needs no storage and no calls"},
		{"gres", "", "devices know nothing of jobs"},
		{"gres/topo", "gres", "descriptions of devices are read without any daemon"},
		{"conf", "job gres partition accounting", "the cluster file is read without any daemon"},
		{"api", "job gres", "calls and records know no handler"},
		{"api/pb", "", "generated"},
		{"api/identity", "", "certificates and roles"},
		{"api/rpc", "api api/pb api/identity", "dialling and serving with an identity"},
		{"api/slurm", "api api/slurm/... job gres", "Slurm's outward forms open no socket"},
		{"internal", "", "leaf tools with no domain word in them"},
		{"test", "...", "tests may use everything"},
	}
}

// outsiders says which packages may import which modules of others.
func outsiders() map[string]string {
	return map[string]string{
		"google.golang.org/grpc":              "api/pb api/rpc ctld/... noded/... cmd/musterd",
		"google.golang.org/protobuf":          "api/pb api/rpc ctld/... noded/...",
		"github.com/hashicorp/raft":           "ctld ctld/store/...",
		"github.com/hashicorp/raft-boltdb":    "ctld/store/...",
		"github.com/hashicorp/go-hclog":       "ctld ctld/store",
		"go.etcd.io/bbolt":                    "ctld/store accounting/ledger",
		"github.com/BurntSushi/toml":          "conf",
		"github.com/urfave/cli":               "cmd/muster/...",
		"golang.org/x/sys":                    "noded/... internal/... cmd/muster/... cmd/musterd ctld test/vm/init",
		"github.com/prometheus/client_golang": "ctld/...",
		"github.com/tidwall/btree":            "state sched sched/feed internal/...",
		"github.com/klauspost/compress":       "sched/sim/trace sched/cyclelog",
		"golang.org/x/tools":                  "test",
		"github.com/hanwen/go-fuse":           "test/faultfs",
		"github.com/anishathalye/porcupine":   "test/chaos",
	}
}

// within tells whether a package is named by a list such as "job ctld/...".
func within(list, pkg string) bool {
	for _, item := range strings.Fields(list) {
		tree, all := strings.CutSuffix(item, "...")
		tree = strings.TrimSuffix(tree, "/")
		if pkg == item || all && (tree == "" || pkg == tree || strings.HasPrefix(pkg, tree+"/")) {
			return true
		}
	}
	return false
}

// ruleOf is the rule with the longest name that covers a package.
func ruleOf(pkg string) (rule, bool) {
	var best rule
	for _, r := range house() {
		if within(r.pkg+"/...", pkg) && len(r.pkg) > len(best.pkg) {
			best = r
		}
	}
	return best, best.pkg != ""
}

// complaint says why a package may not import another, or nothing.
func complaint(pkg, imported string) string {
	if ours, ok := strings.CutPrefix(imported, module); ok {
		r, known := ruleOf(pkg)
		if !known {
			return "package " + pkg + " is not in the table; add it to docs/architecture.md and test/deps_test.go"
		}
		if within("internal/... "+r.may, ours) {
			return ""
		}
		return pkg + " imports " + ours + ", but " + r.reason
	}
	if !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
		return "" // standard library
	}
	for mod, who := range outsiders() {
		rest, ok := strings.CutPrefix(imported, mod)
		if ok && (rest == "" || rest[0] == '/') {
			if within(who, pkg) {
				return ""
			}
			return pkg + " imports " + imported + ", which only these may: " + who
		}
	}
	return pkg + " imports " + imported + ", which is not in docs/dependencies.md and test/deps_test.go"
}

func load(t *testing.T, mode packages.LoadMode, patterns ...string) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: mode, Dir: ".."}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, e)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return pkgs
}

func TestImports(t *testing.T) {
	pkgs := load(t, packages.NeedName|packages.NeedImports|packages.NeedFiles, "./...")
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages were found", len(pkgs))
	}
	for _, p := range pkgs {
		for imported := range p.Imports {
			if c := complaint(strings.TrimPrefix(p.PkgPath, module), imported); c != "" {
				t.Error(c)
			}
		}
	}
}

func TestImportRulesBite(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		allowed       bool
	}{
		{"job", "muster/gres", true},
		{"job", "muster/internal/wire", true},
		{"job", "muster/state", false},
		{"gres", "muster/job", false},
		{"state", "muster/sched", false},
		{"state", "muster/accounting/ledger", false},
		{"state", "github.com/hashicorp/raft", false},
		{"sched", "muster/state", false},
		{"sched/feed", "muster/state", true},
		{"noded", "muster/state gres/topo", false},
		{"noded/cgroup", "muster/noded", true},
		{"noded/cgroup", "muster/sched", false},
		{"noded/shepherd", "muster/job", false},
		{"ctld/query", "muster/ctld/store", false},
		{"ctld", "muster/noded", false},
		{"cmd/slurm", "google.golang.org/grpc", false},
		{"cmd/slurm", "muster/conf", false},
		{"cmd/slurm", "muster/api/slurm/format", true},
		{"stray", "muster/job", false},
		{"job", "github.com/unknown/thing", false},
		{"ctld/store", "github.com/hashicorp/raft-boltdb/v2", true},
		{"ctld/query", "github.com/hashicorp/raft-boltdb/v2", false},
	} {
		if got := complaint(c.pkg, c.imported); (got == "") != c.allowed {
			t.Errorf("%s importing %s: complaint %q", c.pkg, c.imported, got)
		}
	}
}

// The page and the table of this file name the same packages.
func TestTableIsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range house() {
		top, _, _ := strings.Cut(r.pkg, "/")
		if !strings.Contains(string(page), "| `"+r.pkg+"`") && !strings.Contains(string(page), "`"+top+"/*`") && r.pkg != "test" {
			t.Errorf("docs/architecture.md has no row of %s", r.pkg)
		}
	}
}

// The commands must not link what makes a start slow, however indirectly.
func TestCommandsStayLean(t *testing.T) {
	pkgs := load(t, packages.NeedName|packages.NeedImports|packages.NeedDeps, "./cmd/slurm")
	seen := 0
	packages.Visit(pkgs, func(p *packages.Package) bool {
		seen++
		for _, heavy := range []string{"google.golang.org/...", "net/http/...", "github.com/...", "crypto/tls/...", "time/tzdata"} {
			if within(heavy, p.PkgPath) {
				t.Errorf("cmd/slurm depends on %s", p.PkgPath)
			}
		}
		return true
	}, nil)
	if seen < 10 {
		t.Errorf("only %d packages were seen", seen)
	}
}

// Every module that the code imports, tests included, is on the page of
// dependencies with its licence.
func TestDependenciesAreOnThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for mod := range outsiders() {
		if !strings.Contains(string(page), "| `"+mod) {
			t.Errorf("docs/dependencies.md lacks %s, which test/deps_test.go allows", mod)
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedModule, Dir: "..", Tests: true}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range pkgs {
		for _, imported := range p.Imports {
			if m := imported.Module; m != nil && !m.Main && !seen[m.Path] {
				seen[m.Path] = true
				if !strings.Contains(string(page), "| `"+m.Path+"` |") {
					t.Errorf("docs/dependencies.md lacks %s, which %s imports", m.Path, p.PkgPath)
				}
			}
		}
	}
	for _, line := range strings.Split(string(page), "\n") {
		mod, _, row := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if row && strings.HasPrefix(line, "| `") && !seen[mod] {
			t.Errorf("docs/dependencies.md has %s, which nothing imports", mod)
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d modules were seen", len(seen))
	}
}
