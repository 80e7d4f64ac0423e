package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Transform transposes matrices in main memory: for u < Outer, i < Rows, j < Cols, the value at src[u*SrcOuter + i*SrcRow + j] goes to
// dst[u*DstOuter + j*DstRow + i], or is added to it. It is swCaffe's tensor transform (section IV-C): tiles come by strided DMA, are
// shuffled in LDM, and leave by strided DMA.
type Transform struct {
	Outer, Rows, Cols                  int
	SrcOuter, SrcRow, DstOuter, DstRow int
	Add                                bool
}

// relayoutTile is the number of values of a tile. A CPE holds up to three: the source, the transpose, and the destination if it is added to.
const relayoutTile = 4096

// tile returns the extents of a tile, with long runs in source and destination.
func (t *Transform) tile(limit int) (rows, cols int) {
	side := 1
	for 4*side*side <= limit {
		side *= 2
	}
	rows = min(t.Rows, side)
	cols = min(t.Cols, limit/max(1, rows))
	return min(t.Rows, limit/max(1, cols)), cols
}

// Run transposes everything with the CPEs of one core group.
func (t *Transform) Run(g *cpe.CoreGroup, dst, src []float32) error {
	spec := g.Spec()
	tr, tc := t.tile(min(relayoutTile, spec.LDMFloats()/3))
	if tr == 0 || tc == 0 {
		return nil
	}
	down, across := tiling.Blocks(t.Rows, tr), tiling.Blocks(t.Cols, tc)
	whole := t.Outer * down * across
	if t.Cols%tc != 0 {
		whole = across - 1
	}
	if t.Rows%tr != 0 {
		whole = min(whole, (down-1)*across)
	}
	return InTurn(g, t.Outer*down*across, whole, func(c *cpe.CPE, n int) error {
		u, i, j := n/across/down, n/across%down*tr, n%across*tc
		rows, cols := min(tr, t.Rows-i), min(tc, t.Cols-j)
		key := 0
		if rows < tr {
			key |= 1
		}
		if cols < tc {
			key |= 2
		}
		if g.Charged(c, key) {
			return nil
		}
		err := t.move(c, tiling.From(dst, u*t.DstOuter+j*t.DstRow+i), tiling.From(src, u*t.SrcOuter+i*t.SrcRow+j), rows, cols)
		g.Remember(c, key)
		return err
	})
}

// move transposes one tile.
func (t *Transform) move(c *cpe.CPE, dst, src []float32, rows, cols int) error {
	c.Free()
	var tiles [3][]float32
	for i := range tiles {
		if i == 2 && !t.Add {
			break
		}
		var err error
		if tiles[i], err = c.Alloc("tensor transform", rows*cols); err != nil {
			return err
		}
	}
	in := cpe.Block{Data: src, Planes: 1, Rows: rows, RowStride: t.SrcRow, Cols: cols}
	out := cpe.Block{Data: dst, Planes: 1, Rows: cols, RowStride: t.DstRow, Cols: rows}
	c.Load(tiles[0], &in)
	if t.Add {
		c.Load(tiles[2], &out)
	}
	c.Compute(float64(rows*cols), 0)
	if c.Values() {
		for i := range rows {
			for j := range cols {
				v := tiles[0][i*cols+j]
				if t.Add {
					v += tiles[2][j*rows+i]
				}
				tiles[1][j*rows+i] = v
			}
		}
	}
	c.Store(&out, tiles[1])
	return nil
}
