package proto

import "golang.org/x/sys/windows"

// FreeBytes returns the bytes that this user may still write to the volume of a folder. ok is false if the system does not tell.
func FreeBytes(dir string) (bytes float64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return float64(free), true
}
