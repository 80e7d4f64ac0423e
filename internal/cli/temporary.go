package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// temporaryFolder is where results are made until they get their names: .NAME.swcaffe-N.tmp beside them. It is locked while its process
// lives, so that two processes never make the same thing at once, and what a killed one has left can be told and removed.
type temporaryFolder struct {
	Path string
	lock *os.File // nil where the system has no locks
}

// NewTemporary makes the folder for what is to be called target. That another process is making the same is an error.
func NewTemporary(target string) (*temporaryFolder, error) {
	dir, base := filepath.Split(filepath.Clean(target))
	for n := 0; ; {
		path := fmt.Sprintf("%s.%s.swcaffe-%d.tmp", dir, base, n)
		made := os.Mkdir(path, 0o755)
		if failed := (*fs.PathError)(nil); errors.As(made, &failed) && !errors.Is(made, fs.ErrExist) {
			return nil, fmt.Errorf("cannot write %s: %w", target, failed.Err)
		}
		f, state := lockFolder(path, made == nil)
		switch {
		case state == lockTaken:
			return nil, fmt.Errorf("another process is making %s (its temporary folder is %s)", target, path)
		case made == nil && (state == lockUnknown || isNow(f, path)):
			return &temporaryFolder{path, f}, nil
		case state == lockUnknown:
			n++ // perhaps somebody's
		case made != nil && isNow(f, path): // a killed process's
			if err := os.RemoveAll(path); err != nil {
				return nil, errors.Join(fmt.Errorf("cannot remove what a killed process has left: %w", err), f.Close())
			}
		}
		if f != nil {
			f.Close()
		}
	}
}

// What lockFolder finds.
const (
	lockOurs    = iota
	lockTaken   // by a process that lives
	lockUnknown // no locks here, or no permission
)

// isNow reports whether an opened folder still has its name.
func isNow(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Publish gives what stands at from, in the folder or the folder itself, its name. One that is there already stays, and is an error.
func Publish(from, to string) error {
	err := renameNew(from, to)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: another process has made it meanwhile", to)
	}
	return err
}

// renameChecked is renameNew for systems whose rename replaces files.
func renameChecked(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// Remove removes what is left of the folder, once its process has none of its files in use any more, and lets go of the lock.
func (t *temporaryFolder) Remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(t.Path); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // somebody in this process still makes files there
	}
	return errors.Join(err, t.release())
}

// release lets go of the lock.
func (t *temporaryFolder) release() error {
	if t.lock == nil {
		return nil
	}
	return t.lock.Close()
}
