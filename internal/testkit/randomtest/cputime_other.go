//go:build !unix

package randomtest

import "time"

var began = time.Now()

// processorTime returns the time since the start. Package syscall has no processor time of this system.
func processorTime() time.Duration { return time.Since(began) }
