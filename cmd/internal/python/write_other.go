//go:build !unix

package python

import "os"

func writeFD2(b []byte) (int, error) { return os.Stderr.Write(b) }
