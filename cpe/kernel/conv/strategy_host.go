package conv

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// tilePointWork and kernelPointWork are costs of Winograd's convolution beyond its products, in operations of the micro-kernel. tilePointWork
// is the cost of transforming, storing and reloading one value of a tile in the transform domain. kernelPointWork is the same for one value
// of a kernel each time that it is transformed.
const (
	tilePointWork   = 50
	kernelPointWork = 40
)

// pieceWork is the cost of gathering one row of a panel from an image line, in the same unit.
const pieceWork = 300

// weightWork is the extra cost of a weight in the gradients of the implicit strategy, in the same unit: transposing and packing it, or
// storing its sum.
const weightWork = 250

// spreadValue is the cost of adding one product to the input gradient (col2im), in the same unit.
const spreadValue = 50

// tileGain is the number of points, relative to smaller tiles, below which larger tiles are chosen. The transforms of larger tiles take more
// operations per point.
const tileGain = 0.9

// gain is the work, relative to the implicit strategy, below which Winograd's convolution is chosen. Its results are less accurate.
const gain = 0.9

// leastWinograd returns the Winograd strategy with the least work, and that work; the work is infinite if no strategy applies.
func leastWinograd(s shape.Conv, spec *cpe.Spec, d shape.Direction) (best shape.Strategy, least float64) {
	least = math.Inf(1)
	s, ok := byWinograd(s, spec, d)
	if !ok {
		return shape.Auto, least
	}
	fewest := math.Inf(1)
	for _, st := range winogradStrategies {
		if !winogradable(&s, st) {
			continue
		}
		f := winogradForm(&s, st)
		points, work := winogradPoints(s, f, d), formWork(s, spec, f, d)
		if work < least && points < tileGain*fewest {
			best, least, fewest = st, work, points
		}
	}
	return best, least
}

// winogradPoints returns the number of points of all tiles of a form.
func winogradPoints(s shape.Conv, f vwinograd.Form, d shape.Direction) float64 {
	out := s.OutSize()
	if d == shape.InputGradient {
		out = s.In
	}
	down, across := tiling.Blocks(tiling.Blocks(out[0], s.Dilation[0]), f.Tile), tiling.Blocks(tiling.Blocks(out[1], s.Dilation[1]), f.Tile)
	return float64(s.N * tiling.Size(s.Dilation) * down * across * f.Points())
}

// productCost is the cost of an implicit GEMM whose panels are gathered.
func productCost(p *Problem) float64 { return productWork(p.Shape, p.Direction) }

// offsetCost is the cost of vectors of output channels, with empty lanes in the last one.
func offsetCost(p *Problem) float64 {
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Depth()*tiling.Blocks(s.Out, shape.BlockLanes)*shape.BlockLanes)
}

// vectorCost is the cost if all vector lanes are used.
func vectorCost(p *Problem) float64 {
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Out*s.Depth())
}

// explicitCost is the cost of im2col and GEMM.
func explicitCost(p *Problem) float64 {
	s := &p.Shape
	if p.Direction == shape.InputGradient && phased(s) {
		return explicitWork(s)
	}
	return productWork(*s, p.Direction) + columnWork*float64(s.N*s.Group*s.Depth()*tiling.Size(s.OutSize()))
}

// spreadWork is the work of spreadConv.
func spreadWork(s *shape.Conv) float64 {
	lines, _ := tiling.Two(s.OutSize(), 1)
	_, width := tiling.Two(s.In, 1)
	_, pad := tiling.Two(s.Pad, 0)
	return float64(s.N*lines*(width+2*pad)*s.Depth()) * (2*float64(s.Out) + spreadValue)
}

// productWork is the work of a GEMM in whole panels, and of gathering the panels.
func productWork(s shape.Conv, d shape.Direction) float64 {
	if d == shape.WeightGradient {
		return float64(s.Out*s.Depth()) * (2*float64(s.N*tiling.Size(s.OutSize())) + weightWork)
	}
	weights := 0.0
	if d == shape.InputGradient {
		weights = weightWork * float64(s.Out*s.Depth())
		s = s.Mirrored()
	}
	lines, width := tiling.Two(s.OutSize(), 1)
	rows, lanes := vgemm.Tile()
	positions, out := float64(s.N*lines*width), tiling.Blocks(s.Out/s.Group, rows)*rows
	pieces := positions/float64(lanes) + float64(s.N*lines)
	return weights + float64(s.Group*s.Depth())*(2*float64(out)*positions+pieceWork*pieces)
}

// formWork is the work of one form of Winograd's convolution: products and transforms. Both compute a group's channels in whole slices of 16.
func formWork(s shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction) float64 {
	columns, deep := s.Out/s.Group, s.C/s.Group
	if d != shape.Forward {
		columns, deep = deep, columns
	}
	lanes := func(channels int) int { return tiling.Blocks(channels, winogradLanes) * winogradLanes }
	products := 2 * float64(s.Group*deep*lanes(columns))
	maps := tilePointWork * float64(s.Group*(lanes(deep)+lanes(columns)))
	points := winogradPoints(s, f, d)
	times := weightMaps(s, spec, f, d, int(points)/f.Points())
	return points*(products+maps) + kernelPointWork*float64(times*f.Points()*s.Out*s.C/s.Group)
}

// weightMaps returns how often each weight is transformed, or its gradient transformed back, for the given number of tiles.
func weightMaps(s shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction, tiles int) int {
	switch {
	case !manyWeights(&s, spec, f, d):
		return 1
	case d == shape.WeightGradient:
		return tiling.Blocks(tiles, gradTiles)
	}
	return tiling.Blocks(tiles, panelTiles(spec, f))
}
