// Package stream computes elementwise operations in one pass over arrays.
//
// A [Pass] declares an operation: its arrays, how they may be cut into tiles, and the function that computes a tile. Activations,
// normalisations, losses and solver updates are passes. [New] plans a Pass for a machine as a [Kernel]. In main memory tiles alias the arrays
// and stay in L2. Through DMA they pass through LDM, double-buffered if there is room. Sums over tiles are added in the order of the tiles, so
// that bits do not depend on the number of core groups.
//
// [Copy] copies rows, [Rows] copies rows by index, [Units] runs units of work that read and write arrays of different extents, [Transform]
// transposes matrices, and [Partials] adds arrays that core groups have computed side by side. [Uniform] is a counter-based generator of
// random numbers.
package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Kernel executes a Pass.
type Kernel struct {
	stream  Pass
	plan    Plan
	machine *cpe.Machine
	workers []streamWorker // a core group each
	ins     [][]float32
	outs    [][]float32
	partial []float64 // by tile: Sums x Tile[1] x lanes; nil where only costs are charged
	sums    []float64
}

// streamWorker is the state of one core group.
type streamWorker struct {
	tile    Tile
	err     error
	scratch []float32
}

// New plans a pass for a machine and allocates what running it needs.
func New(m *cpe.Machine, s Pass) (*Kernel, error) {
	spec := m.Spec()
	plan, err := NewPlan(&spec, &s)
	if err != nil {
		return nil, err
	}
	k := &Kernel{stream: s, plan: plan, machine: m, workers: make([]streamWorker, spec.CoreGroups)}
	for i := range k.workers {
		t := &k.workers[i].tile
		t.In, t.Out = make([][]float32, len(s.Ins)), make([][]float32, len(s.Outs))
		t.Scratch = make([][]float32, s.Scratch)
		if n := s.Scratch * plan.Scratch; n > 0 {
			k.workers[i].scratch = pages.Make[float32](n)
		}
	}
	if s.Sums > 0 {
		if m.Values() {
			pages.Demand(2 * float64(plan.Tiles()) * float64(s.Sums*plan.Tile[1]*s.lanes())) // float64
			k.partial = pages.Make[float64](plan.Tiles() * s.Sums * plan.Tile[1] * s.lanes())
		}
		k.sums = pages.Make[float64](s.Sums * s.Dims[1] * s.lanes())
	}
	return k, nil
}

// Name returns the stream's name.
func (k *Kernel) Name() string { return k.stream.Name }

// Plan returns the tiles.
func (k *Kernel) Plan() Plan { return k.plan }

// Sums returns the sums of the last Run: sum s of mid m at s*Dims[1] + m, in lanes as a Tile's. Tiles are added in their order.
func (k *Kernel) Sums() []float64 { return k.sums }

// Run passes over the arrays. The slices must have the extents that the Pass declares.
func (k *Kernel) Run(ins, outs [][]float32) error {
	if k.plan.Tiles() == 0 {
		clear(k.sums)
		return nil
	}
	k.ins, k.outs = ins, outs
	for i := range k.workers {
		k.workers[i].err = nil
	}
	if err := k.machine.Run(k, k.machine.GroupsFor(k.stream.work(), tiling.HostTile)); err != nil {
		return err
	}
	for i := range k.workers {
		if err := k.workers[i].err; err != nil {
			return err
		}
	}
	k.combine()
	return nil
}

// RunGroup computes a core group's share of the tiles, up to the first one with invalid data.
func (k *Kernel) RunGroup(g *cpe.CoreGroup) error {
	w := &k.workers[g.Index()]
	lo, hi := g.Share(k.plan.Tiles())
	return InTurn(g, hi-lo, k.plan.whole()-lo, func(c *cpe.CPE, n int) error {
		if w.err != nil {
			return nil
		}
		at := lo + n
		if k.plan.Back {
			at = hi - 1 - n
		}
		err := k.chargeTile(g, c, w, at)
		w.err, w.tile.Err = w.tile.Err, nil
		return err
	})
}

// InTurn deals work 0 <= i < n to the CPEs of a core group in turn, double-buffered. The first whole pieces of work cost the same, so that a
// machine that only models costs runs few of them.
func InTurn(g *cpe.CoreGroup, n, whole int, work func(c *cpe.CPE, i int) error) error {
	cpes := g.CPEs()[:g.Deal(n)]
	round := func(r int) error {
		for i := r * len(cpes); i < min(n, (r+1)*len(cpes)); i++ {
			if err := work(cpes[i-r*len(cpes)], i); err != nil {
				return err
			}
		}
		if (r+1)*len(cpes) <= n {
			g.Overlap()
		}
		return nil
	}
	alike := max(0, min(n, whole)) / len(cpes)
	if err := g.Steady(0, alike, round); err != nil {
		return err
	}
	for r := alike; r < tiling.Blocks(n, len(cpes)); r++ {
		if err := round(r); err != nil {
			return err
		}
	}
	g.Sync()
	return nil
}

// combine adds the sums of all tiles, in the order of the tiles.
func (k *Kernel) combine() {
	if k.stream.Sums == 0 || !k.machine.Values() {
		return
	}
	clear(k.sums)
	lanes := k.stream.lanes()
	mid := k.plan.Dims[1] * lanes
	size := k.stream.Sums * k.plan.Tile[1] * lanes
	for n := range k.plan.Tiles() {
		var t Tile
		k.box(&t, n)
		part := k.partial[n*size:]
		for s := range k.stream.Sums {
			first, count := s*mid+t.M0*lanes, t.M*lanes
			for m, v := range part[s*count : (s+1)*count] {
				k.sums[first+m] += v
			}
		}
	}
}
