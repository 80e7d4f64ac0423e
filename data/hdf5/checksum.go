package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 is Bob Jenkins' hash function lookup3: the checksum of the newer structures of a file (HDF5 file format specification
// 3.0, "Metadata Checksum").
func lookup3(b []byte) uint32 {
	x := 0xdeadbeef + uint32(len(b))
	y, z := x, x
	for ; len(b) > 12; b = b[12:] {
		x += binary.LittleEndian.Uint32(b)
		y += binary.LittleEndian.Uint32(b[4:])
		z += binary.LittleEndian.Uint32(b[8:])
		for i, turn := range [6]int{4, 6, 8, 16, 19, 4} {
			switch i % 3 {
			case 0:
				x, z = (x-z)^bits.RotateLeft32(z, turn), z+y
			case 1:
				y, x = (y-x)^bits.RotateLeft32(x, turn), x+z
			case 2:
				z, y = (z-y)^bits.RotateLeft32(y, turn), y+x
			}
		}
	}
	if len(b) == 0 {
		return z
	}
	var last [12]byte
	copy(last[:], b)
	x += binary.LittleEndian.Uint32(last[:])
	y += binary.LittleEndian.Uint32(last[4:])
	z += binary.LittleEndian.Uint32(last[8:])
	for i, turn := range [7]int{14, 11, 25, 16, 4, 14, 24} {
		switch i % 3 {
		case 0:
			z = (z ^ y) - bits.RotateLeft32(y, turn)
		case 1:
			x = (x ^ z) - bits.RotateLeft32(z, turn)
		case 2:
			y = (y ^ x) - bits.RotateLeft32(x, turn)
		}
	}
	return z
}

// fletcher32 is the checksum that libhdf5's fletcher32 filter appends to a chunk. It sums big-endian words of two bytes.
func fletcher32(b []byte) uint32 {
	var low, high uint64
	for i := 0; i < len(b); i += 2 {
		word := uint64(b[i]) << 8
		if i+1 < len(b) {
			word |= uint64(b[i+1])
		}
		low = (low + word) % 65535
		high = (high + low) % 65535
	}
	return uint32(high<<16 | low)
}
