package explicit

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// columnWork and repackedWork are costs beyond the products, in operations of the micro-kernel: for a value of a column matrix, and for a
// weight each time that it is packed.
const (
	columnWork   = 90
	repackedWork = 80
)

// columnShares is the number of core groups assumed where core groups share images and there may be fewer images than groups. It is a
// constant because algorithms sum in different orders: the choice, and so the bits of the results, must not depend on the number of core
// groups.
const columnShares = 4

// cost is the cost of im2col and GEMM.
func cost(p *conv.Problem) float64 {
	s := &p.Shape
	if p.Direction == shape.InputGradient && conv.HasPhases(s) {
		return stridedGradientWork(s)
	}
	return conv.ProductWork(*s, p.Direction) + columnWork*float64(s.N*s.Group*s.Depth()*tiling.Size(s.OutSize()))
}

// stridedGradientWork is the work of kernel's input gradient, in which core groups share images.
func stridedGradientWork(s *shape.Conv) float64 {
	_, nr := vgemm.Tile()
	lanes := nr / 2
	positions, weights := tiling.Size(s.OutSize()), float64(s.Out*s.Depth())
	image := weights*float64(2*tiling.Blocks(positions, lanes)*lanes+repackedWork) + columnWork*float64(s.Group*s.Depth()*positions)
	return image * float64(tiling.Blocks(s.N, columnShares)*columnShares)
}
