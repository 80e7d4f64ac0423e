package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// What input gradients with strides cost the host besides multiplications, in operations of the micro-kernel: phase by phase, for a pixel that is
// put in its place, for a weight, and for the stage that packs these; with a column matrix, for a value of it, and for a weight each time that
// it is packed.
const (
	placeWork    = 60
	packedWork   = 120
	packingWork  = 1e6
	columnWork   = 90
	repackedWork = 80
)

// columnShares is the number of core groups that the choice has in mind where these share images and there are too few for all. It is not
// that of the machine: strategies add up in different orders, and bits must not depend on how many core groups there are.
const columnShares = 4

// phasedWork is the work of phasedConv: products, of which a panel of rows takes a twelfth longer, a part of one as long as one row more would,
// and what is around them.
func phasedWork(s *shape.Conv) float64 {
	rows, cols := tapAxes(s, shape.InputGradient)
	in, out := s.C/s.Group, s.Out/s.Group
	mr, _ := vgemm.Tile()
	places, third := float64(s.N*s.Group*rows.units*cols.pitch()), mr/3
	work := 0.0
	for _, r := range phaseRuns(&rows, &cols, s.Kernel) {
		n := r.n * in
		made := float64(tiling.Blocks(n, third)*third) + float64(n/mr*mr)/12
		if n%mr > 0 {
			made++
		}
		work += 2 * made * float64(out*len(r.taps)) * places
	}
	return work + packedWork*float64(s.Out*s.Depth()) + placeWork*float64(s.N*s.C*tiling.Size(s.In)) + packingWork
}

// explicitWork is the work of explicitConv for the input gradient, in which core groups share images.
func explicitWork(s *shape.Conv) float64 {
	_, nr := vgemm.Tile()
	lanes := nr / 2
	positions, weights := tiling.Size(s.OutSize()), float64(s.Out*s.Depth())
	image := weights*float64(2*tiling.Blocks(positions, lanes)*lanes+repackedWork) + columnWork*float64(s.Group*s.Depth()*positions)
	return image * float64(tiling.Blocks(s.N, columnShares)*columnShares)
}
