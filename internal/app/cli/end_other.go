//go:build !unix

package cli

import (
	"os"
	"syscall"
)

const brokenPipe = syscall.SIGPIPE

// writeErrorsAreErrors does nothing: on this system, a failed write never ends the process.
func writeErrorsAreErrors() {}

// EndBySignal exits with code 1: this system cannot end the process by a signal.
func EndBySignal(os.Signal) { os.Exit(1) }
