//go:build linux || darwin || freebsd

package proto

import "golang.org/x/sys/unix"

// FreeBytes returns the bytes that this user may still write to the file system of a folder. ok is false if the system does not
// tell.
func FreeBytes(dir string) (bytes float64, ok bool) {
	var info unix.Statfs_t
	if err := unix.Statfs(dir, &info); err != nil {
		return 0, false
	}
	return float64(info.Bavail) * float64(info.Bsize), true
}
