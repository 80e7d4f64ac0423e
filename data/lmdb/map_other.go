//go:build !unix

package lmdb

import "os"

// mapFile reads the whole file where there is no mmap.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
