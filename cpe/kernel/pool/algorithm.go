package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The names of the algorithms.
const (
	// ByBlocks makes vectors of channels: inputs, outputs or both lie in blocks of channels.
	ByBlocks shape.Algorithm = "pool-blocks"
	// Global makes the mean of each whole plane.
	Global shape.Algorithm = "pool-global"
	// ByPlanes has vector kernels for the window's extent and stride.
	ByPlanes shape.Algorithm = "pool-planes"
	// ByColumns pools down the columns first, then along the rows.
	ByColumns shape.Algorithm = "pool-columns"
	// ByPieces is ByTiles for windows that do not fit LDM, which pass through it in pieces.
	ByPieces shape.Algorithm = "pool-pieces"
	// ByTiles goes through the windows of tiles one by one. It is the only one for planes that pass through LDM.
	ByTiles shape.Algorithm = "pool-tiles"
)

// algorithm is one way to pool. A Kernel is prepared for the ones that compute its directions.
type algorithm struct {
	name     shape.Algorithm
	supports func(s *Shape, spec *cpe.Spec, d shape.Direction) bool
	prepare  func(p *Kernel) error
	run      func(p *Kernel, g *cpe.CoreGroup) error // a core group's share
}

// algorithms in the order in which they are asked. ByTiles supports every pooling. It comes early for planes that pass through LDM by DMA, so
// that the algorithms after it are asked only where planes are read in place.
var algorithms = []algorithm{
	{ByBlocks, (*Shape).inBlocks, (*Kernel).prepareBlocks, (*Kernel).runBlocks},
	{ByPieces, (*Shape).exceedsLDM, (*Kernel).preparePieces, (*Kernel).runPieces},
	{ByTiles, (*Shape).byDMA, nothing, (*Kernel).runTiles},
	{Global, (*Shape).global, nothing, (*Kernel).runGlobal},
	{ByPlanes, (*Shape).byPlanes, (*Kernel).preparePlanes, (*Kernel).runPlanes},
	{ByColumns, (*Shape).byColumns, (*Kernel).prepareColumns, (*Kernel).runColumns},
	{ByTiles, (*Shape).any, nothing, (*Kernel).runTiles},
}

// choose returns the first algorithm that supports a direction.
func choose(s *Shape, spec *cpe.Spec, d shape.Direction) *algorithm {
	for i := range algorithms {
		if !spec.LeavesOut(string(algorithms[i].name)) && algorithms[i].supports(s, spec, d) {
			return &algorithms[i]
		}
	}
	panic("pool: no algorithm for " + pooled(*s).String())
}

// Optional lists the algorithms that cpe.Spec.WithoutAlgorithms may leave out: all but those for tiles, for their pieces and for blocks of
// channels, which compute what no other does.
func Optional() (names []string) {
	for _, a := range algorithms {
		if a.name != ByTiles && a.name != ByPieces && a.name != ByBlocks {
			names = append(names, string(a.name))
		}
	}
	return names
}

// Algorithm returns how a direction is computed: shape.Forward or shape.InputGradient.
func (p *Kernel) Algorithm(d shape.Direction) shape.Algorithm {
	if d == shape.Forward {
		return p.forward.name
	}
	return p.grad.name
}

// byDMA reports whether planes pass through LDM.
func (s *Shape) byDMA(spec *cpe.Spec, _ shape.Direction) bool { return spec.HasDMA() }

// any supports every pooling.
func (s *Shape) any(*cpe.Spec, shape.Direction) bool { return true }

// nothing prepares an algorithm that needs only the Kernel's plan.
func nothing(*Kernel) error { return nil }
