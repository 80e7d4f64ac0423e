//go:build !(linux && (amd64 || arm64))

package lmdb

import (
	"errors"
	"os"
	"runtime"
)

// reader has no fields: there is no table of readers on this system.
type reader struct{}

func openReader(string, *os.File) (*reader, error) {
	return nil, errors.New("tables of readers are known for Linux on amd64 and arm64, not for " + runtime.GOOS + " on " + runtime.GOARCH)
}

func (*reader) close() {}
