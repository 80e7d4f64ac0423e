package winograd

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// tilePointWork and kernelPointWork are costs of Winograd's convolution beyond its products, in operations of the micro-kernel. tilePointWork
// is the cost of transforming, storing and reloading one value of a tile in the transform domain. kernelPointWork is the same for one value
// of a kernel each time that it is transformed.
const (
	tilePointWork   = 50
	kernelPointWork = 40
)

// tileGain is the number of points, relative to smaller tiles, below which larger tiles are chosen. The transforms of larger tiles take more
// operations per point.
const tileGain = 0.9

// Gain is the work, relative to the implicit strategy, below which Winograd's convolution is chosen. Its results are less accurate.
const Gain = 0.9

// leastWork returns the Winograd strategy with the least work, and that work; the work is infinite if no strategy applies.
func leastWork(s shape.Conv, spec *cpe.Spec, d shape.Direction) (best shape.Strategy, least float64) {
	least = math.Inf(1)
	s, ok := byWinograd(s, spec, d)
	if !ok {
		return shape.Auto, least
	}
	fewest := math.Inf(1)
	for _, st := range Strategies {
		if !Has(&s, st) {
			continue
		}
		f := formOf(&s, st)
		points, work := pointCount(s, f, d), formWork(s, spec, f, d)
		if work < least && points < tileGain*fewest {
			best, least, fewest = st, work, points
		}
	}
	return best, least
}

// pointCount returns the number of points of all tiles of a form.
func pointCount(s shape.Conv, f vwinograd.Form, d shape.Direction) float64 {
	out := s.OutSize()
	if d == shape.InputGradient {
		out = s.In
	}
	down, across := tiling.Blocks(tiling.Blocks(out[0], s.Dilation[0]), f.Tile), tiling.Blocks(tiling.Blocks(out[1], s.Dilation[1]), f.Tile)
	return float64(s.N * tiling.Size(s.Dilation) * down * across * f.Points())
}

// formWork is the work of one form of Winograd's convolution: products and transforms. Both compute a group's channels in whole slices of 16.
func formWork(s shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction) float64 {
	columns, deep := s.Out/s.Group, s.C/s.Group
	if d != shape.Forward {
		columns, deep = deep, columns
	}
	lanes := func(channels int) int { return tiling.Blocks(channels, sliceLanes) * sliceLanes }
	products := 2 * float64(s.Group*deep*lanes(columns))
	maps := tilePointWork * float64(s.Group*(lanes(deep)+lanes(columns)))
	points := pointCount(s, f, d)
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
