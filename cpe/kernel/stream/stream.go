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
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Tile is the part of a pass's arrays in a box, as Op gets it. Element (o,m,i), counted from the box's corner, is at o*OStride + m*MStride + i
// of a Full array, at o*PStride + i of a Plane array, and at m of a Row array; lane k of a Row array is at m*Lanes + k.
type Tile struct {
	Box
	OStride, MStride, PStride int
	In, Out, Scratch          [][]float32
	// Sum has the tile's sums: sum s of mid m at s*M + m, lane k of it at (s*M + m)*Lanes + k. It is zero before Op.
	Sum []float64
	// Err is set by Op if data is invalid. Run returns the error of the first such tile.
	Err error
}

// Box is outers [O0,O0+O) x mids [M0,M0+M) x inners [I0,I0+I).
type Box struct{ O0, O, M0, M, I0, I int }

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
	if err := k.machine.Run(k, k.machine.GroupsFor(k.stream.values(), tiling.HostTile)); err != nil {
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

// box sets the tile's box. Tiles are numbered along inner first, then mid, then outer.
func (k *Kernel) box(t *Tile, n int) {
	p := &k.plan
	i, m, o := n%p.Counts[2], n/p.Counts[2]%p.Counts[1], n/p.Counts[2]/p.Counts[1]
	t.O0, t.M0, t.I0 = o*p.Tile[0], m*p.Tile[1], i*p.Tile[2]
	t.O, t.M, t.I = min(p.Tile[0], p.Dims[0]-t.O0), min(p.Tile[1], p.Dims[1]-t.M0), min(p.Tile[2], p.Dims[2]-t.I0)
}

// block returns the part of an array that a tile covers. Its data end with the tile: the next one may belong to another core group.
func (k *Kernel) block(t *Tile, a Array, data []float32) cpe.Block {
	mid, inner := k.plan.Dims[1], k.plan.Dims[2]
	b := cpe.Block{Planes: t.O, PlaneStride: mid * inner, Rows: t.M, RowStride: inner, Cols: t.I}
	at := (t.O0*mid+t.M0)*inner + t.I0
	switch a {
	case Plane:
		b.PlaneStride, b.Rows, b.RowStride = inner, 1, inner
		at = t.O0*inner + t.I0
	case Row:
		n := t.M * k.stream.lanes()
		b = cpe.Block{Planes: 1, PlaneStride: n, Rows: 1, RowStride: n, Cols: n}
		at = t.M0 * k.stream.lanes()
	}
	if data != nil {
		end := at + b.Extent()
		b.Data = data[at:end:end]
	}
	return b
}

// chargeTile computes a tile, unless only costs are modelled and a tile of its extents has been charged.
func (k *Kernel) chargeTile(g *cpe.CoreGroup, c *cpe.CPE, w *streamWorker, n int) error {
	t, p := &w.tile, &k.plan
	k.box(t, n)
	key := 0
	for axis, extent := range [...]int{t.O, t.M, t.I} {
		if extent < p.Tile[axis] {
			key |= 1 << axis
		}
	}
	if g.Charged(c, key) {
		return nil
	}
	err := k.runTile(c, w, n)
	g.Remember(c, key)
	return err
}

func (k *Kernel) runTile(c *cpe.CPE, w *streamWorker, n int) error {
	s, t := &k.stream, &w.tile
	t.OStride, t.MStride, t.PStride = k.plan.Dims[1]*k.plan.Dims[2], k.plan.Dims[2], k.plan.Dims[2]
	c.Free()
	for j, a := range s.Ins {
		if err := k.place(c, t, a, k.ins[j], &t.In[j], true); err != nil {
			return err
		}
	}
	copy(t.Out, t.In[:s.InPlace])
	for j, a := range s.Outs[s.InPlace:] {
		j += s.InPlace
		if err := k.place(c, t, a, k.outs[j], &t.Out[j], false); err != nil {
			return err
		}
	}
	if err := k.placeScratch(c, w); err != nil {
		return err
	}
	if k.plan.Double {
		if err := c.Hold(s.Name, s.need([3]int{t.O, t.M, t.I})); err != nil {
			return err
		}
	}
	if s.Sums > 0 && c.Values() {
		size := s.Sums * k.plan.Tile[1] * s.lanes()
		t.Sum = k.partial[n*size : n*size+s.Sums*t.M*s.lanes()]
		clear(t.Sum)
	}
	if c.Values() {
		s.Op(t)
	}
	elements := float64(t.O * t.M * t.I)
	c.Compute(elements*s.Cost.Flops, elements*s.Cost.Specials)
	for j, a := range s.Outs {
		b := k.block(t, a, k.outs[j])
		c.Store(&b, t.Out[j])
	}
	return nil
}

// place sets the tile's part of an array, and loads it if Op reads it.
func (k *Kernel) place(c *cpe.CPE, t *Tile, a Array, data []float32, part *[]float32, load bool) error {
	b := k.block(t, a, data)
	buffer, err := c.Alloc(k.stream.Name, b.Count())
	if err != nil {
		return err
	}
	var planes, rows int
	if load {
		*part, planes, rows = c.Load(buffer, &b)
	} else {
		*part, planes, rows = c.Place(buffer, &b)
	}
	switch a {
	case Full:
		t.OStride, t.MStride = planes, rows
	case Plane:
		t.PStride = planes
	}
	return nil
}

// placeScratch sets the tile's scratch arrays: in LDM, or in the worker's memory.
func (k *Kernel) placeScratch(c *cpe.CPE, w *streamWorker) error {
	t := &w.tile
	n, near := t.O*t.M*t.I, t.O*k.stream.near(t.M)*t.I
	for j := range t.Scratch {
		if w.scratch != nil {
			t.Scratch[j] = w.scratch[j*near : (j+1)*near]
			continue
		}
		var err error
		if t.Scratch[j], err = c.Alloc(k.stream.Name, n); err != nil {
			return err
		}
	}
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
