package regular

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFiles: regular files are read completely; anything else immediately gives an error that says so.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, want := range []string{"", "x", strings.Repeat("long ", 100000)} {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
		}
		got, err := ReadText(path, 1000)
		if fits := len(want) <= 1000; fits != (err == nil) || fits && string(got) != want {
			t.Errorf("text of %d bytes: %d, %v", len(want), len(got), err)
		}
	}
	for bad, want := range map[string]string{dir: "folder", filepath.Join(dir, "none"): "no such file"} {
		if _, err := ReadFile(bad); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, read := range []func() ([]byte, error){
		func() ([]byte, error) { return ReadFile("/dev/zero") },
		func() ([]byte, error) { return ReadText("/dev/zero", 1<<20) },
	} {
		if b, err := read(); err == nil || !strings.Contains(err.Error(), "/dev/zero") {
			t.Errorf("/dev/zero: %d bytes, %v", len(b), err)
		}
	}
}

// TestTooLong: a file longer than memory, of which no byte is on the disk.
func TestTooLong(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 42); err != nil {
		t.Skip("no sparse files of 4 TB here:", err)
	}
	if _, err := ReadFile(f.Name()); err == nil || !strings.Contains(err.Error(), "4.4 TB of memory would be needed") {
		t.Errorf("got %v", err)
	}
}
