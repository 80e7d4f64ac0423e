package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// heaps are the blocks of a file that say how long they are, of which the library makes buffers before it looks whether
// there is as much: a signature, a version, three zeros, and the length.
var heaps = []struct {
	signature, name string
}{{"HEAP\x00\x00\x00\x00", "local heap"}, {"GCOL\x01\x00\x00\x00", "global heap collection"}}

// checkHeaps returns an error if a heap is longer than the file, which only a damaged file says. Files whose lengths are not
// of 8 bytes, which libhdf5 writes if it is told to, are not looked at.
func checkHeaps(f *os.File, fileLength int64) error {
	const block, overlap = 1 << 20, 15
	buf := make([]byte, 0, block+overlap)
	for first := true; ; first = false {
		n, err := io.ReadFull(f, buf[len(buf):block])
		buf = buf[:len(buf)+n]
		if first && !longLengths(buf) {
			return nil
		}
		for _, h := range heaps {
			if length, found := longest(buf, h.signature); found && length > uint64(fileLength) {
				return fmt.Errorf("a %s of %d bytes in a file of %d", h.name, length, fileLength)
			}
		}
		if err != nil {
			return nil // at the end
		}
		buf = append(buf[:0], buf[len(buf)-overlap:]...)
	}
}

// longLengths reports whether the superblock at the beginning of a file says that lengths have 8 bytes.
func longLengths(b []byte) bool {
	const version, early, late = 8, 14, 10 // where the version is, and the lengths' size in versions up to 1 and from 2 on
	if len(b) <= early {
		return false
	}
	if b[version] < 2 {
		return b[early] == 8
	}
	return b[late] == 8
}

// longest returns the greatest of the lengths that stand behind a signature.
func longest(b []byte, signature string) (length uint64, found bool) {
	for {
		at := bytes.Index(b, []byte(signature))
		if at < 0 || at+16 > len(b) {
			return length, found
		}
		length, found = max(length, binary.LittleEndian.Uint64(b[at+8:])), true
		b = b[at+len(signature):]
	}
}

// deflateRatio is the most by which gzip shrinks anything.
const deflateRatio = 1032

// checkCount returns an error if a file of a length cannot hold a dataset of a shape, however well it is packed.
func checkCount(shape []int, fileLength int64) error {
	count := 1.0
	for _, n := range shape {
		count *= float64(n)
	}
	if count > float64(fileLength)*deflateRatio {
		return fmt.Errorf("shape %v is more than a file of %d bytes can hold", shape, fileLength)
	}
	return nil
}
