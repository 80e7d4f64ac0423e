//go:build !unix

package cli

import "errors"

// replaceProcess would run a program in place of this one.
func replaceProcess(string, []string, []string) error {
	return errors.New("this system cannot replace a process")
}
