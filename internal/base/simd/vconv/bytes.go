package vconv

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// The functions here multiply integers: pixels as bytes without signs, weights as bytes with signs. Sums are 32-bit integers and exact. A processor with
// instructions for it multiplies four at once: a float32's place in memory holds four neighbouring channels. VPDPBUSD takes pixels as they are, and SDOT less 128, which
// what a column's sum starts with makes good. Elsewhere each place holds one integer
// as a float32, from which the byte of 0 has been subtracted, and PixelKernel adds up to 512 products, which float32 does exactly.

// ByteBlock is the number of channels of a block of bytes.
const ByteBlock = 4 * isa.BlockLanes

// Step is how pixels become bytes: byte b stands for (b - Zero) steps. The zero value is no step.
type Step struct {
	Reciprocal float32 // 1 / step
	Zero       uint8
}

// HasBytes reports whether the processor multiplies bytes, at the level in use.
func HasBytes() bool {
	_, vectors, _ := spread(1, 0)
	return have.Bytes[1][vectors] != none && have.ToBytes != none
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
	if HasBytes() {
		_, _ = dst[(blocks+3)/4*rows*lanes-1], x[(blocks-1)*jump+rows*lanes-1]
		for b := range blocks {
			have.ToBytes.run(&dst[b/4*rows*lanes+b%4*(lanes/4)], &x[b*jump], rows, &with[0])
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
	if !HasBytes() {
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

// bytePanel is Factors.Panel.
func bytePanel(dst, src []float32, k int) {
	if !HasBytes() {
		copy(dst[:k*pixelPanel], src)
		return
	}
	for p := 0; p < k; p += 4 {
		var four [pixelPanel]float32
		for j := range four {
			bits := uint32(0)
			for i := range 4 {
				bits |= uint32(uint8(int8(src[(p+i)*pixelPanel+j]))) << (8 * i)
			}
			four[j] = math.Float32frombits(bits)
		}
		copy(dst[p/4*pixelPanel:], four[:])
	}
}

// multiplyBytes is Factors.Multiply.
func multiplyBytes(t *Tile) {
	const lanes = isa.BlockLanes
	start, scale, bias := nothing[:], t.Head[pixelPanel:], t.Bias
	if t.First {
		start = t.Head
	}
	if !HasBytes() {
		multiplyWhole(t, scale, bias)
		return
	}
	_, _ = t.A[(t.Blocks-1)*t.JumpA+t.Rows*lanes-1], t.B[(t.Blocks*lanes-1)*pixelPanel+t.N*lanes-1]
	_, _, _, _ = start[t.N*lanes-1], scale[t.N*lanes-1], bias[t.N*lanes-1], t.C[(t.N-1)*t.JumpC+t.Rows*lanes-1]
	each, less, more := even(t.Rows, have.TilePixels)
	step, vectors, apart := spread(t.N, t.JumpC)
	done := 0
	for i, tiles := range [2]int{more, less} {
		if tiles > 0 {
			rows := each + 1 - i
			for j := 0; j < t.N; j += step {
				at := j * lanes
				have.Bytes[rows][vectors].run(t.Blocks, &t.A[done], t.JumpA, &t.B[at], &start[at], &t.C[j*t.JumpC+done], apart, &scale[at], &bias[at], !t.First, t.Last, t.Floor, tiles)
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
