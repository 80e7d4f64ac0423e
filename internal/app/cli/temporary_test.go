package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPublishReplacesNothing: whoever has the name keeps it.
func TestPublishReplacesNothing(t *testing.T) {
	for _, rename := range []func(from, to string) error{Publish, renameChecked} {
		for _, folder := range []bool{false, true} {
			dir := t.TempDir()
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			for _, path := range []string{from, to} {
				var err error
				if folder {
					err = os.Mkdir(path, 0o755)
				} else {
					err = os.WriteFile(path, []byte(path), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := rename(from, to); err == nil {
				t.Errorf("folder %v: replaced", folder)
			}
			holds(t, dir, "from", "to")
			if err := os.Remove(to); err != nil {
				t.Fatal(err)
			}
			if err := rename(from, to); err != nil {
				t.Error(err)
			}
			holds(t, dir, "to")
		}
	}
}

// holds fails the test if a folder holds other files than those of the given names.
func holds(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if !slices.Equal(found, names) {
		t.Errorf("%s holds %v, want %v", dir, found, names)
	}
}
