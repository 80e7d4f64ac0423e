package vconv

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Factors is a number type of the factors of pointwise convolutions, and how a value's place in memory holds one or several of them. The zero value is
// float32. Pixels and panels of weights are packed, unless they are float32, and multiplied with [Factors.Multiply].
type Factors struct {
	kind kind
	step Step
}

// kind is how factors lie in memory. The first three are indices of kernels.Pixels, the first two of kernels.PixelSums.
type kind int

const (
	values   kind = iota // float32
	pairs                // two bfloat16 values in a place
	halves               // two bfloat16 values in a place of weights, one in a place of pixels; instead of pairs, where there are no instructions for these
	integers             // see bytes.go
)

// Pairs are factors rounded to bfloat16; see pairs.go.
func Pairs() Factors { return Factors{kind: pairs} }

// Bytes are integers: pixels of a step and bytes without signs, weights of -127 to 127; see bytes.go.
func Bytes(s Step) Factors { return Factors{kind: integers, step: s} }

// Rounded reports whether factors are packed, since they are not float32.
func (f Factors) Rounded() bool { return f.kind != values }

// Block is the number of channels of a block of packed pixels, which is also the number of rows of a block of a panel.
func (f Factors) Block() int {
	switch f.kind {
	case pairs:
		return PairBlock
	case integers:
		return ByteBlock
	}
	return isa.BlockLanes
}

// Together is the number of neighbouring channels that share a place in memory.
func (f Factors) Together() int {
	switch f.kind {
	case pairs:
		return 2
	case integers:
		return integersOfPlace()
	}
	return 1
}

// Places is the number of places in memory that n factors of pixels take, Weights that of n weights; n is a multiple of 4.
func (f Factors) Places(n int) int {
	switch f.kind {
	case pairs:
		return PairPlaces(n)
	case integers:
		return n / integersOfPlace()
	}
	return n
}

// Weights is explained at Places.
func (f Factors) Weights(n int) int {
	switch {
	case f.kind == pairs:
		return n / 2
	case f.kind == integers && integersOfPlace() > 1:
		return n / 4
	}
	return n
}

// Head is the number of places ahead of the blocks of a panel of 32 columns, which Panel needs for what is by column.
func (f Factors) Head() int {
	if f.kind == integers {
		return 2 * pixelPanel
	}
	return 0
}

// Pixels packs blocks of 16 channels of some pixels, which are jump values apart in x. It makes blocks of Block channels, one behind another; what the last
// one's missing channels are does not matter if their weights are zero.
func (f Factors) Pixels(dst, x []float32, jump, blocks, rows int) {
	switch f.kind {
	case pairs:
		roundPixelPairs(dst, x, jump, blocks, rows)
	case integers:
		f.step.pixels(dst, x, jump, blocks, rows)
	default:
		panic("vconv: float32 pixels are multiplied where they are")
	}
}

// Panel packs k rows of 32 columns of weights, where k is a multiple of Block. dst may be src. Of bytes, src has whole multiples of the columns' steps.
func (f Factors) Panel(dst, src []float32, k int) {
	switch f.kind {
	case pairs:
		roundPanel(dst, src, k)
	case integers:
		bytePanel(dst, src, k)
	default:
		copy(dst[:k*pixelPanel], src)
	}
}

// Unpanel writes the weights of a panel that Panel has made.
func (f Factors) Unpanel(dst, src []float32, k int) {
	switch f.kind {
	case pairs:
		unroundPanel(dst, src, k)
	case integers:
		panic("vconv: weights cannot be had from bytes")
	default:
		copy(dst[:k*pixelPanel], src)
	}
}

// Tile is a pointwise convolution of some pixels and the first N blocks of 16 of 32 output channels, by some blocks of factors: C = A*B. A's blocks are
// JumpA places apart, C's JumpC; see [PixelKernel].
type Tile struct {
	Blocks int
	A      []float32
	JumpA  int
	Head   []float32 // of the panel
	B      []float32 // the panel's rows for these blocks
	Bias   []float32 // of the 32 channels
	C      []float32
	JumpC  int
	Ahead  Ahead
	Rows   int // pixels
	N      int
	// First tiles begin with Bias, unless Add is set, which adds to what C holds. Others go on with what the tile before has left in C; Last ones make results.
	First, Last, Add bool
	Floor            bool // results below 0 become 0; NaN stays
}

// nothing is the bias of no channel.
var nothing [pixelPanel]float32

// Multiply computes a tile. Of bytes, C holds integers until the last tile, and Add must not be set.
func (f Factors) Multiply(t *Tile) {
	if f.kind == integers {
		multiplyBytes(t)
		return
	}
	start := nothing[:]
	if t.First {
		start = t.Bias
	}
	accumulate, floor := !t.First || t.Add, t.Floor && t.Last
	factors, per := f.kind, 1
	if f.kind == pairs && !HasPairs() {
		factors, per = halves, PairBlock/isa.BlockLanes
	}
	pixelKernel(factors, per*t.Blocks, t.A, t.JumpA/per, t.B, start, t.C, t.JumpC, t.Ahead, t.Rows, t.N, accumulate, floor)
}
