package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// temporaryFolder is the place for results until they are renamed: .NAME.swcaffe-N.tmp beside their final place. Its process
// holds a lock on it. Two processes therefore never make the same result at once, and the folder of a killed process can be
// recognised and removed.
type temporaryFolder struct {
	Path string
	lock *os.File // nil if the system has no locks
}

// ErrTaken is the error of a result that another process is making.
var ErrTaken = errors.New("another process is making")

// Lock is the file that holds the lock, nil if the system has none. A process that inherits it holds the lock too.
func (t *temporaryFolder) Lock() *os.File { return t.lock }

// NewTemporary makes the temporary folder for a result called target. It fails if another process is making the same result.
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
			return nil, fmt.Errorf("%w %s (its temporary folder is %s)", ErrTaken, target, path)
		case made == nil && (state == lockUnknown || isNow(f, path)):
			return &temporaryFolder{path, f}, nil
		case state == lockUnknown:
			n++ // the name may belong to a living process
		case made != nil && isNow(f, path): // left by a killed process
			if err := os.RemoveAll(path); err != nil {
				return nil, errors.Join(fmt.Errorf("cannot remove what a killed process has left: %w", err), f.Close())
			}
		}
		if f != nil {
			f.Close()
		}
	}
}

// Results of lockFolder.
const (
	lockOurs    = iota
	lockTaken   // by a living process
	lockUnknown // no locks on this system, or no permission
)

// isNow reports whether path still names the opened folder.
func isNow(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Publish renames a result: a file or folder in the temporary folder, or the folder itself. It fails if the new name exists.
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

// Remove removes the folder and releases the lock. Abandoned work of this process may still create files; Remove waits for it to
// stop.
func (t *temporaryFolder) Remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(t.Path); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // abandoned work of this process still creates files
	}
	return errors.Join(err, t.Release())
}

// Release releases the lock of a folder that has been renamed.
func (t *temporaryFolder) Release() error {
	if t.lock == nil {
		return nil
	}
	return t.lock.Close()
}
