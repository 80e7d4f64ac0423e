// Package half converts IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction.
package half

import "math"

// Float32 returns the value of a binary16 number, exactly. NaN keeps its fraction.
func Float32(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
