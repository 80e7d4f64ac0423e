package convtest

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// PooledConvs lists convolutions of few channels for fusion with pooling: in blocks of channels and by planes, with padding and strides, with
// more kernel offsets than fit one pass, and with images of several bands in both directions.
var PooledConvs = []shape.Conv{
	Shape2D(5, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1),
	Shape2D(3, 3, 32, 1, 29, 18, 5, 5, 1, 2, 1),
	Shape2D(2, 3, 64, 1, 53, 31, 7, 7, 2, 3, 1),
	Shape2D(1, 3, 96, 1, 47, 51, 11, 11, 4, 0, 1),
	Shape2D(9, 2, 16, 1, 9, 8, 3, 3, 1, 1, 1),
	Shape2D(2, 2, 37, 1, 22, 17, 5, 4, 1, 2, 1),
	Shape2D(7, 3, 24, 1, 13, 11, 3, 3, 1, 0, 1),
	Shape2D(3, 15, 48, 1, 12, 11, 5, 4, 2, 1, 1),
	Shape2D(1, 1, 16, 1, 5, 5, 4, 4, 1, 0, 1),
}

// PooledShape returns a pooling of a convolution's results. Extents are rounded up, as in Caffe, unless floor is set.
func PooledShape(s shape.Conv, window [3]int, floor bool) (p pool.Shape, ok bool) {
	k, step, pad := window[0], window[1], window[2]
	p = pool.Shape{N: s.N, C: s.Out, KH: k, KW: k, SH: step, SW: step, PH: pad, PW: pad}
	p.H, p.W = tiling.Two(s.OutSize(), 1)
	p.OH, p.OW = kerneltest.PooledSize(p.H, window, floor), kerneltest.PooledSize(p.W, window, floor)
	return p, p.OH > 0 && p.OW > 0
}
