//go:build unix

package statusline

import (
	"os"

	"golang.org/x/sys/unix"
)

// Foreground reports whether this process may draw on a terminal: the shell has not put it into the background.
func Foreground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // an error: the terminal controls no jobs
}
