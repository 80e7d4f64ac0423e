package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
)

// undefined is the address of an absent structure: all bits set. In files with shorter addresses, it has all bits of such an
// address set.
const undefined = ^uint64(0)

// damaged returns an error for a file that violates the format.
func damaged(format string, args ...any) error {
	return fmt.Errorf("damaged HDF5 file: "+format, args...)
}

// cursor decodes little-endian values from a byte slice. Past the end it returns zeros and records the error in err.
type cursor struct {
	b               []byte
	offsets, widths int // size of an address and of a length in this file, in bytes
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

// expect reads a signature or a version and fails unless it equals want.
func (c *cursor) expect(want, what string) {
	got := string(c.take(len(want)))
	if c.err == nil && got != want {
		c.err = damaged("%q where %s should begin with %q", got, what, want)
	}
}

// asInt returns n, or the largest int if n is larger.
func asInt(n uint64) int { return int(min(n, math.MaxInt)) }

// bytesFor is the number of bytes in which libhdf5 stores numbers up to most.
func bytesFor(most uint64) int { return log2(most)/8 + 1 }

// log2 returns the base-2 logarithm, rounded down; log2(0) is 0.
func log2(n uint64) int {
	bits := 0
	for ; n > 1; n >>= 1 {
		bits++
	}
	return bits
}
