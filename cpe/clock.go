package cpe

import (
	"fmt"
	"math"
)

// VTime is modelled time in integer picoseconds, so that sums do not depend on their order. Measured time is time.Duration; the two never
// mix.
type VTime int64

// Seconds returns the time in seconds.
func (t VTime) Seconds() float64 { return float64(t) / 1e12 }

// Milliseconds returns the time in milliseconds.
func (t VTime) Milliseconds() float64 { return float64(t) / 1e9 }

// String prints milliseconds.
func (t VTime) String() string { return fmt.Sprintf("%.6g ms", t.Milliseconds()) }

func fromNs(ns float64) VTime { return VTime(math.Round(ns * 1e3)) }

// cycles returns the time of a number of clock cycles.
func (s *Spec) cycles(n float64) VTime { return fromNs(n / s.ClockGHz) }
