//go:build !linux

package cputime

import "time"

var began = time.Now()

// Thread returns the time since the start. Package syscall has no processor time of a thread of this system.
func Thread() time.Duration { return time.Since(began) }
