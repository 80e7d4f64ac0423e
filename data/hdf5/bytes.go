package hdf5

import (
	"encoding/binary"
	"fmt"
)

// undefined is the address of what a file does not have. Files with addresses of fewer bytes have as many bits of it.
const undefined = ^uint64(0)

// damaged makes the error of a file that breaks the format's rules.
func damaged(format string, args ...any) error {
	return fmt.Errorf("damaged HDF5 file: "+format, args...)
}

// cursor takes values from bytes, the least significant byte first. Past the end it gives zeros and remembers that in err.
type cursor struct {
	b               []byte
	offsets, widths int // bytes of addresses, and of lengths
	err             error
}

func (f *file) cursor(b []byte) *cursor {
	return &cursor{b: b, offsets: f.offsetSize, widths: f.lengthSize}
}

// take returns the next n bytes.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		if c.err == nil {
			c.err = damaged("a structure ends after %d of %d bytes", len(c.b), n)
		}
		c.b = nil
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) skip(n int) { c.take(n) }

// uint takes a number of up to 8 bytes.
func (c *cursor) uint(bytes int) uint64 {
	var full [8]byte
	copy(full[:], c.take(bytes))
	return binary.LittleEndian.Uint64(full[:])
}

func (c *cursor) u8() int { return int(c.uint(1)) }

func (c *cursor) u16() int { return int(c.uint(2)) }

func (c *cursor) u32() uint64 { return c.uint(4) }

// offset takes an address.
func (c *cursor) offset() uint64 {
	a := c.uint(c.offsets)
	if a == undefined>>(64-8*c.offsets) {
		return undefined
	}
	return a
}

func (c *cursor) length() uint64 { return c.uint(c.widths) }

// expect takes a signature or a version, which must be the one given.
func (c *cursor) expect(want, what string) {
	got := string(c.take(len(want)))
	if c.err == nil && got != want {
		c.err = damaged("%q where %s should begin with %q", got, what, want)
	}
}

// bytesFor is how many bytes libhdf5 gives to numbers up to most.
func bytesFor(most uint64) int { return log2(most)/8 + 1 }

// log2 rounds down; it is 0 for 0.
func log2(n uint64) int {
	bits := 0
	for ; n > 1; n >>= 1 {
		bits++
	}
	return bits
}
