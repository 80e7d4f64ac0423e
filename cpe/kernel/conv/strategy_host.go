package conv

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// What Winograd's convolution costs the host besides multiplications, in operations of the micro-kernel: for a value at a point
// of a tile that is mapped, stored and read again, and for one of a kernel each time that it is mapped.
const (
	tilePointWork   = 50
	kernelPointWork = 40
)

// pieceWork is what a row of a panel costs the host that is gathered from a line, in the same unit.
const pieceWork = 300

// weightWork is what a weight costs the implicit strategy's gradients besides, in the same unit: it is turned and packed, or its
// sum is brought to its place.
const weightWork = 250

// spreadValue is what it costs the host, in the same unit, to add a product to the place of the images' gradient that it belongs to.
const spreadValue = 50

// tileGain is how many fewer points a form with larger tiles must need to be chosen: its maps take more operations a point.
const tileGain = 0.9

// gain is how much less work than the implicit strategy's Winograd's must be to be chosen: its numbers are less exact.
const gain = 0.9

// leastWinograd returns the form of Winograd's convolution that has least work, and that; infinite if there is none.
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

// winogradPoints is the number of points of all tiles of a form.
func winogradPoints(s shape.Conv, f vwinograd.Form, d shape.Direction) float64 {
	out := s.OutSize()
	if d == shape.InputGradient {
		out = s.In
	}
	down, across := tiling.Blocks(tiling.Blocks(out[0], s.Dilation[0]), f.Tile), tiling.Blocks(tiling.Blocks(out[1], s.Dilation[1]), f.Tile)
	return float64(s.N * tiling.Size(s.Dilation) * down * across * f.Points())
}

// productCost is the work of a product with gathered rows of panels.
func productCost(p *Problem) float64 { return productWork(p.Shape, p.Direction) }

// offsetCost is the work of vectors of output channels.
func offsetCost(p *Problem) float64 {
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Depth()*tiling.Blocks(s.Out, shape.BlockLanes)*shape.BlockLanes)
}

// vectorCost is the work where all lanes have a product to compute.
func vectorCost(p *Problem) float64 {
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Out*s.Depth())
}

// explicitCost is the work of a product with a column matrix that is written first.
func explicitCost(p *Problem) float64 {
	s := &p.Shape
	if p.Direction == shape.InputGradient && phased(s) {
		return explicitWork(s)
	}
	return productWork(*s, p.Direction) + columnWork*float64(s.N*s.Group*s.Depth()*tiling.Size(s.OutSize()))
}

// spreadWork is the work of products that are added to the images' gradient.
func spreadWork(s *shape.Conv) float64 {
	lines, _ := tiling.Two(s.OutSize(), 1)
	_, width := tiling.Two(s.In, 1)
	_, pad := tiling.Two(s.Pad, 0)
	return float64(s.N*lines*(width+2*pad)*s.Depth()) * (2*float64(s.Out) + spreadValue)
}

// productWork is the work of products whose rows come in panels, and of the pieces of lines that are gathered.
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

// formWork is the work of a form of Winograd's convolution: products, and maps, in both of which a group's channels come in slices.
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

// weightMaps is how often each weight is mapped to points or back for some tiles.
func weightMaps(s shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction, tiles int) int {
	switch {
	case !manyWeights(&s, spec, f, d):
		return 1
	case d == shape.WeightGradient:
		return tiling.Blocks(tiles, gradTiles)
	}
	return tiling.Blocks(tiles, panelTiles(spec, f))
}
