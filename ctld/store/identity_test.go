package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c1 := owner{Cluster: "one", Name: "c1"}
	for range 2 {
		if err := claim(dir, c1); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []owner{{"one", "c2"}, {"two", "c1"}} {
		err := claim(dir, who)
		if err == nil || !strings.Contains(err.Error(), `"c1" of cluster "one"`) {
			t.Errorf("%v took the directory of %v: %v", who, c1, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := claim(dir, c1); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged directory: %v", err)
	}
}
