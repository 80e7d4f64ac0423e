package vconv

import (
	"encoding/binary"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// The functions here multiply integers: pixels as bytes without signs, weights as bytes with signs. Sums are 32-bit integers and exact. A processor with
// instructions for it multiplies four at once: a float32's place in memory holds four neighbouring channels. VPDPBUSD takes pixels as they are, and SDOT less 128, which
// what a column's sum starts with makes good. VPMADDWD multiplies two at once, as 16-bit integers: a place holds two channels of pixels, from which the byte of 0 has
// been subtracted, or four weights, bytes that the kernel widens. Elsewhere each place holds one integer as a float32, and PixelKernel adds up to 512 products,
// which float32 does exactly.

// ByteBlock is the number of channels of a block of bytes.
const ByteBlock = 4 * isa.BlockLanes

// Step is how pixels become bytes: byte b stands for (b - Zero) steps. The zero value is no step.
type Step struct {
	Reciprocal float32 // 1 / step
	Zero       uint8
}

// integersOfPlace is the number of integers that a pixel's place holds, at the level in use: 4, 2 or 1. The kernels' index is half of it, less 1.
func integersOfPlace() int {
	_, vectors, _ := spread(1, 0)
	for of := len(have.Bytes) - 1; of >= 0; of-- {
		if have.Bytes[of][1][vectors] != none && have.ToBytes[of] != none {
			return 2 * (of + 1)
		}
	}
	return 1
}

// whole is a float32 number so large that those near it are whole.
const whole = 3 << 22

// round returns x in steps: to the nearest, of two the even one, as far as bytes go. NaN is the least.
func (s Step) round(x float32) float32 {
	low := -float32(s.Zero)
	x = float32(x * s.Reciprocal)
	if !(x > low) {
		return low
	}
	return float32(min(x, low+math.MaxUint8)+whole) - whole
}

// pixels is Factors.Pixels.
func (s Step) pixels(dst, x []float32, jump, blocks, rows int) {
	const lanes = isa.BlockLanes
	low := -float32(s.Zero)
	with := [4]float32{s.Reciprocal, low, low + math.MaxUint8, whole}
	if of := integersOfPlace(); of > 1 {
		_, _ = dst[(blocks+of-1)/of*rows*lanes-1], x[(blocks-1)*jump+rows*lanes-1]
		for b := range blocks {
			have.ToBytes[of/2-1].run(&dst[b/of*rows*lanes+b%of*(lanes/of)], &x[b*jump], rows, &with[0])
		}
		return
	}
	for b := range blocks {
		to, from := dst[b*rows*lanes:][:rows*lanes], x[b*jump:][:rows*lanes]
		if have.ToWhole != none {
			have.ToWhole.run(&to[0], &from[0], rows, &with[0])
			continue
		}
		for i, v := range from {
			to[i] = s.round(v)
		}
	}
	if missing := blocks % 4; missing > 0 {
		clear(dst[blocks*rows*lanes:][:(4-missing)*rows*lanes])
	}
}

// AddToHead adds k rows of 32 columns of weights in steps, which Panel packs, to the head of their panel. Its first 32 places have what a column's sum starts
// with, an integer, since byte Zero stands for 0: it is 0 if there are no rows. The next 32 have the steps of the products.
func (f Factors) AddToHead(head, w []float32, k int) {
	if integersOfPlace() < 4 {
		return
	}
	for j := range pixelPanel {
		sum := int32(math.Float32bits(head[j]))
		for p := range k {
			sum -= (int32(f.step.Zero) + int32(have.LeastByte)) * int32(w[p*pixelPanel+j])
		}
		head[j] = math.Float32frombits(uint32(sum))
	}
}

// bytePanel is Factors.Panel. As many neighbouring channels of a column lie side by side as a pixel's place holds.
func bytePanel(dst, src []float32, k int) {
	of := integersOfPlace()
	if of == 1 {
		copy(dst[:k*pixelPanel], src)
		return
	}
	for p := 0; p < k; p += 4 {
		var bytes [4 * pixelPanel]uint8
		for at := range bytes {
			row, j := at/(of*pixelPanel)*of+at%of, at/of%pixelPanel
			bytes[at] = uint8(int8(src[(p+row)*pixelPanel+j]))
		}
		for j := range pixelPanel {
			dst[p/4*pixelPanel+j] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*j:]))
		}
	}
}

// multiplyBytes is Factors.Multiply.
func multiplyBytes(t *Tile) {
	const lanes = isa.BlockLanes
	start, scale, bias := nothing[:], t.Head[pixelPanel:], t.Bias
	if t.First {
		start = t.Head
	}
	of := integersOfPlace()
	if of == 1 {
		multiplyWhole(t, scale, bias)
		return
	}
	per := 4 / of // blocks of places in a block of bytes
	_, _ = t.A[(t.Blocks-1)*t.JumpA+(per-1)*t.JumpA/per+t.Rows*lanes-1], t.B[(t.Blocks*lanes-1)*pixelPanel+t.N*lanes-1]
	_, _, _, _ = start[t.N*lanes-1], scale[t.N*lanes-1], bias[t.N*lanes-1], t.C[(t.N-1)*t.JumpC+t.Rows*lanes-1]
	ahead := t.Ahead.or(t.C, t.JumpC, t.Rows)
	kernels, most, done := &have.Bytes[of/2-1], have.TilePixels, 0
	for _, vectors, _ := spread(1, 0); kernels[most][vectors] == none; {
		most--
	}
	each, less, more := even(t.Rows, most)
	for i, tiles := range [2]int{more, less} {
		if tiles > 0 {
			step, vectors, apart := spread(t.N, t.JumpC)
			rows := each + 1 - i
			if both := 2 * vectors; t.N > step && both < len(kernels[rows]) && kernels[rows][both] != none {
				step, vectors, apart = t.N, both, t.JumpC
			}
			for j := 0; j < t.N; j += step {
				at := j * lanes
				kernels[rows][vectors].run(per*t.Blocks, &t.A[done], t.JumpA/per, &t.B[at*of/4], &start[at], &t.C[j*t.JumpC+done], apart, &ahead.At[done], ahead.Jump, ahead.Beside, &scale[at], &bias[at], !t.First, t.Last, t.Floor, tiles)
			}
			done += tiles * rows * lanes
		}
	}
}

// multiplyWhole is multiplyBytes with integers as float32 numbers, in sums of at most 512 products.
func multiplyWhole(t *Tile, scale, bias []float32) {
	const lanes, most, per = isa.BlockLanes, 512 / ByteBlock, ByteBlock / isa.BlockLanes
	var sums [2 * tileRows * lanes]float32
	for first := 0; first < t.Rows; first += tileRows {
		rows, at := min(tileRows, t.Rows-first), first*lanes
		for k := 0; k < t.Blocks; k += most {
			PixelKernel(per*min(most, t.Blocks-k), t.A[k*t.JumpA+at:], t.JumpA/per, t.B[k*ByteBlock*pixelPanel:], nothing[:], sums[:], rows*lanes, rows, t.N, false, false)
			fresh, last := t.First && k == 0, t.Last && k+most >= t.Blocks
			for n := range t.N {
				c, from := t.C[n*t.JumpC+at:][:rows*lanes], sums[n*rows*lanes:]
				addWhole(c, from, scale[n*lanes:], bias[n*lanes:], fresh, last, t.Floor)
			}
		}
	}
}

// tileRows is the number of pixels whose sums multiplyWhole holds at a time.
const tileRows = 28

// addWhole adds whole numbers to c's integers, which are 0 if fresh is set; with last it makes results of them.
func addWhole(c, whole, scale, bias []float32, fresh, last, floor bool) {
	for i, v := range whole[:len(c)] {
		sum := int32(v)
		if !fresh {
			sum += int32(math.Float32bits(c[i]))
		}
		if !last {
			c[i] = math.Float32frombits(uint32(sum))
			continue
		}
		j := i % isa.BlockLanes
		y := float32(float32(sum)*scale[j]) + bias[j]
		if floor && y < 0 {
			y = 0
		}
		c[i] = y
	}
}
