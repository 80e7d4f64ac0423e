// Package words carries integers in messages of float32, which is all that a transport sends.
package words

// Len is how many values hold a uint64: 16 bits each, which a float32 has exactly.
const Len = 64 / bits

const bits = 16

// Put writes x to the first Len values.
func Put(values []float32, x uint64) {
	for i := range Len {
		values[i] = float32(uint16(x >> (bits * i)))
	}
}

// Get returns what Put has written.
func Get(values []float32) uint64 {
	var x uint64
	for i := range Len {
		x |= uint64(values[i]) << (bits * i)
	}
	return x
}
