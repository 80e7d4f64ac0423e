package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// heaps are the blocks of a file that say how long they are, of which the library makes buffers before it looks whether
// there is as much. Behind the signature stand four bytes for the version, and the length.
var heaps = []struct{ signature, name string }{{"HEAP", "local heap"}, {"GCOL", "global heap collection"}}

// checkHeaps returns an error if a heap is longer than the file, which only a damaged file says. Bytes that only look like a
// heap have no address in the file that leads to them. Files whose lengths are not of 8 bytes, which libhdf5 writes if it is
// told to, are not looked at.
func checkHeaps(f *os.File, head superblock, fileLength int64) error {
	if !head.longLengths() {
		return nil
	}
	s := scanner{f, make([]byte, 1<<20)}
	for _, h := range heaps {
		at, err := s.find([]byte(h.signature), 0)
		for ; err == nil && at >= 0; at, err = s.find([]byte(h.signature), at+1) {
			n, err := lengthAt(f, at+8)
			if err != nil || n <= uint64(fileLength) {
				continue
			}
			if address, err := s.find(binary.LittleEndian.AppendUint64(nil, uint64(at)), 0); err != nil || address >= 0 {
				return errors.Join(err, fmt.Errorf("a %s of %d bytes in a file of %d", h.name, n, fileLength))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lengthAt reads a length of 8 bytes; it is an error if the file ends before.
func lengthAt(f *os.File, at int64) (uint64, error) {
	var b [8]byte
	_, err := f.ReadAt(b[:], at)
	return binary.LittleEndian.Uint64(b[:]), err
}

// superblock is the beginning of a file: the signature, the version, the sizes of addresses and lengths, and, among others, the address at
// which the file ends (HDF5 file format specification 3.0, section II.A). A shorter file gives a shorter one.
type superblock []byte

func readSuperblock(f *os.File) (superblock, error) {
	const most = 52 // up to the address in version 1, the longest
	b := make([]byte, most)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// places are where the two sizes and the end's address stand.
func (s superblock) places() (addresses, lengths, end int) {
	switch {
	case len(s) <= len(signature) || s[len(signature)] == 0:
		return 13, 14, 40
	case s[len(signature)] == 1:
		return 13, 14, 44
	}
	return 9, 10, 28
}

// eight reports whether the size at a place is 8.
func (s superblock) eight(at int) bool { return at < len(s) && s[at] == 8 }

// longLengths reports whether lengths have 8 bytes.
func (s superblock) longLengths() bool {
	_, lengths, _ := s.places()
	return s.eight(lengths)
}

// checkEnd returns an error if a file is shorter than its superblock says. Files whose addresses are not of 8 bytes are not looked at, and
// neither is what is no HDF5 file.
func (s superblock) checkEnd(fileLength int64) error {
	addresses, _, at := s.places()
	if !strings.HasPrefix(string(s), signature[:min(len(s), len(signature))]) || len(s) > addresses && !s.eight(addresses) {
		return nil
	}
	if len(s) < at+8 {
		return fmt.Errorf("the HDF5 file ends early: it has %d bytes", fileLength)
	}
	if end := binary.LittleEndian.Uint64(s[at:]); end > uint64(fileLength) {
		return fmt.Errorf("the HDF5 file ends early: it has %d bytes of %d", fileLength, end)
	}
	return nil
}

// scanner looks for patterns in a file.
type scanner struct {
	file *os.File
	buf  []byte
}

// find returns where a pattern begins next, from a place on; -1 if it does not.
func (s *scanner) find(pattern []byte, from int64) (int64, error) {
	for {
		n, err := s.file.ReadAt(s.buf, from)
		if at := bytes.Index(s.buf[:n], pattern); at >= 0 {
			return from + int64(at), nil
		}
		if errors.Is(err, io.EOF) {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		from += int64(n - len(pattern) + 1)
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
