//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

const brokenPipe = syscall.SIGPIPE

// writeErrorsAreErrors makes a write into a pipe without a reader fail. Otherwise SIGPIPE would end the process, and the end of a
// log's reader would cost the work done so far. Writes beyond the file size limit (ulimit -f) fail in every Go program.
func writeErrorsAreErrors() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// EndBySignal ends the process by a signal, so that the shell sees the signal. If the process was started with this signal
// ignored, as scripts do for SIGINT with commands followed by &, it exits with the code that a shell reports for the signal.
func EndBySignal(sig os.Signal) {
	signal.Reset(sig)
	if sig == brokenPipe { // Go accepts this signal only from a write
		os.Stdout.WriteString("\n")
		os.Exit(1)
	}
	number, ok := sig.(syscall.Signal)
	if !ok {
		os.Exit(1)
	}
	if syscall.Kill(os.Getpid(), number) == nil {
		time.Sleep(time.Second) // the signal arrives at once
	}
	os.Exit(128 + int(number))
}
