package direct

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// flipped is the left operand of the input gradient's product: the weights of a convolution with kernels rotated by 180 degrees. Element (c,
// (o, k)) is the weight of output channel o, input channel c and the k-th kernel offset counted from the end.
type flipped struct {
	data            []float32
	channels, space int       // input channels of the group; kernel offsets
	transposed      []float32 // one output's weights for a panel, transposed but not yet rotated
}

// set selects the weights of a group.
func (f *flipped) set(data []float32, channels, space int) {
	f.data, f.channels, f.space = data, channels, space
}

// Run returns the length of contiguous runs of memory in a block.
func (f *flipped) Run(rows, cols int) int { return rows * min(cols, f.space) }

// Gather packs a block; the lanes of a panel are rows.
func (f *flipped) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	width := layout.Panel
	if len(f.transposed) < width*f.space {
		f.transposed = pages.Make[float32](width * f.space)
	}
	for at := 0; at < rows; at += width {
		panel, n := dst[at*cols:(at+width)*cols], min(width, rows-at)
		o, k := col/f.space, col%f.space
		for c := 0; c < cols; {
			vgemm.PackA(f.transposed[:width*f.space], f.data[(o*f.channels+row+at)*f.space:], f.space, n, f.space, width)
			for ; k < f.space && c < cols; k, c = k+1, c+1 {
				copy(panel[c*width:(c+1)*width], f.transposed[(f.space-1-k)*width:])
			}
			o, k = o+1, 0
		}
	}
}
