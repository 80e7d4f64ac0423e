package stream

import "github.com/swcaffe/swcaffe/cpe"

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

// At returns the index of the tile's first value in a Full array. It is for tiles in main memory.
func (t *Tile) At() int { return t.O0*t.OStride + t.M0*t.MStride + t.I0 }

// EachRow calls visit for every row of a tile, the values of one outer and one mid: it begins at value at of the tile's Full arrays and has n
// values of mid m. If inner is 1 and the mids lie side by side, a row has the tile's mids of one outer, and m is 0.
func (t *Tile) EachRow(visit func(at, n, m int)) {
	for o := range t.O {
		if t.I == 1 && t.MStride == 1 {
			visit(o*t.OStride, t.M, 0)
			continue
		}
		for m := range t.M {
			visit(o*t.OStride+m*t.MStride, t.I, m)
		}
	}
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
	if err := k.holdMore(c, t); err != nil {
		return err
	}
	if s.Sums > 0 && c.Values() {
		size := s.Sums * k.plan.Tile[1] * s.lanes()
		t.Sum = k.partial[n*size : n*size+s.Sums*t.M*s.lanes()]
		clear(t.Sum)
	}
	if c.Values() {
		s.Op(t)
	}
	elements := float64(t.O * t.M * t.I * k.sweeps())
	c.Compute(elements*s.Cost.Flops, elements*s.Cost.Specials)
	for j, a := range s.Outs {
		b := k.block(t, a, k.outs[j])
		if k.plan.Piece > 0 {
			c.Sweep(&b, k.piece(a), true)
		} else {
			c.Store(&b, t.Out[j])
		}
	}
	return nil
}

// holdMore counts LDM that is taken besides a tile's arrays: the second tile of double buffering, or the two pieces of one.
func (k *Kernel) holdMore(c *cpe.CPE, t *Tile) error {
	switch {
	case k.plan.Piece > 0:
		return c.Hold(k.stream.Name, 2*k.stream.need([3]int{t.O, k.plan.Piece, t.I}))
	case k.plan.Double:
		return c.Hold(k.stream.Name, k.stream.need([3]int{t.O, t.M, t.I}))
	}
	return nil
}

// sweeps returns how often arrays are loaded.
func (k *Kernel) sweeps() int {
	if k.plan.Piece == 0 {
		return 1
	}
	return max(1, k.stream.Sweeps)
}

// piece returns how many values of an array pass through LDM at a time.
func (k *Kernel) piece(a Array) int {
	switch a {
	case Plane:
		return k.plan.Tile[2]
	case Row:
		return k.plan.Piece * k.stream.lanes()
	}
	return k.plan.Piece * k.plan.Tile[2]
}

// place sets the tile's part of an array, and loads it if Op reads it.
func (k *Kernel) place(c *cpe.CPE, t *Tile, a Array, data []float32, part *[]float32, load bool) error {
	b := k.block(t, a, data)
	planes, rows := b.PlaneStride, b.RowStride
	if k.plan.Piece > 0 {
		*part = b.Data
		for i := 0; load && i < k.sweeps(); i++ {
			c.Sweep(&b, k.piece(a), false)
		}
	} else {
		buffer, err := c.Alloc(k.stream.Name, b.Count())
		if err != nil {
			return err
		}
		if load {
			*part, planes, rows = c.Load(buffer, &b)
		} else {
			*part, planes, rows = c.Place(buffer, &b)
		}
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
