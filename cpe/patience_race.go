//go:build race

package cpe

import "time"

// looks and patience are small under the race detector. A poll takes a hundred times as long there, and takes a lock of the detector, so that
// a goroutine that waits slows down the one that it waits for.
const (
	looks    = 80
	patience = 10 * time.Microsecond
)
