package vec

import "math"

// BFloat16 rounds a value to bfloat16 (8 bits of exponent, 7 of mantissa), to nearest even. Values below 2⁻¹²⁶ become zero, as they do in processors'
// instructions; NaN stays NaN.
func BFloat16(v float32) float32 {
	bits := math.Float32bits(v)
	switch {
	case v != v:
		bits |= 1 << 22
	case bits&0x7f800000 == 0:
		bits &= 1 << 31
	default:
		bits += 0x7fff + bits>>16&1
	}
	return math.Float32frombits(bits &^ 0xffff)
}

// Round sets d[i] = BFloat16(x[i]). d may be x.
func Round(d, x []float32) {
	if run(opRound, d, x, nil, 0, 0) {
		return
	}
	for i := range d {
		d[i] = BFloat16(x[i])
	}
}

// Pair returns the place in memory that holds two values as bfloat16, the first in its lower half. It is not a number to compute with.
func Pair(first, second float32) float32 {
	return math.Float32frombits(math.Float32bits(BFloat16(first))>>16 | math.Float32bits(BFloat16(second)))
}

// PairUp sets d[i] to the Pair of x[i] and y[i]. d may be x.
func PairUp(d, x, y []float32) {
	if run(opPairUp, d, x, y, 0, 0) {
		return
	}
	for i := range d {
		d[i] = Pair(x[i], y[i])
	}
}

// Unpair returns the values of a Pair.
func Unpair(pair float32) (first, second float32) {
	bits := math.Float32bits(pair)
	return math.Float32frombits(bits << 16), math.Float32frombits(bits &^ 0xffff)
}

// SwapRounded sets d[i] to x rounded to bfloat16, where the values of each pair change places: d[0] is x[1], d[1] is x[0]. d may be x; its length is even.
func SwapRounded(d, x []float32) {
	if run(opSwapRounded, d, x, nil, 0, 0) {
		return
	}
	for i := 0; i < len(d); i += 2 {
		d[i], d[i+1] = BFloat16(x[i+1]), BFloat16(x[i])
	}
}
