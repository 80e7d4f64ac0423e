package proto

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// WriteFileAtomic writes a file under a temporary name beside it, forces it to disk and renames it, so that a full
// disk, an error or a kill leaves the old file, if there was one, as it was. The temporary file of a killed process stays until the
// next write of the same file, or RemoveLeftovers. A link is followed; what is not a regular file, such as /dev/stdout, is
// written directly.
func WriteFileAtomic(path string, write func(f *os.File) error) error {
	var err error
	if info, missing := os.Stat(path); missing == nil && !info.Mode().IsRegular() {
		err = writeDirect(path, write)
	} else {
		err = writeRenamed(behindLinks(path), write)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// CheckWritable makes sure that WriteFileAtomic can write a file of that name, before the work for it begins. What is there stays as it is.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("cannot write %s: it is a folder", path)
		}
		return nil
	}
	target := behindLinks(path)
	f, err := createTemp(target)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	finish(f, target, errNotWritten)
	return nil
}

// behindLinks returns the file that a path leads to.
func behindLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

var errNotWritten = errors.New("only tried")

func writeDirect(path string, write func(f *os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func writeRenamed(path string, write func(f *os.File) error) error {
	f, err := createTemp(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err := finish(f, path, err); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// A temporary file is .NAME.swcaffe-N.tmp beside NAME, and locked while it is written, so that what a killed process has left can
// be told from what another one is writing.
const temporaryMark, temporaryEnd = ".swcaffe-", ".tmp"

// createTemp opens a new file beside path, with the permissions that a file of the user's normally gets. A leftover of an earlier
// write of path makes room for it.
func createTemp(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for i := 0; ; {
		name := fmt.Sprintf("%s.%s%s%d%s", dir, base, temporaryMark, i, temporaryEnd)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrExist):
			if !removeLeftover(name) {
				i++
			}
		case err != nil:
			if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
				failed.Path = path // the temporary file is nobody's business
			}
			return nil, err
		case lock(f, true) && !isAt(f, name): // taken for a leftover between the two
			f.Close()
		default:
			return f, nil
		}
	}
}

// RemoveLeftovers removes what writes of files whose paths begin with prefix, and whose processes were killed, have left. Files that
// somebody is writing stay.
func RemoveLeftovers(prefix string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), "."+base)
		_, number, marked := strings.Cut(rest, temporaryMark)
		number, ended := strings.CutSuffix(number, temporaryEnd)
		if _, err := strconv.ParseUint(number, 10, 64); ours && marked && ended && err == nil {
			removeLeftover(dir + e.Name())
		}
	}
}

// removeLeftover removes a temporary file if nobody is writing it.
func removeLeftover(name string) bool {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return lock(f, false) && isAt(f, name) && os.Remove(name) == nil
}

// isAt reports whether a file still has its name.
func isAt(f *os.File, name string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(name)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// syncDir makes a rename last through a power cut, where the file system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
