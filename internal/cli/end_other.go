//go:build !unix

package cli

import (
	"os"
	"syscall"
)

const brokenPipe = syscall.SIGPIPE

// writeErrorsAreErrors does nothing where a failed write never ends the process.
func writeErrorsAreErrors() {}

// EndBySignal ends the process where it cannot do so by a signal.
func EndBySignal(os.Signal) { os.Exit(1) }
