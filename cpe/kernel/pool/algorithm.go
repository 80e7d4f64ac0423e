package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The names of the algorithms.
const (
	ByBlocks  = "pool-blocks"
	Global    = "pool-global"
	ByPlanes  = "pool-planes"
	ByColumns = "pool-columns"
	ByPieces  = "pool-pieces"
	ByTiles   = "pool-tiles"
)

// Problem is a direction of a pooling: Forward or InputGradient. The shape has the layouts.
type Problem = op.Problem[Shape]

// algorithm is one way to pool. A Kernel is prepared for the ones that compute its directions.
type algorithm = op.Algorithm[Shape, *way]

// way is what an algorithm makes: what prepares a Kernel, and what computes a core group's share.
type way struct {
	prepare func(p *Kernel) error
	run     func(p *Kernel, g *cpe.CoreGroup) error
}

// algorithms lists them. On the host, the one of least cost computes a pooling (cost.go), but for means: their sums are in one order, which decides
// training's bits, so that algorithms of another order decline. On a modelled machine the first that supports a pooling computes it.
var algorithms = op.List[Shape, *way]{Algorithms: []*algorithm{
	{
		Name: ByBlocks, Doc: "makes vectors of channels; inputs, outputs or both are in blocks of channels",
		Supports: when((*Shape).inBlocks, "inputs and outputs are in planes"), Cost: planesCost, Kernel: by((*Kernel).prepareBlocks, (*Kernel).runBlocks),
	},
	{
		Name: ByPieces, Doc: "goes through tiles in LDM whose windows pass through it in pieces",
		Supports: when((*Shape).exceedsLDM, "LDM holds whole windows, or tiles do not pass through it"), Kernel: by((*Kernel).preparePieces, (*Kernel).runPieces),
	},
	{
		Name: Global, Doc: "makes the mean of each whole plane",
		Supports: inMemory((*Shape).global, "it is for means of whole planes without padding"), Cost: globalCost, Kernel: by(nothing, (*Kernel).runGlobal),
	},
	{
		Name: ByPlanes, Doc: "has vector kernels for the window's extent and stride",
		Supports: inMemory((*Shape).byPlanes, "there is no vector kernel for the window's extent, stride and method"), Declines: summedBy(ByPlanes), Cost: planesCost,
		Kernel: by((*Kernel).preparePlanes, (*Kernel).runPlanes),
	},
	{
		Name: ByColumns, Doc: "adds up the columns of windows first, then along the rows",
		Supports: inMemory((*Shape).byColumns, "it is for means of windows that meet the image"), Declines: summedBy(ByColumns), Cost: columnsCost,
		Kernel: by((*Kernel).prepareColumns, (*Kernel).runColumns),
	},
	{
		Name: ByTiles, Doc: "goes through the windows of tiles one by one",
		Supports: when((*Shape).inPlanes, "it is for planes"), Declines: summedBy(ByTiles), Cost: tilesCost, Kernel: by(nothing, (*Kernel).runTiles),
	},
}}

// by returns an algorithm's Kernel function.
func by(prepare func(*Kernel) error, run func(*Kernel, *cpe.CoreGroup) error) func(*cpe.Machine, *Problem) (*way, error) {
	return func(*cpe.Machine, *Problem) (*way, error) { return &way{prepare, run}, nil }
}

// when returns a Supports function: holds, or the reason.
func when(holds func(s *Shape, spec *cpe.Spec, d shape.Direction) bool, reason string) func(*Problem) error {
	return func(p *Problem) error { return op.Unless(holds(&p.Shape, p.Spec, p.Direction), reason) }
}

// inMemory is when, for algorithms that read planes in place.
func inMemory(holds func(s *Shape, spec *cpe.Spec, d shape.Direction) bool, reason string) func(*Problem) error {
	return func(p *Problem) error {
		return op.FirstReason(op.Unless(!p.Spec.HasDMA() && p.Shape.inPlanes(p.Spec, p.Direction), "planes must be in main memory"), when(holds, reason)(p))
	}
}

// summedBy declines means whose sums are those of another algorithm: pool-global's, then those of a kernel for the window, then of columns, unless lines of
// them would be mostly padding.
func summedBy(name string) func(*Problem) error {
	return func(p *Problem) error {
		s, first := &p.Shape, ByTiles
		switch {
		case s.Method != Ave || p.Spec.HasDMA():
			return nil
		case s.global(p.Spec, p.Direction) && !p.Spec.LeavesOut(Global):
			first = Global
		case s.byPlanes(p.Spec, p.Direction) && !p.Spec.LeavesOut(ByPlanes):
			first = ByPlanes
		case s.byColumns(p.Spec, p.Direction) && max(s.KW, s.SW) <= 2*s.W && !p.Spec.LeavesOut(ByColumns):
			first = ByColumns
		}
		return op.Unless(name == first, "these means have the sums of %s", first)
	}
}

// Optional lists the algorithms that cpe.Spec.WithoutAlgorithms may leave out: all but those for tiles, for their pieces and for blocks of
// channels, which compute what no other does.
func Optional() (names []string) {
	for _, a := range algorithms.Algorithms {
		if a.Name != ByTiles && a.Name != ByPieces && a.Name != ByBlocks {
			names = append(names, a.Name)
		}
	}
	return names
}

// problem returns a direction's problem.
func (p *Kernel) problem(d shape.Direction) *Problem {
	spec := p.machine.Spec()
	return &Problem{Shape: p.shape, Direction: d, Images: shape.InBlocks(p.shape.InBlocks), Results: shape.InBlocks(p.shape.OutBlocks), Spec: &spec}
}

// choose chooses the algorithm of a direction.
func (p *Kernel) choose(d shape.Direction) (c computed, err error) {
	asked := p.problem(d)
	found, err := algorithms.Choose(asked, op.Force{})
	if err != nil {
		return c, err
	}
	c.name = shape.Algorithm(found.Algorithm.Name)
	c.way, err = found.Algorithm.Kernel(p.machine, asked)
	return c, err
}

// computed is the algorithm of a direction.
type computed struct {
	name shape.Algorithm
	*way
}

// Algorithm returns how a direction is computed: shape.Forward or shape.InputGradient.
func (p *Kernel) Algorithm(d shape.Direction) shape.Algorithm {
	if d == shape.Forward {
		return p.forward.name
	}
	return p.grad.name
}

// nothing prepares an algorithm that needs only the Kernel's plan.
func nothing(*Kernel) error { return nil }
