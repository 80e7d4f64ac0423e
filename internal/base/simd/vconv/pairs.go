package vconv

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// The kernels here multiply values that are rounded to bfloat16, and add the products in float32. A processor with instructions for it multiplies pairs: a
// float32's place in memory holds two neighbouring channels. Elsewhere weights are such pairs too, which kernels make float32 values as they read them, and each place
// of pixels holds one rounded value. In both the odd channel of a pair comes before the even one, and products are exact, so that sums have the same bits
// unless a sum is below 2⁻¹²⁶: the instruction makes it zero.

// PairBlock is the number of channels of a block of pairs.
const PairBlock = 2 * isa.BlockLanes

// HasPairs reports whether the processor multiplies pairs, at the level in use.
func HasPairs() bool {
	return have.Pixels[pairs][1][1] != none && have.PixelSums[pairs][8][1] != none && have.RoundPixels != none && have.AddPairs != none && have.RoundRows != none && have.Offsets[pairs][1][1] != none
}

// PairPlaces is the number of places that n rounded values take; n is even.
func PairPlaces(n int) int {
	if HasPairs() {
		return n / 2
	}
	return n
}

// roundPixelPairs rounds blocks of 16 channels of some pixels for Factors.Multiply, which are jump values apart in x. It makes blocks of PairBlock channels, one
// behind another; the last one's missing channels are zero.
func roundPixelPairs(dst, x []float32, jump, blocks, rows int) {
	const lanes = isa.BlockLanes
	if !HasPairs() {
		for b := range blocks {
			vec.SwapRounded(dst[b*rows*lanes:][:rows*lanes], x[b*jump:])
		}
		if blocks%2 > 0 {
			clear(dst[blocks*rows*lanes:][:rows*lanes])
		}
		return
	}
	_, _ = dst[(blocks+1)/2*rows*lanes-1], x[(blocks-1)*jump+rows*lanes-1]
	for b := 0; b+2 <= blocks; b += 2 {
		have.RoundPixels.run(&dst[b/2*rows*lanes], &x[b*jump], &x[(b+1)*jump], lanes, lanes, rows)
	}
	if blocks%2 > 0 {
		have.RoundPixels.run(&dst[blocks/2*rows*lanes], &x[(blocks-1)*jump], &zeros[0], lanes, 0, rows)
	}
}

// RoundPairs rounds values, of which there is an even number, to pairs of neighbours. It needs HasPairs.
func RoundPairs(dst, src []float32) {
	const run = PairBlock
	n := len(src) / run
	if n > 0 {
		_ = dst[n*run/2-1]
		have.RoundPixels.run(&dst[0], &src[0], &src[run/2], run, run, n)
	}
	for at := n * run; at < len(src); at += 2 {
		dst[at/2] = vec.Pair(src[at], src[at+1])
	}
}

// AddPairs adds a block of 16 channels of some pixels to dst: the first or the second one of pairs, at whose start src begins. It needs HasPairs.
func AddPairs(dst, src []float32) {
	const lanes = isa.BlockLanes
	n := len(dst) / lanes
	_ = src[(n-1)*lanes+lanes/2-1]
	have.AddPairs.run(&dst[0], &src[0], n)
}

// zeros are the channels that are missing.
var zeros [isa.BlockLanes]float32

// roundPanel rounds a panel of weights to pairs: k rows of 32 columns, k even. dst may be src.
func roundPanel(dst, src []float32, k int) {
	if k%2 > 0 {
		panic("vconv: a panel of pairs has an odd number of rows")
	}
	for p := 0; p < k; p += 2 {
		vec.PairUp(dst[p/2*pixelPanel:][:pixelPanel], src[p*pixelPanel:][:pixelPanel], src[(p+1)*pixelPanel:][:pixelPanel])
	}
}

// unroundPanel writes the values of a panel that roundPanel has made.
func unroundPanel(dst, src []float32, k int) {
	for at := range k / 2 * pixelPanel {
		to := dst[at/pixelPanel*2*pixelPanel+at%pixelPanel:]
		to[0], to[pixelPanel] = vec.Unpair(src[at])
	}
}

// PairRows is the number of places that the values of one channel at n neighbouring pixels take.
func PairRows(n int) int { return PairPlaces(n + n%2) }

// RoundRows rounds a block of 16 channels of n pixels, one behind another, for PairSums: pairs are two neighbouring pixels. A last pixel without neighbour
// has one of zeros. dst has PairRows(n) rows of 16 places.
func RoundRows(dst, src []float32, n int) {
	const lanes = isa.BlockLanes
	if whole := n / 2; whole > 0 && HasPairs() {
		_, _ = dst[whole*lanes-1], src[2*whole*lanes-1]
		have.RoundRows.run(&dst[0], &src[0], &src[lanes], PairBlock, PairBlock, whole)
	} else {
		for q := range whole {
			at := 2 * q * lanes
			vec.Round(dst[at:at+lanes], src[at+lanes:at+2*lanes])
			vec.Round(dst[at+lanes:at+2*lanes], src[at:at+lanes])
		}
	}
	if n%2 == 0 {
		return
	}
	var last [2 * lanes]float32
	copy(last[:lanes], src[(n-1)*lanes:])
	RoundRows(dst[PairPlaces(n-1)*lanes:], last[:], 2)
}

// PairSums is PixelSums for operands that RoundRows has made; r.N is PairRows of the number of pixels.
func PairSums(r *PixelRuns, a, b, c []float32, ldc, first, m, n int, accumulate bool) {
	factors := kind(values)
	if HasPairs() {
		factors = pairs
	}
	if sumsByKernel(factors, r, a, b, c, ldc, first, m, n, accumulate) {
		return
	}
	const lanes = isa.BlockLanes
	for i := range m {
		at := (first+i)/lanes*r.JumpA + (first+i)%lanes
		for j := 0; j < n; j += len(vec.Eight{}) {
			var sums vec.Eight // of all runs before what c holds is added, as in the micro-kernels
			for run := range r.Runs {
				sums.AddProducts(r.N, a[at+run*r.NextA:], lanes, b[j/lanes*r.JumpB+run*r.NextB+j%lanes:], lanes)
			}
			for k, v := range sums[:min(len(sums), n-j)] {
				if accumulate {
					v += c[i*ldc+j+k]
				}
				c[i*ldc+j+k] = v
			}
		}
	}
}
