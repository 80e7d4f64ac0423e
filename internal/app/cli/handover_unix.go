//go:build unix

package cli

import "syscall"

// replaceProcess runs a program in place of this one.
func replaceProcess(path string, args, env []string) error { return syscall.Exec(path, args, env) }
