package salvage

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/api"
	"muster/internal/wire"
)

// write makes a backup of parts; with broken it is not ended.
func write(t rapid.TB, broken bool, parts ...*api.BackupPart) []byte {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	for _, p := range parts {
		if err == nil {
			err = w.Add(wire.Encode(nil, p))
		}
	}
	if err == nil && broken {
		err = w.zip.Close()
	} else if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written is read back, and nothing of it is taken for whole when the inside of
// the file has one bit changed or is cut short anywhere.
func TestDamagedBackupsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []*api.BackupPart
		for i := range rapid.IntRange(0, 5).Draw(t, "parts") {
			parts = append(parts, &api.BackupPart{Kind: api.BackupState, First: uint64(i),
				Data: rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")})
		}
		file := write(t, false, parts...)
		var got []*api.BackupPart
		keep := func(p *api.BackupPart) error { got = append(got, p); return nil }
		if err := Read(bytes.NewReader(file), keep); err != nil {
			t.Fatal(err)
		}
		same := func(a, b *api.BackupPart) bool { return a.First == b.First && bytes.Equal(a.Data, b.Data) }
		if !slices.EqualFunc(parts, got, same) {
			t.Fatalf("read %d parts, wrote %d", len(got), len(parts))
		}
		zip, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		inside, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(inside)-1).Draw(t, "at")
		bad := inside[:at]
		if rapid.Bool().Draw(t, "flip") {
			bad = bytes.Clone(inside)
			bad[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(bad) // to memory
		w.Close()
		if err := Read(&b, func(*api.BackupPart) error { return nil }); err == nil {
			t.Fatalf("damage at byte %d of %d was not found", at, len(inside))
		}
	})
}

// Whatever is wrong with a backup, nothing is left of the restoring.
func TestRestoringLeavesNothingBehindAnError(t *testing.T) {
	const file = "name = \"test\"\n[[controller]]\nname = \"c1\"\n[[node]]\nnames = \"n1\"\ncpus = 1\nmemory = \"100M\"\n"
	head := &api.BackupPart{Kind: api.BackupHead, Name: "test", First: 7, Data: []byte(file)}
	state := &api.BackupPart{Kind: api.BackupState, Data: []byte("no snapshot")}
	for name, c := range map[string]struct {
		backup []byte
		as     string
		want   string
	}{
		"not a backup":           {[]byte("hello"), "c1", "no backup"},
		"empty":                  {write(t, false), "c1", "empty"},
		"not ended":              {write(t, true, head), "c1", "not ended"},
		"no head":                {write(t, false, state), "c1", "begin"},
		"another controller":     {write(t, false, head), "c9", "c9"},
		"a state that is none":   {write(t, false, head, state), "c1", "snapshot"},
		"a part of the future":   {write(t, false, head, &api.BackupPart{Kind: "moon"}), "c1", "moon"},
		"a gap in the ledger":    {write(t, false, head, &api.BackupPart{Kind: api.BackupLedger, First: 9, List: []api.BackupRecord{{Data: []byte("x")}}}), "c1", ""},
		"a file with a long way": {write(t, true, head, &api.BackupPart{Kind: api.BackupFile, Name: "../../evil", Data: []byte("x")}), "c1", "not ended"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			_, err := Restore(bytes.NewReader(c.backup), filepath.Join(parent, "new"), c.as, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left, _ := os.ReadDir(parent); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(parent), "evil")); err == nil {
				t.Error("a file was written outside of the directory")
			}
		})
	}
}

func TestADirectoryThatIsThereIsNotRestoredInto(t *testing.T) {
	dir := t.TempDir()
	if _, err := Restore(strings.NewReader(""), dir, "c1", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("error %v", err)
	}
}
