//go:build !unix

package statusline

import "os"

// Foreground reports whether this process may draw on a terminal.
func Foreground(*os.File) bool { return true }
