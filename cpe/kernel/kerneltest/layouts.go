package kerneltest

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Lie returns a copy of images in planes, converted to blocks of channels if blocked is set. With back it converts in the other direction.
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

// PoolWindows lists kernel, stride and pad of windows that overlap, that touch, and that skip rows.
var PoolWindows = [][3]int{{2, 2, 0}, {3, 2, 0}, {3, 2, 1}, {3, 1, 1}, {2, 2, 1}, {2, 1, 0}, {5, 3, 2}, {2, 3, 0}, {4, 4, 0}, {1, 2, 0}}

// PooledSize returns the number of outputs of n values along an axis. It is rounded up, as in Caffe, unless floor is set.
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

// LeftBy lists the places in a plane of the pixels at multiples of the strides.
func LeftBy(h, w, strideH, strideW int) (at []int) {
	for y := 0; y < h; y += strideH {
		for x := 0; x < w; x += strideW {
			at = append(at, y*w+x)
		}
	}
	return at
}
