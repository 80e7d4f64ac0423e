package stream

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

const (
	// evenLoad is the load of the busiest CPE, relative to the mean, up to which a cut is even enough.
	evenLoad = 1.05
	// leastRun is the shortest run of values, 256 bytes, into which tiles are cut only to even out the load: shorter ones lose bandwidth.
	leastRun = 64
)

// evenTile returns the tile within a budget of LDM values that keeps all CPEs busy to the end. CPEs take tiles in turn, so that the busiest one
// has as many as there are rounds. Tiles are taken as large as possible: whole outers; else one outer and a part of mid; else a part of inner.
// Of each kind it tries the fewest tiles, and the fewest that make whole rounds. The first tile that is even enough is taken, or the most even
// one, where short runs count as the load that they take as long as. It returns the zero tile if nothing fits.
func (s *Pass) evenTile(spec *cpe.Spec, budget int) [3]int {
	var best [3]int
	least := 0.0
	for _, t := range s.cuts(spec.CPEs()*spec.CoreGroups, budget) {
		if load := s.load(spec, t) * s.shortness(spec, t[2]); best == [3]int{} || load < least && least > evenLoad {
			best, least = t, load
		}
	}
	return best
}

// shortness is how many times as long a value takes in runs of n values of inner as in runs of leastRun. It is 1 for longer runs, and where inner is not
// cut.
func (s *Pass) shortness(spec *cpe.Spec, n int) float64 {
	if n >= min(s.Dims[2], leastRun) {
		return 1
	}
	perValue := func(n int) float64 {
		stream, _ := spec.DMA.TransferNs(spec.CPEs(), spec.Bytes(n), float64(s.Dims[1]), false)
		return stream / float64(n)
	}
	return max(1, perValue(n)/perValue(leastRun))
}

// evenRun is evenTile for tiles that are a part of one inner, of at most most values.
func (s *Pass) evenRun(spec *cpe.Spec, most int) int {
	inner, best, least := s.Dims[2], 0, 0.0
	cpes := spec.CPEs() * spec.CoreGroups
	for _, n := range lengths(inner, min(inner, most), max(1, s.Dims[0]*s.Dims[1]), cpes, wholeVectors, leastTile) {
		if n > most || best > 0 && n < leastTile {
			continue
		}
		if load := s.load(spec, [3]int{1, 1, n}); best == 0 || load < least && least > evenLoad {
			best, least = n, load
		}
	}
	return best
}

// cuts lists the tiles to try, for a number of CPEs. All fit the budget.
func (s *Pass) cuts(cpes, budget int) (tiles [][3]int) {
	o, m, i := s.Dims[0], s.Dims[1], s.Dims[2]
	one, run := min(1, o), m
	add := func(extent, before, unit int, tile func(n int) [3]int) {
		most := tiling.Largest(extent, func(n int) bool { return s.need(tile(n)) <= budget })
		small := tile(1)
		for _, n := range lengths(extent, most, before, cpes, unit, tiling.Blocks(leastTile, tiling.Size(small[:]))) {
			t := tile(n)
			if s.need(t) <= budget && (len(tiles) == 0 || tiling.Size(t[:]) >= leastTile) {
				tiles = append(tiles, t)
			}
		}
	}
	add(o, 1, 1, func(n int) [3]int { return [3]int{n, m, i} })
	if !s.WholeMid && !slices.Contains(s.Outs, Plane) {
		add(m, max(1, o), 1, func(n int) [3]int { return [3]int{one, n, i} })
		run = min(1, m)
	}
	if len(tiles) > 0 && i < 2*leastRun {
		return tiles
	}
	add(i, max(1, o)*tiling.Blocks(m, max(1, run)), wholeVectors, func(n int) [3]int { return [3]int{one, run, n} })
	return tiles
}

// lengths lists the lengths of tiles along an extent: the longest possible one, and those that cut it, and the before tiles along other axes
// with it, into whole rounds of the CPEs; and the shortest that is worth a transfer. Long ones are multiples of unit.
func lengths(extent, most, before, cpes, unit, least int) (list []int) {
	if most == 0 {
		return nil
	}
	whole := func(n int) int {
		if n > unit {
			return min(extent, tiling.Blocks(n, unit)*unit)
		}
		return n
	}
	if most < extent && most > unit {
		most -= most % unit
	}
	a, b := before, cpes
	for b != 0 {
		a, b = b, a%b
	}
	list = []int{most}
	const rounds = 3
	step := cpes / a
	for k := range rounds {
		if count := (tiling.Blocks(tiling.Blocks(extent, most), step) + k) * step; count <= extent {
			list = append(list, whole(tiling.Blocks(extent, count)))
		}
	}
	return append(list, min(most, least))
}

// load is the number of values of the busiest CPE, relative to the mean.
func (s *Pass) load(spec *cpe.Spec, t [3]int) float64 {
	n := 1
	for axis, extent := range s.Dims {
		n *= tiling.Blocks(extent, max(1, t[axis]))
	}
	rounds := tiling.Blocks(tiling.Blocks(n, spec.CoreGroups), spec.CPEs())
	return float64(rounds*tiling.Size(t[:])*spec.CPEs()*spec.CoreGroups) / float64(max(1, s.values()))
}
