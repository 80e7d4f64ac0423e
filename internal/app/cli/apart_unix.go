//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ApartFromTerminal keeps the terminal's signals, as Ctrl-C, from a command's process: it gets those that its parent sends.
func ApartFromTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
