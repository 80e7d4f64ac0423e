package hdf5

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const signature = "\x89HDF\r\n\x1a\n"

// superblock holds the sizes of addresses and lengths in a file, and its root group (HDF5 file format specification 3.0, section
// II.A).
type superblock struct {
	offsetSize, lengthSize int
	end, root              uint64 // the file's length from base on, and the address of the root group's header
}

// signatureAt returns the offset of a file's superblock: 0, or 512, 1024, 2048 ... after a user block; -1 if there is none.
func signatureAt(r io.ReaderAt, size int64) int64 {
	head := make([]byte, len(signature))
	for at := int64(0); at < size; at = max(512, 2*at) {
		if _, err := r.ReadAt(head, at); err != nil {
			return -1
		}
		if string(head) == signature {
			return at
		}
	}
	return -1
}

// Is reports whether a file is an HDF5 file. It does not read from a pipe, since the bytes would be lost, and returns false.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return signatureAt(f, info.Size()) >= 0
}

// longestSuperblock is the length of a version 1 superblock with 8-byte addresses.
const longestSuperblock = 100

// readSuperblock sets f's sizes, base and root. A file shorter than its superblock says is an error.
func (f *file) readSuperblock() error {
	f.base = max(0, signatureAt(f.r, f.size))
	b := make([]byte, longestSuperblock)
	n, err := f.r.ReadAt(b, f.base)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if b = b[:n]; string(b[:min(n, len(signature))]) != signature[:min(n, len(signature))] {
		return errors.New("not an HDF5 file: its signature is not there")
	}
	s, err := parseSuperblock(b)
	if errors.Is(err, errShort) {
		return fmt.Errorf("the HDF5 file ends early: it has %d bytes", f.size)
	}
	if err != nil {
		return err
	}
	if length := f.size - f.base; s.end > uint64(length) {
		return fmt.Errorf("the HDF5 file ends early: it has %d bytes of %d", length, s.end)
	}
	f.superblock = *s
	return nil
}

// errShort reports a truncated superblock.
var errShort = errors.New("the superblock is cut off")

func parseSuperblock(b []byte) (*superblock, error) {
	c := &cursor{b: b}
	c.skip(len(signature))
	version := c.u8()
	if version <= 1 {
		c.skip(4)
	}
	s := &superblock{offsetSize: c.u8(), lengthSize: c.u8()}
	if c.err != nil {
		return nil, errShort
	}
	if version > 3 {
		return nil, fmt.Errorf("the superblock has version %d: HDF5 files of versions 0 to 3 can be read", version)
	}
	for _, n := range []int{s.offsetSize, s.lengthSize} {
		if n != 2 && n != 4 && n != 8 {
			return nil, fmt.Errorf("addresses of %d and lengths of %d bytes: those of 2, 4 and 8 can be read", s.offsetSize, s.lengthSize)
		}
	}
	c.offsets, c.widths = s.offsetSize, s.lengthSize
	switch version {
	case 0, 1:
		c.skip(9 + 4*version) // ranks of B-trees, and flags
		base := c.offset()
		c.skip(s.offsetSize)
		s.end = c.offset() - base
		c.skip(2 * s.offsetSize) // address of the driver's block, and offset of the root's name
		s.root = c.offset()
	default:
		c.skip(1)
		base := c.offset()
		c.skip(s.offsetSize)
		s.end, s.root = c.offset()-base, c.offset()
		head := b[:len(b)-len(c.b)]
		if sum := c.u32(); c.err == nil && verify && uint32(sum) != lookup3(head) {
			return nil, damaged("the superblock's checksum is wrong")
		}
	}
	if c.err != nil {
		return nil, errShort
	}
	return s, nil
}
