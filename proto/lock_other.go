//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package proto

import "os"

// lock returns false: this system cannot tell whether a process is writing the file.
func lock(*os.File, bool) bool { return false }

// finish renames a written file to its final name or, after an error, removes it. It closes the file first, since some systems
// can neither rename nor remove open files.
func finish(f *os.File, path string, err error) error {
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
