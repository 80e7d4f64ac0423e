package kerneltest

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Lie returns images as they lie in blocks, if they do, and back.
func Lie(x []float32, planes int, blocked, back bool) []float32 {
	y := slices.Clone(x)
	switch {
	case blocked && back:
		shape.FromBlocks(y, x, planes, len(x)/planes)
	case blocked:
		shape.ToBlocks(y, x, planes, len(x)/planes)
	}
	return y
}

// PoolWindows are kernel, stride and pad: windows that share rows, that do not, and between which rows are left out.
var PoolWindows = [][3]int{{2, 2, 0}, {3, 2, 0}, {3, 2, 1}, {3, 1, 1}, {2, 2, 1}, {2, 1, 0}, {5, 3, 2}, {2, 3, 0}, {4, 4, 0}, {1, 2, 0}}

// PooledSize is the number of outputs of n values along an axis; it is rounded up, as Caffe's, unless floor says otherwise.
func PooledSize(n int, window [3]int, floor bool) int {
	k, step, pad := window[0], window[1], window[2]
	if n+2*pad < k {
		return 0
	}
	if floor {
		return (n+2*pad-k)/step + 1
	}
	o := (n+2*pad-k+step-1)/step + 1
	if (o-1)*step >= n+pad {
		o--
	}
	return o
}

// LeftBy lists where in a plane the pixels stand that strides meet.
func LeftBy(h, w, strideH, strideW int) (at []int) {
	for y := 0; y < h; y += strideH {
		for x := 0; x < w; x += strideW {
			at = append(at, y*w+x)
		}
	}
	return at
}
