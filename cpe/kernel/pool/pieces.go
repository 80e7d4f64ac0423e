package pool

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// piecePool computes tiles whose results fit LDM, but not with all that they are computed of. That passes through LDM in pieces: inputs
// forward, outputs backward. Pieces come in the order of the plane. Each result goes through its window, or the outputs that it is in, in
// the same order as in a tile that fits, so that it has the same bits.
type piecePool struct {
	tiles [][]poolTile // of each core group, by CPE
}

// pieces are the state of a tile between two pieces.
type pieces struct {
	far          [2]tiling.Span // rows and columns that are cut into pieces
	down, across int
	sweeps       int       // times that all pieces pass
	windows      []running // of the outputs, for stochastic pooling
}

func (t *pieces) count() int { return t.sweeps * t.down * t.across }

// exceedsLDM reports whether LDM cannot hold a window, or backward the outputs that an input is in.
func (s *Shape) exceedsLDM(spec *cpe.Spec, d shape.Direction) bool {
	p, err := NewPlan(spec, *s)
	if d == shape.Forward {
		return err == nil && p.Piece != piece{}
	}
	return err == nil && p.BackPiece != piece{}
}

// preparePieces makes the tiles of all CPEs.
func (p *Kernel) preparePieces() error {
	if p.pieces != nil {
		return nil
	}
	spec := p.machine.Spec()
	p.pieces = &piecePool{tiles: make([][]poolTile, spec.CoreGroups)}
	for g := range p.pieces.tiles {
		p.pieces.tiles[g] = make([]poolTile, spec.CPEs())
		for i := range p.pieces.tiles[g] {
			if p.shape.Method == Stochastic && p.machine.Values() {
				p.pieces.tiles[g][i].pieces.windows = make([]running, p.plan.Rows*p.plan.Cols)
			}
		}
	}
	return nil
}

// runPieces deals a core group's share of the tiles to its CPEs. These work on a piece each at a time.
func (p *Kernel) runPieces(g *cpe.CoreGroup) error {
	count := p.tiles().count()
	lo, hi := g.Share(p.shape.N * p.shape.C * count)
	cpes, tiles := g.CPEs()[:g.Deal(hi-lo)], p.pieces.tiles[g.Index()]
	for n := lo; n < hi; n += len(cpes) {
		some := cpes[:min(len(cpes), hi-n)]
		most := 0
		for i := range some {
			most = max(most, p.beginPieces(&tiles[i], n+i))
		}
		for k := range most {
			for i, c := range some {
				key := (n+i)%count + count*k
				if k >= tiles[i].pieces.count() || g.Charged(c, key) {
					continue
				}
				if err := p.runPiece(c, &tiles[i], k); err != nil {
					return err
				}
				g.Remember(c, key)
			}
			p.turn(g)
		}
	}
	g.Sync()
	return nil
}

// beginPieces begins tile n and returns the number of its pieces.
func (p *Kernel) beginPieces(t *poolTile, n int) int {
	p.begin(t, n)
	far, cut := &t.in, p.plan.Piece
	t.pieces.sweeps = 1
	if p.backward {
		far, cut = &t.out, p.plan.BackPiece
	} else if p.shape.Method == Stochastic && p.shape.Train {
		t.pieces.sweeps = 2 // the first one finds the windows' sums
	}
	t.pieces.far = [2]tiling.Span{far.rows, far.cols}
	t.pieces.down, t.pieces.across = cut.of(far.rows, far.cols)
	return t.pieces.count()
}

// runPiece computes with piece k of a tile. Its results stay in LDM until the last one.
func (p *Kernel) runPiece(c *cpe.CPE, t *poolTile, k int) error {
	s, from, to, cut := &p.shape, &t.in, &t.out, p.plan.Piece
	if p.backward {
		from, to, cut = to, from, p.plan.BackPiece
	}
	n, far := k%(t.pieces.down*t.pieces.across), t.pieces.far
	from.rows, from.cols = nthOf(far[0], n/t.pieces.across, cut.rows), nthOf(far[1], n%t.pieces.across, cut.cols)
	if err := p.openPiece(c, t, from); err != nil {
		return err
	}
	p.fetch(c, t, from, to)
	if p.backward && s.Masked() {
		c.Scalar(float64(t.out.rows.N * t.out.cols.N))
	} else {
		c.Scalar(float64(s.meets(t)))
	}
	if c.Values() {
		t.indices = Indices(t.mask.values)
		p.computePiece(t, k)
	}
	if k == t.pieces.count()-1 {
		p.store(c, t, to)
	}
	return nil
}

// openPiece takes LDM for the results, a piece, and the one that is loaded while it is computed with.
func (p *Kernel) openPiece(c *cpe.CPE, t *poolTile, from *part) error {
	if _, err := p.open(c, t); err != nil {
		return err
	}
	again := from.block.Count()
	switch {
	case p.backward:
		again += t.mask.block.Count()
	case p.shape.Method == Stochastic:
		again += runningValues * t.out.block.Count()
	}
	return c.Hold("pooling", again)
}

// nthOf returns part i of a span that is cut into spans of n indices.
func nthOf(s tiling.Span, i, n int) tiling.Span {
	part := tiling.Nth(i, n, s.N)
	part.At += s.At
	return part
}

// meets returns how many values the windows of the tile's outputs have among its inputs.
func (s *Shape) meets(t *poolTile) int {
	return meet(t.out.rows, t.in.rows, s.SH, s.PH, s.KH, s.H) * meet(t.out.cols, t.in.cols, s.SW, s.PW, s.KW, s.W)
}

// meet is meets along an axis.
func meet(outs, ins tiling.Span, stride, pad, kernel, size int) (n int) {
	for o := outs.At; o < outs.End(); o++ {
		lo, hi := tiling.Window(o, stride, pad, kernel, size)
		n += max(0, min(hi, ins.End())-max(lo, ins.At))
	}
	return n
}

// computePiece goes on with all results of the tile.
func (p *Kernel) computePiece(t *poolTile, k int) {
	if p.backward {
		if k == 0 {
			t.clear()
		}
		p.spread(t)
		return
	}
	s, first, last := &p.shape, k == 0, k == t.pieces.count()-1
	for oy := range t.out.rows.N {
		var a area
		a.y0, a.y1 = tiling.Window(t.out.rows.At+oy, s.SH, s.PH, s.KH, s.H)
		a.y0, a.y1 = max(a.y0, t.in.rows.At), min(a.y1, t.in.rows.End())
		for ox := range t.out.cols.N {
			a.x0, a.x1 = tiling.Window(t.out.cols.At+ox, s.SW, s.PW, s.KW, s.W)
			a.x0, a.x1 = max(a.x0, t.in.cols.At), min(a.x1, t.in.cols.End())
			switch s.Method {
			case Max:
				p.gatherMax(t, &a, oy*t.out.stride+ox, first)
			case Ave:
				p.gatherMean(t, &a, oy, ox, first, last)
			default:
				p.gatherRandom(t, &a, oy, ox, k)
			}
		}
		if s.ReLU && last {
			rectify(t.out.values[oy*t.out.stride:][:t.out.cols.N], t.indices[oy*t.out.stride:])
		}
	}
}

// gatherMax takes a window's values in the piece into its maximum.
func (p *Kernel) gatherMax(t *poolTile, a *area, at int, first bool) {
	if first {
		t.out.values[at], t.indices[at] = -math.MaxFloat32, -1
	}
	v, index := t.largest(a, p.shape.W)
	if best := t.out.values[at]; index >= 0 && (t.indices[at] < 0 || v > best || v != v && best == best) {
		t.out.values[at], t.indices[at] = v, index
	}
}

// gatherMean adds a window's values in the piece to their sum, and divides it after the last piece.
func (p *Kernel) gatherMean(t *poolTile, a *area, oy, ox int, first, last bool) {
	y := &t.out.values[oy*t.out.stride+ox]
	if first {
		*y = 0
	}
	if *y = t.add(*y, a); last {
		*y /= float32(p.shape.divisor(t.out.rows.At+oy, t.out.cols.At+ox))
	}
}

// gatherRandom is stochastic pooling of a window's values in piece k. In training the first sweep adds them up, and the second one draws.
func (p *Kernel) gatherRandom(t *poolTile, a *area, oy, ox, k int) {
	r, at := &t.pieces.windows[oy*t.out.cols.N+ox], oy*t.out.stride+ox
	sweep := t.pieces.down * t.pieces.across
	if k == 0 {
		*r = running{index: -1}
	}
	switch {
	case !p.shape.Train:
		r.addSquares(t, a)
		t.out.values[at] = r.weightedMean()
	case k < sweep:
		r.sum = t.add(r.sum, a)
	default:
		if k == sweep {
			r.threshold, r.sum = p.share(t, oy, ox)*r.sum, 0
		}
		r.draw(t, a, p.shape.W)
		t.out.values[at], t.indices[at] = r.value, r.index
	}
}
