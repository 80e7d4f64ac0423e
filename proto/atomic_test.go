package proto

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func writeString(s string) func(f *os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(s)
		return err
	}
}

// only requires that a folder holds one file with the given text, and nothing else.
func only(t *testing.T, path, want string) {
	t.Helper()
	if got := string(readFile(t, path)); got != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestWriteFileAtomic(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"old", "new, longer", ""} {
		if err := WriteFileAtomic(file, writeString(text)); err != nil {
			t.Fatal(err)
		}
		only(t, file, text)
	}
}

func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := WriteFileAtomic(file, func(f *os.File) error {
		if _, err := f.WriteString("half"); err != nil {
			return err
		}
		return full
	})
	if want := "cannot write " + file + ": no space left on device"; !errors.Is(err, full) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	only(t, file, "old")
}

func TestWriteIsInvisibleUntilItIsDone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := WriteFileAtomic(file, func(f *os.File) error {
		if got := string(readFile(t, file)); got != "old" {
			t.Errorf("while writing the file holds %q", got)
		}
		return writeString("new")(f)
	})
	if err != nil {
		t.Fatal(err)
	}
	only(t, file, "new")
}

func TestWriteToMissingFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing", "f")
	if err := WriteFileAtomic(file, writeString("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestCheckWritable: what could not be written is said, and a check leaves nothing behind and everything as it is.
func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	for _, path := range []string{file, os.DevNull} {
		if err := CheckWritable(path); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(file); err != nil {
		t.Error(err)
	}
	only(t, file, "old")
	for _, path := range []string{dir, filepath.Join(dir, "none", "f"), filepath.Join(file, "f"), filepath.Join(dir, strings.Repeat("n", 300))} {
		if err := CheckWritable(path); err == nil || !strings.Contains(err.Error(), "cannot write "+path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
	only(t, file, "old")
}

func TestWriteThroughLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := WriteFileAtomic(link, writeString("new")); err != nil {
		t.Fatal(err)
	}
	only(t, file, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, error %v", info, err)
	}
}

func TestWriteToDevice(t *testing.T) {
	if err := WriteFileAtomic(os.DevNull, writeString("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is now %v, error %v", os.DevNull, info, err)
	}
}

// New files get the permissions that the user's other files get.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	plain, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	plain.Close()
	if err := WriteFileAtomic(filepath.Join(dir, "f"), writeString("x")); err != nil {
		t.Fatal(err)
	}
	a, errA := os.Stat(plain.Name())
	b, errB := os.Stat(filepath.Join(dir, "f"))
	if errA != nil || errB != nil || a.Mode() != b.Mode() {
		t.Errorf("a plain file has %v, ours %v; errors %v, %v", a.Mode(), b.Mode(), errA, errB)
	}
}

// The next write of a file removes the leftovers of killed processes, but neither the files being written by others nor unrelated
// files.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	names := []string{
		".f_iter_1.model.swcaffe-0.tmp", ".f_iter_1.model.swcaffe-1.tmp", ".f_iter_20.state.swcaffe-0.tmp", // killed
		".g_iter_1.model.swcaffe-0.tmp", ".f_iter_1.model.tmp", ".f_iter_1.swcaffe-x.tmp", "f_iter_1.model.swcaffe-0.tmp", // others'
		".f_iter_2.model.swcaffe-0.tmp", // being written
	}
	for _, name := range names {
		if err := os.WriteFile(at(name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	busy, err := os.OpenFile(at(names[7]), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if !lock(busy, false) {
		t.Skip("no locks here")
	}
	check := func(gone ...string) {
		t.Helper()
		for _, name := range names {
			_, err := os.Stat(at(name))
			if there := err == nil; there == slices.Contains(gone, name) {
				t.Errorf("%s: is it there: %v", name, there)
			}
		}
	}
	for _, name := range []string{"f_iter_1.model", "f_iter_2.model"} {
		if err := WriteFileAtomic(at(name), writeString("new")); err != nil {
			t.Fatal(err)
		}
		if got := string(readFile(t, at(name))); got != "new" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	check(names[0])
	RemoveLeftovers(at("f_iter_"))
	check(names[:3]...)
	busy.Close()
	t.Chdir(dir)
	RemoveLeftovers("f_iter_")
	check(append(names[:3:3], names[7])...)
	RemoveLeftovers(at("no such folder/f_iter_"))
}

// Writers of the same file do not disturb each other: the last one to end wins, and nothing is left.
func TestWritersOfOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if err := WriteFileAtomic(file, writeString("whole")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	only(t, file, "whole")
}
