//go:build !(linux && (amd64 || arm64))

package lmdb

import (
	"errors"
	"os"
	"runtime"
)

// reader is what openReader would return.
type reader struct{}

func openReader(string, *os.File) (*reader, error) {
	return nil, errors.New("tables of readers are known for Linux on amd64 and arm64, not for " + runtime.GOOS + " on " + runtime.GOARCH)
}

func (*reader) close() {}
