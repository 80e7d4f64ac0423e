//go:build !linux && !darwin && !freebsd && !windows

package proto

// FreeBytes is unknown on this system.
func FreeBytes(string) (bytes float64, ok bool) { return 0, false }
