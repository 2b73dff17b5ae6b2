// Package examples runs the examples of the repository on a real cluster and
// has each check its own result.
package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/test/cluster"
)

func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed; two of the examples are in Python")
	}
	checks, err := filepath.Glob("../../examples/*/check")
	if err != nil || len(checks) != 6 {
		t.Fatalf("examples with a check: %v, %v; want 6", checks, err)
	}
	c := cluster.Up(t, "--controllers", "3", "--nodes", "4", "--cpus", "4", "--mem", "2000", "--gres", "gpu:a100:2")
	env := c.Env()
	// A group ends only when its parts have: the cluster outlives them.
	t.Run("all", func(t *testing.T) {
		for _, check := range checks {
			t.Run(filepath.Base(filepath.Dir(check)), func(t *testing.T) {
				t.Parallel()
				runCheck(t, env, check)
			})
		}
	})
}

func runCheck(t *testing.T, env []string, check string) {
	path, err := filepath.Abs(check)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir, cmd.Env = t.TempDir(), env
	// PWD must say the same, since the check works below it.
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "ok ") {
		t.Errorf("%v\n%s%s", err, out, outputs(cmd.Dir))
	}
}

// outputs are the files that a failed example left, to see why.
func outputs(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.txt"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			b.WriteString("--- " + filepath.Base(f) + "\n" + string(text))
		}
	}
	return b.String()
}
