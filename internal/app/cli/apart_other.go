//go:build !unix

package cli

import "os/exec"

// ApartFromTerminal does nothing on this system.
func ApartFromTerminal(*exec.Cmd) {}
