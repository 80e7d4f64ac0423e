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

// spreadWork is what it costs the host, in the same unit, to add a product to the place of the images' gradient that it belongs to.
const spreadWork = 50

// tileGain is how many fewer points a form with larger tiles must need to be chosen: its maps take more operations a point.
const tileGain = 0.9

// gain is how much less work than the implicit strategy's Winograd's must be to be chosen: its numbers are less exact.
const gain = 0.9

// hostStrategy chooses the host's way to convolve: the implicit one where every channel has a kernel of its own or
// kernels are as large as images, Winograd's where the multiplications that it saves outweigh its
// maps, else the implicit one. The explicit one, which makes a column matrix, is expected to win only for some input gradients with strides: where
// kernels are pointwise it computes the same products, cut by images, and -tune finds either a few per cent faster.
func hostStrategy(spec *cpe.Spec, s shape.Conv, d shape.Direction) shape.Strategy {
	if depthwise(&s) || covers(&s) {
		return shape.Implicit
	}
	if d == shape.InputGradient && phased(&s) && explicitWork(&s) < phasedWork(&s) {
		return shape.Explicit
	}
	if best, work := leastWinograd(s, spec, d); work < gain*directWork(s, d) {
		return best
	}
	return shape.Implicit
}

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

// eitherWinograd returns the strategy that Winograd stands for, Auto where there is none for the shape.
func eitherWinograd(s shape.Conv, spec *cpe.Spec, d shape.Direction) shape.Strategy {
	if !spec.Native() && winogradable(&s, shape.Winograd2) {
		return shape.Winograd2
	}
	best, _ := leastWinograd(s, spec, d)
	return best
}

// directWork is the work of the implicit strategy: products, whose rows come in panels, and pieces of lines that are gathered. Where images
// have few channels or pixels nothing is, and outputs come in blocks, or sums are spread over the images' gradient.
func directWork(s shape.Conv, d shape.Direction) float64 {
	switch lines, _ := tiling.Two(s.OutSize(), 1); {
	case d != shape.InputGradient && byOffsets(&s):
		return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Depth()*tiling.Blocks(s.Out, shape.BlockLanes)*shape.BlockLanes)
	case d == shape.InputGradient && spreads(&s):
		_, width := tiling.Two(s.In, 1)
		_, pad := tiling.Two(s.Pad, 0)
		return float64(s.N*lines*(width+2*pad)*s.Depth()) * (2*float64(s.Out) + spreadWork)
	case d == shape.InputGradient && phased(&s):
		return phasedWork(&s)
	}
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
