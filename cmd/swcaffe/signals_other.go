//go:build !unix

package main

import (
	"os"
	"syscall"
)

const brokenPipe = syscall.SIGPIPE

// writeErrorsAreErrors does nothing where a failed write never ends the process.
func writeErrorsAreErrors() {}

// endBy ends the process where it cannot do so by a signal.
func endBy(os.Signal) { os.Exit(1) }
