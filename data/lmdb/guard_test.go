package lmdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileGetsShorter: a file that is cut while it is read gives an error with its name and both sizes, whoever meets the missing pages.
func TestFileGetsShorter(t *testing.T) {
	whole := sample(t)
	for _, left := range []int{0, writePageSize, len(whole) / 2 / writePageSize * writePageSize} {
		file := filepath.Join(t.TempDir(), dataFile)
		if err := os.WriteFile(file, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		db, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		c := db.Cursor()
		if !c.First() {
			t.Fatal(c.Err())
		}
		if err := os.Truncate(file, int64(left)); err != nil {
			t.Fatal(err)
		}
		for err == nil && c.Next() {
			_, err = c.Value()
		}
		if err == nil {
			err = c.Err()
		}
		want := "had"
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("cut to %d bytes: %v, want %q and the file", left, err, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOtherPanicsStay: look passes on what is no fault in the file.
func TestOtherPanicsStay(t *testing.T) {
	db := &DB{data: make([]byte, 8192), reader: &reader{}}
	for _, f := range []func(){func() { panic("other") }, func() { var p *meta; p.txn++ }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = db.look(func() error { f(); return nil })
		}()
	}
}

// TestNoFile: a folder in the place of the file, and pipes and devices, are errors.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, dataFile), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "folder", "/dev/zero": "device"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v, want %q", path, err, want)
		}
	}
}
