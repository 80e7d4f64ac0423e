//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package proto

import (
	"os"
	"syscall"
)

// lock locks a file until it is closed or the process ends. It returns false if the file system has no locks or, unless wait is
// set, if another writer holds the lock.
func lock(f *os.File, wait bool) bool {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	err := syscall.EINTR
	for err == syscall.EINTR {
		err, _ = syscall.Flock(int(f.Fd()), how).(syscall.Errno)
	}
	return err == 0
}

// finish renames a written file to its final name or, after an error, removes it. It holds the lock until then.
func finish(f *os.File, path string, err error) error {
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
