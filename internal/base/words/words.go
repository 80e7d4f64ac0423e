// Package words stores integers in messages of float32 values, the only messages that a transport sends.
package words

// Len is the number of values that hold a uint64. Each holds 16 bits, which a float32 represents exactly.
const Len = 64 / bits

const bits = 16

// Put writes x to the first Len values.
func Put(values []float32, x uint64) {
	for i := range Len {
		values[i] = float32(uint16(x >> (bits * i)))
	}
}

// Get returns the integer written by Put.
func Get(values []float32) uint64 {
	var x uint64
	for i := range Len {
		x |= uint64(values[i]) << (bits * i)
	}
	return x
}
