package stream

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Array is the shape of a streamed array relative to the stream's Dims.
type Array int

const (
	// Full arrays are outer x mid x inner.
	Full Array = iota
	// Plane arrays are outer x inner, such as labels and maxima over channels.
	Plane
	// Row arrays are mid, or mid x Lanes if the pass has lanes: parameters of channels. They are only read.
	Row
)

// Work is the cost of an element: additions and multiplications, and special functions such as exponentials.
type Work struct{ Flops, Specials float64 }

// Pass describes one pass over arrays, tile by tile. It is the declaration of a kernel: most of its fields are zero in most passes, so that
// they stand side by side.
type Pass struct {
	Name string
	// Dims are the extents outer, mid and inner of the Full arrays.
	Dims [3]int
	// WholeMid: a tile has all of mid, as softmax over channels needs. A Plane among Outs implies it.
	WholeMid bool
	// ByMid: tiles in main memory are cut along mid alone. Op can then pass several times over all values of a mid while they are in a core's
	// L2; see StaysByMid.
	ByMid bool
	// Back: in main memory a core group goes from its last tile to its first. The arrays that the previous pass read last may still be in a
	// cache.
	Back bool
	// Near, with WholeMid: Op goes along mid and uses at most so many mids at a time. In main memory a tile then has all of mid of one outer,
	// and is cut only along a long inner. Scratch arrays have so many mids.
	Near int
	// Ins and Outs are the shapes of the arrays given to Run. Op reads In and writes Out. These are two tiles in LDM even if Run is given one
	// array for both, except for the InPlace ones.
	Ins, Outs []Array
	// InPlace is the number of arrays that are updated: the first of Ins are then the first of Outs. Each has one tile, which Op reads and
	// writes.
	InPlace int
	// Sweeps is how often Op goes along mid, if more than once. Where LDM does not hold all of mid, it loads the arrays for each.
	Sweeps int
	// Scratch is the number of Full arrays of a tile's extents that Op uses for intermediate values.
	Scratch int
	// Sums is the number of sums over outer and inner that Op computes for every index of mid.
	Sums int
	// Lanes, if not 0, says that the arrays are in blocks of channels: mid counts blocks, inner goes through their values, and Row arrays and
	// sums have Lanes values for every index of mid.
	Lanes int
	// Cost is charged for every element of a Full array.
	Cost Work
	// Op computes one tile.
	Op func(t *Tile)
}

// Plan cuts a pass into tiles of outer x mid x inner values. The last tile along each extent may be smaller.
type Plan struct {
	Dims    [3]int
	Tile    [3]int
	Counts  [3]int // tiles along each extent
	Double  bool   // tiles are double-buffered in LDM
	LDM     int    // bytes a CPE needs
	Piece   int    // mids that pass through LDM at a time, if it does not hold all of a tile's; then Op works in memory
	Scratch int    // values of a core group's memory for each scratch array; 0 if these are in LDM
	Back    bool   // a core group goes from its last tile to its first
}

const (
	// leastHostTile is the smallest number of values of a tile in main memory, leastTile that of a transfer to LDM: 512 bytes.
	leastHostTile = 4 << 10
	leastTile     = 128
	// rowWork is the number of values whose pass takes as long as one row of few values, with inner 1: softmax takes 200 ns for each.
	rowWork = 200
	// nearRun is the largest number of values of a mid in a tile of a pass with Near, leastNearRun the least if there are more. A few runs of nearRun
	// fit L2, and memory is fast for long runs.
	nearRun, leastNearRun = 4096, 256
)

// whole returns the number of tiles, from the first on, that have the full extents.
func (p *Plan) whole() int {
	n := p.Tiles()
	inner := n
	for axis, count := range p.Counts {
		inner /= max(1, count)
		if p.Dims[axis]%p.Tile[axis] != 0 {
			n = min(n, (count-1)*inner)
		}
	}
	return n
}

// NewPlan cuts a pass for a machine.
func NewPlan(spec *cpe.Spec, s *Pass) (p Plan, err error) {
	if spec.HasDMA() {
		p, err = s.planLDM(spec)
	} else {
		p = s.planInPlace(spec)
	}
	p.Dims = s.Dims
	for k, t := range p.Tile {
		if t > 0 {
			p.Counts[k] = tiling.Blocks(s.Dims[k], t)
		}
	}
	return p, err
}

// planInPlace cuts a pass into tiles that alias the arrays and stay in L2: at least 16, or four for each core group, if they are not too small for that. The
// number of core groups has no influence on sums, which are added tile by tile.
func (s *Pass) planInPlace(spec *cpe.Spec) Plan {
	full, _, _ := s.arrays()
	tiles := 16
	if s.Sums == 0 {
		tiles = max(tiles, 4*spec.CoreGroups)
	}
	budget := full * max(leastHostTile, min(tiling.HostTile, s.work()/tiles))
	if s.shortRows() {
		budget = budget * s.Dims[1] / rowWork
	}
	p := Plan{Back: s.Back, Tile: s.fit(budget)}
	switch {
	case s.ByMid:
		p.Tile[0], p.Tile[2] = s.Dims[0], s.Dims[2]
		p.Tile[1] = min(s.Dims[1], tiling.Even(s.Dims[1], max(1, tiling.HostTile/max(1, s.Dims[0]*s.Dims[2])), 1))
	case s.Near > 0:
		run := nearRun
		if s.Sums == 0 {
			run = max(leastNearRun, min(nearRun, s.Dims[0]*s.Dims[2]/(4*spec.CoreGroups)))
		}
		p.Tile = [3]int{min(1, s.Dims[0]), s.Dims[1], min(s.Dims[2], tiling.Even(s.Dims[2], run, wholeVectors))}
	}
	near := [3]int{p.Tile[0], s.near(p.Tile[1]), p.Tile[2]}
	p.LDM, p.Scratch = 4*s.need(near), tiling.Size(near[:])
	return p
}

// planLDM cuts a pass into tiles that are copied to LDM: twice half of LDM for double buffering, or all of it if half cannot hold a tile.
func (s *Pass) planLDM(spec *cpe.Spec) (Plan, error) {
	if s.values() == 0 {
		return Plan{Double: true, Tile: s.fit(spec.LDMFloats())}, nil
	}
	p := Plan{Double: true, Tile: s.evenTile(spec, spec.LDMFloats()/2)}
	if p.LDM = spec.Bytes(2 * s.need(p.Tile)); p.Tile == [3]int{} {
		p.Double = false
		if p.Tile = s.evenTile(spec, spec.LDMFloats()); p.Tile == [3]int{} {
			p.Tile = s.fit(spec.LDMFloats())
		}
		p.LDM = spec.Bytes(s.need(p.Tile))
	}
	if p.LDM > spec.LDMBytes {
		return s.planPieces(spec, p.LDM)
	}
	return p, nil
}

// planPieces cuts a pass whose mids LDM does not hold. A tile is all of mid of a run of inner. It passes through LDM in pieces of some mids.
func (s *Pass) planPieces(spec *cpe.Spec, asked int) (Plan, error) {
	p := Plan{Double: true, Tile: [3]int{1, s.Dims[1], min(s.Dims[2], leastTile)}}
	piece := func(mids int) [3]int { return [3]int{1, mids, p.Tile[2]} }
	p.Piece = tiling.Largest(s.Dims[1], func(n int) bool { return s.need(piece(n)) <= spec.LDMFloats()/2 })
	if p.Piece == 0 {
		return p, &cpe.LDMError{Kernel: s.Name, Asked: asked, Have: spec.LDMBytes}
	}
	p.LDM, p.Scratch = spec.Bytes(2*s.need(piece(p.Piece))), s.near(s.Dims[1])*p.Tile[2]
	return p, nil
}

// values is the number of values of a Full array.
func (s *Pass) values() int { return tiling.Size(s.Dims[:]) }

// shortRows reports whether Op works on rows of few values along mid, which takes longer than their values do.
func (s *Pass) shortRows() bool { return s.WholeMid && s.Dims[2] == 1 && s.Dims[1] < rowWork }

// work is the number of values of a Full array whose pass takes as long.
func (s *Pass) work() int {
	if s.shortRows() {
		return s.Dims[0] * rowWork
	}
	return s.values()
}

// StaysByMid reports whether Pass.ByMid saves reads from memory: tiles alias the arrays, a mid has more than one value for each outer, and
// all its values in so many arrays fit L2.
func StaysByMid(m *cpe.Machine, dims [3]int, arrays int) bool {
	spec := m.Spec()
	return !spec.HasDMA() && dims[2] > 1 && 4*arrays*dims[0]*dims[2] <= spec.LDMBytes && dims[1] >= 4
}

// need returns the number of values of all arrays in a tile.
func (s *Pass) need(t [3]int) int {
	full, plane, row := s.arrays()
	return full*t[0]*t[1]*t[2] + plane*t[0]*t[2] + row*t[1]*s.lanes()
}

// lanes returns the number of values of a Row array, and of a sum, for an index of mid.
func (s *Pass) lanes() int { return max(1, s.Lanes) }

// fit returns the largest tile within a budget of values: whole outers, if one fits; else one outer and as much of mid as fits, unless all of
// mid is needed; else as much of inner as fits. The tile has at least one value along each extent.
func (s *Pass) fit(budget int) [3]int {
	o, m, i := s.Dims[0], s.Dims[1], s.Dims[2]
	if n := tiling.Largest(o, func(n int) bool { return s.need([3]int{n, m, i}) <= budget }); n > 0 {
		return [3]int{n, m, i}
	}
	one := min(1, o)
	if !s.WholeMid && !slices.Contains(s.Outs, Plane) {
		if n := tiling.Largest(m, func(n int) bool { return s.need([3]int{one, n, i}) <= budget }); n > 0 {
			return [3]int{one, n, i}
		}
		m = min(1, m)
	}
	n := tiling.Largest(i, func(n int) bool { return s.need([3]int{one, m, n}) <= budget })
	if n < i && n > wholeVectors {
		n -= n % wholeVectors
	}
	return [3]int{one, m, max(n, min(1, i))}
}

// near returns the number of a tile's mids that Op uses at a time.
func (s *Pass) near(mid int) int {
	if s.Near > 0 {
		return min(mid, s.Near)
	}
	return mid
}

// wholeVectors divides the lengths of cuts along inner, if these are long enough: vectors then have no tails.
const wholeVectors = 32

func (s *Pass) arrays() (full, plane, row int) {
	full = s.Scratch
	for _, list := range [][]Array{s.Ins, s.Outs[s.InPlace:]} {
		for _, a := range list {
			switch a {
			case Full:
				full++
			case Plane:
				plane++
			case Row:
				row++
			}
		}
	}
	return max(full, 1), plane, row
}

// Tiles returns the number of tiles.
func (p Plan) Tiles() int { return p.Counts[0] * p.Counts[1] * p.Counts[2] }

// String prints the plan on a line.
func (p Plan) String() string {
	text := fmt.Sprintf("%dx%dx%d in %d tiles of %dx%dx%d, LDM %d bytes",
		p.Dims[0], p.Dims[1], p.Dims[2], p.Tiles(), p.Tile[0], p.Tile[1], p.Tile[2], p.LDM)
	if p.Piece > 0 {
		text += fmt.Sprintf(", pieces of %d mids", p.Piece)
	}
	return text
}
