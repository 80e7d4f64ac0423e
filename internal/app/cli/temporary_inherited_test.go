//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInheritedLock: a process that has inherited the lock holds the name after the end of its parent.
func TestInheritedLock(t *testing.T) {
	target := filepath.Join(t.TempDir(), "s")
	folder, err := NewTemporary(target)
	if err != nil {
		t.Fatal(err)
	}
	heir := exec.Command("sleep", "60")
	heir.ExtraFiles = []*os.File{folder.Lock()}
	if err := heir.Start(); err != nil {
		t.Fatal(err)
	}
	if err := folder.Release(); err != nil { // as the parent's end does
		t.Fatal(err)
	}
	if again, err := NewTemporary(target); !errors.Is(err, ErrTaken) {
		t.Errorf("a second folder: %v, error %v", again, err)
	}
	if err := heir.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = heir.Wait() // killed
	if folder, err = NewTemporary(target); err != nil {
		t.Fatal(err)
	}
	if err := folder.Remove(); err != nil {
		t.Fatal(err)
	}
}
