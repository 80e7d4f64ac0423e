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
	// ByTiles goes through the windows of tiles one by one. It is the only one of a modelled machine.
	ByTiles shape.Algorithm = "pool-tiles"
)

// algorithm is one way to pool. A Kernel supports those for which New has prepared it.
type algorithm struct {
	name     shape.Algorithm
	supports func(p *Kernel, d shape.Direction) bool
	run      func(p *Kernel, g *cpe.CoreGroup) error // a core group's share
}

// algorithms in the order in which a Kernel asks them. The last supports every pooling.
var algorithms = []algorithm{
	{ByBlocks, func(p *Kernel, _ shape.Direction) bool { return p.blocks != nil }, (*Kernel).runBlocks},
	{Global, func(p *Kernel, _ shape.Direction) bool { return p.global }, (*Kernel).runPlanes},
	{ByPlanes, func(p *Kernel, _ shape.Direction) bool { return p.planes != nil }, (*Kernel).runPlanes},
	{ByColumns, (*Kernel).hasColumns, (*Kernel).runColumns},
	{ByTiles, func(*Kernel, shape.Direction) bool { return true }, (*Kernel).runTiles},
}

// choose returns the first algorithm that supports a direction.
func (p *Kernel) choose(d shape.Direction) *algorithm {
	spec := p.machine.Spec()
	for i := range algorithms {
		if !spec.LeavesOut(string(algorithms[i].name)) && algorithms[i].supports(p, d) {
			return &algorithms[i]
		}
	}
	panic("pool: no algorithm for " + pooled(p.shape).String())
}

// Optional lists the algorithms that cpe.Spec.WithoutAlgorithms may leave out: all but the last of the list and the one for blocks of
// channels, which compute what no other does.
func Optional() (names []string) {
	for _, a := range algorithms {
		if a.name != ByTiles && a.name != ByBlocks {
			names = append(names, string(a.name))
		}
	}
	return names
}

// Algorithm returns how a direction is computed: shape.Forward or shape.InputGradient.
func (p *Kernel) Algorithm(d shape.Direction) shape.Algorithm { return p.choose(d).name }
