//go:build unix

package cli

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

// EndBySignal ends the process by a signal, so that a shell sees which one it was. Where the process was started with that signal ignored, as a script's
// commands with & are with SIGINT, the exit code says what a shell makes of the signal.
func EndBySignal(sig os.Signal) {
	signal.Reset(sig)
	if sig == brokenPipe { // Go takes it from a write only
		os.Stdout.WriteString("\n")
		os.Exit(1)
	}
	number, ok := sig.(syscall.Signal)
	if !ok {
		os.Exit(1)
	}
	if syscall.Kill(os.Getpid(), number) == nil {
		time.Sleep(time.Second) // it arrives at once
	}
	os.Exit(128 + int(number))
}
