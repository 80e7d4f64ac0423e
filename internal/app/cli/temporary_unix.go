//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lockFolder locks a folder until it is closed or the process ends. With wait, it waits for the present owner of the lock.
func lockFolder(path string, wait bool) (f *os.File, state int) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lockOurs // the owner has just removed the folder: it has no name any more
	}
	if err != nil || !info.IsDir() {
		return nil, lockUnknown
	}
	if f, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
		return nil, lockOurs
	} else if err != nil {
		return nil, lockUnknown
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	failed := syscall.EINTR
	for failed == syscall.EINTR {
		failed, _ = syscall.Flock(int(f.Fd()), how).(syscall.Errno)
	}
	switch failed {
	case 0:
		return f, lockOurs
	case syscall.EWOULDBLOCK:
		f.Close()
		return nil, lockTaken
	}
	f.Close()
	return nil, lockUnknown
}
