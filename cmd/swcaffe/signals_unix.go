//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

const brokenPipe = syscall.SIGPIPE

// writeErrorsAreErrors has writes into a pipe that nobody reads fail, which would else end the process by a signal. So the end of a log's
// reader costs no work. Writes past the largest size that a file may have (ulimit -f) fail in every Go program.
func writeErrorsAreErrors() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// endBy ends the process by a signal, so that a shell sees which one it was.
func endBy(sig os.Signal) {
	signal.Reset(sig)
	if sig == brokenPipe { // Go takes it from a write only
		os.Stdout.WriteString("\n")
	} else if number, ok := sig.(syscall.Signal); ok && syscall.Kill(os.Getpid(), number) == nil {
		time.Sleep(time.Minute) // it arrives at once
	}
	os.Exit(1)
}
