package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// shrinkPipe makes a pipe hold one page only, about 50 lines of a log.
func shrinkPipe(t *testing.T, pipe *os.File) {
	t.Helper()
	raw, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { _, failed = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, os.Getpagesize()) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}
