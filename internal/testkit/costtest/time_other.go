//go:build !linux

package costtest

import "time"

var began = time.Now()

// threadTime returns the time since the start. Package syscall has no processor time of a thread of this system.
func threadTime() time.Duration { return time.Since(began) }
