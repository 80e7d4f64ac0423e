package proto

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// WriteFileAtomic writes a file under a temporary name beside it, syncs it to disk and renames it. After a full disk, an error or
// a kill, the old file, if any, is unchanged. The temporary file of a killed process remains until the next write of the same
// file, or until RemoveLeftovers. A symbolic link is followed. Anything but a regular file, such as /dev/stdout, is written
// directly.
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

// CheckWritable fails if WriteFileAtomic could not write a file of this name. It allows checking before long work, and changes no
// existing file.
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

// CheckReplaceable fails if something stands in a file's place that an atomic write does not replace and that does not just take bytes: a folder, a
// pipe, which may wait for a reader for ever, or a socket.
func CheckReplaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.Mode()&fs.ModeDevice != 0 {
		return nil // what prevents Stat prevents the write as well, and its error says more
	}
	kind := "it is neither a file nor a device"
	switch {
	case info.IsDir():
		kind = "it is a folder"
	case info.Mode()&fs.ModeNamedPipe != 0:
		kind = "it is a pipe"
	case info.Mode()&fs.ModeSocket != 0:
		kind = "it is a socket"
	}
	return fmt.Errorf("cannot write %s: %s", path, kind)
}

// behindLinks follows symbolic links to the file at their end.
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

// A temporary file is called .NAME.swcaffe-N.tmp, beside NAME. Its writer holds a lock on it, so that the file of a killed
// process can be distinguished from a file being written.
const temporaryMark, temporaryEnd = ".swcaffe-", ".tmp"

// createTemp creates a temporary file for path, with the permissions of an ordinary new file. It removes leftovers of earlier
// writes of path.
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
				failed.Path = path // users do not know the temporary name
			}
			return nil, err
		case lock(f, true) && !isAt(f, name): // another process has removed it as a leftover before we locked it
			f.Close()
		default:
			return f, nil
		}
	}
}

// RemoveLeftovers removes the temporary files that killed processes left behind, for files whose paths begin with prefix. Files
// being written stay.
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

// removeLeftover removes a temporary file unless a process is writing it.
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

// isAt reports whether name still refers to the open file f.
func isAt(f *os.File, name string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(name)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// syncDir makes a rename survive a power failure, if the file system supports this. Windows refuses to flush a folder.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
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
