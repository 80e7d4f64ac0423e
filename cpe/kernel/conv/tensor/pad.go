package tensor

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Plane is one channel of an image: H lines of W values.
type Plane struct {
	Data []float32
	H, W int
}

// Pad copies n lines of the plane, from line first on, to dst, whose lines have width values. Column x of dst is column x-left of the plane;
// left may be negative. Lines outside the plane become zeros. Columns outside are not written: the caller has cleared dst once.
func (p Plane) Pad(dst []float32, width, left, first, n int) {
	top, bottom := tiling.Inside(first, n, p.H)
	clear(dst[:top*width])
	if from, to := tiling.Inside(-left, width, p.W); top < bottom && from < to {
		vec.CopyRows(dst[top*width+from:], width, p.Data[(first+top)*p.W+from-left:], p.W, bottom-top, to-from)
	}
	clear(dst[bottom*width : n*width])
}
