package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// placeWork, packedWork, packingWork, columnWork and repackedWork are costs of strided input gradients beyond their products, in operations
// of the micro-kernel. By phases: for storing a pixel (placeWork), for packing a weight (packedWork), and for the packing stage as a whole
// (packingWork). With a column matrix: for a value of it (columnWork), and for a weight each time that it is packed (repackedWork).
const (
	placeWork    = 60
	packedWork   = 120
	packingWork  = 1e6
	columnWork   = 90
	repackedWork = 80
)

// columnShares is the number of core groups assumed where core groups share images and there may be fewer images than groups. It is a
// constant because algorithms sum in different orders: the choice, and so the bits of the results, must not depend on the number of core
// groups.
const columnShares = 4

// phasedWork is the work of phasedConv: products, packing and interleaving. A full panel of rows costs a twelfth more than its operations; a
// partial panel costs as much as one more row.
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

// explicitWork is the work of explicitConv's input gradient, in which core groups share images.
func explicitWork(s *shape.Conv) float64 {
	_, nr := vgemm.Tile()
	lanes := nr / 2
	positions, weights := tiling.Size(s.OutSize()), float64(s.Out*s.Depth())
	image := weights*float64(2*tiling.Blocks(positions, lanes)*lanes+repackedWork) + columnWork*float64(s.Group*s.Depth()*positions)
	return image * float64(tiling.Blocks(s.N, columnShares)*columnShares)
}
