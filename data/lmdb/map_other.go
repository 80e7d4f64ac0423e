//go:build !unix

package lmdb

import (
	"io"
	"os"
)

// mapFile reads the whole file, on systems without mmap.
func mapFile(f *os.File) (data []byte, unmap func() error, err error) {
	data, err = io.ReadAll(f)
	return data, func() error { return nil }, err
}
