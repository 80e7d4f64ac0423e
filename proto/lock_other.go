//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package proto

import "os"

// lock returns false: it cannot be told whether somebody writes a file.
func lock(*os.File, bool) bool { return false }

// finish gives a written file its final name or, after an error, removes it; some systems do neither with open files.
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
