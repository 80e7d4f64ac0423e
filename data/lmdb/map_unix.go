//go:build unix

package lmdb

import (
	"fmt"
	"os"
	"syscall"
)

// mapFile maps a file for reading.
func mapFile(f *os.File) (data []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, nil, fmt.Errorf("%s: the file is empty", f.Name())
	}
	if info.Size() != int64(int(info.Size())) {
		return nil, nil, fmt.Errorf("%s: %d bytes are too many for this machine's address space", f.Name(), info.Size())
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: mmap: %w", f.Name(), err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
