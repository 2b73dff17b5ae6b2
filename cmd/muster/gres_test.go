package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestGresShow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "topo")
	text := "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNV4\t0-3\t0\nGPU1\tNV4\tX\t4-7\t1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	app := &cli.App{Writer: &out, Commands: []*cli.Command{gresCommand()}, ExitErrHandler: func(*cli.Context, error) {}}
	if err := app.RunContext(context.Background(), []string{"muster", "gres", "show", "--from", file}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), text+"\nLegend:") {
		t.Errorf("%s", out.String())
	}
	if err := os.WriteFile(file, []byte("GPU0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := app.RunContext(context.Background(), []string{"muster", "gres", "show", "--from", file})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a broken file: %v", err)
	}
}
