//go:build !race

package cpe

import "time"

// looks is the number of polls, lasting some microseconds, before await yields its processor between polls. patience is how long it polls
// before it sleeps.
const (
	looks    = 2000
	patience = 300 * time.Microsecond
)
