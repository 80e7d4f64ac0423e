package proto

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func writeString(s string) func(f *os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(s)
		return err
	}
}

// only demands that a folder holds one file with a text, and nothing else.
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
