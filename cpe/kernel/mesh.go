package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// meshBlocks are the blocks of A, B and C cut over a mesh: CPE (i,j) holds part (i,j) of each.
type meshBlocks struct {
	a, b, c []part // by CPE
	stage   []part // for a transposed operand on its way
}

// part is a CPE's part of a block, row-major and dense, in LDM.
type part struct {
	buffer     []float32
	rows, cols int
}

func (p *part) data() []float32 { return p.buffer[:p.rows*p.cols] }

// open takes LDM for the parts on every CPE.
func (mb *meshBlocks) open(g *cpe.CoreGroup, p *product) error {
	n := len(g.CPEs())
	if len(mb.a) != n {
		mb.a, mb.b, mb.c, mb.stage = make([]part, n), make([]part, n), make([]part, n), make([]part, n)
	}
	s := g.Spec()
	m, nn := blocks(p.plan.BM, s.Rows), blocks(p.plan.BN, s.Cols)
	aSize, bSize := m*blocks(p.plan.BK, s.Cols), blocks(p.plan.BK, s.Rows)*nn
	g.Deal(n)
	for x, c := range g.CPEs() {
		c.Free()
		for _, want := range []struct {
			part *part
			size int
		}{{&mb.c[x], m * nn}, {&mb.a[x], aSize}, {&mb.b[x], bSize}, {&mb.stage[x], aSize + bSize}} {
			buffer, err := c.Alloc(p.name, want.size)
			if err != nil {
				return err
			}
			want.part.buffer = buffer
		}
	}
	return nil
}

// cut is part x of n cut into of pieces.
func cut(x, n, of int) (at, length int) {
	at = x * n / of
	return at, (x+1)*n/of - at
}

// startC clears the parts of C, or loads what the product is added to.
func (mb *meshBlocks) startC(g *cpe.CoreGroup, p *product, i, j int) {
	mb.eachC(g, p, i, j, func(c *cpe.CPE, t *part, row, col int) {
		if p.job.accumulate {
			b := box(p.job.c, p.job.ldc, row, col, t.rows, t.cols)
			c.Load(t.buffer, &b)
			return
		}
		if !g.Values() {
			return
		}
		clear(t.data())
		for r := range t.rows {
			line := t.buffer[r*t.cols : (r+1)*t.cols]
			switch {
			case p.job.bias == nil:
			case p.job.biasRows:
				simd.Fill(line, p.job.bias[row+r])
			default:
				copy(line, p.job.bias[col:])
			}
		}
	})
}

func (mb *meshBlocks) storeC(g *cpe.CoreGroup, p *product, i, j int) {
	mb.eachC(g, p, i, j, func(c *cpe.CPE, t *part, row, col int) {
		b := box(p.job.c, p.job.ldc, row, col, t.rows, t.cols)
		c.Store(&b, t.buffer)
	})
	g.Sync(false)
}

// eachC visits the CPEs with their parts of block (i,j) of C and where these lie in C.
func (mb *meshBlocks) eachC(g *cpe.CoreGroup, p *product, i, j int, visit func(c *cpe.CPE, t *part, row, col int)) {
	s := g.Spec()
	i0, m := extent(i, p.plan.BM, p.job.m)
	j0, n := extent(j, p.plan.BN, p.job.n)
	for x, c := range g.CPEs() {
		r, rows := cut(c.Row, m, s.Rows)
		q, cols := cut(c.Col, n, s.Cols)
		t := &mb.c[x]
		t.rows, t.cols = rows, cols
		visit(c, t, i0+r, j0+q)
	}
}

// box is a block of a row-major array.
func box(data []float32, ld, row, col, rows, cols int) cpe.Block {
	if data != nil && rows*cols > 0 {
		data = data[row*ld+col:]
	}
	return cpe.Block{Data: data, Planes: 1, PlaneStride: rows * cols, Rows: rows, RowStride: ld, Cols: cols}
}

func (mb *meshBlocks) fetchA(g *cpe.CoreGroup, p *product, i, k int) {
	i0, m := extent(i, p.plan.BM, p.job.m)
	k0, kk := extent(k, p.plan.BK, p.job.k)
	mb.fetch(g, mb.a, p.job.a, i0, k0, m, kk)
}

func (mb *meshBlocks) fetchB(g *cpe.CoreGroup, p *product, k, j int) {
	k0, kk := extent(k, p.plan.BK, p.job.k)
	j0, n := extent(j, p.plan.BN, p.job.n)
	mb.fetch(g, mb.b, p.job.b, k0, j0, kk, n)
}

// fetch loads every CPE's part of a block of an operand. A transposed operand comes as it is stored and is turned in LDM.
func (mb *meshBlocks) fetch(g *cpe.CoreGroup, parts []part, src matrix, row, col, rows, cols int) {
	s := g.Spec()
	for x, c := range g.CPEs() {
		r, nr := cut(c.Row, rows, s.Rows)
		q, nq := cut(c.Col, cols, s.Cols)
		t := &parts[x]
		t.rows, t.cols = nr, nq
		if !src.trans {
			b := box(src.data, src.ld, row+r, col+q, nr, nq)
			c.Load(t.buffer, &b)
			continue
		}
		b := box(src.data, src.ld, col+q, row+r, nq, nr)
		c.Load(mb.stage[x].buffer, &b)
		c.Compute(float64(nr*nq), 0)
		if g.Values() {
			transpose(t.buffer, mb.stage[x].buffer, nq, nr)
		}
	}
}

// transpose writes the transpose of src (rows x cols) to dst.
func transpose(dst, src []float32, rows, cols int) {
	for r := range rows {
		for c := range cols {
			dst[c*rows+r] = src[r*cols+c]
		}
	}
}

// multiply does the steps of one block: in step t the CPEs of column t broadcast their parts of A along their rows,
// those of row t their parts of B along their columns, and every CPE adds A(i,t)*B(t,j) to its part of C.
func (mb *meshBlocks) multiply(g *cpe.CoreGroup, p *product, i, j, k int) error {
	s := g.Spec()
	for t := range max(s.Rows, s.Cols) {
		for _, c := range g.CPEs() {
			if c.Col == t {
				c.RowBroadcast(mb.a[c.Row*s.Cols+t].buffer)
			}
			if c.Row == t {
				c.ColBroadcast(mb.b[t*s.Cols+c.Col].buffer)
			}
		}
		for x, c := range g.CPEs() {
			if err := mb.step(g, p, c, x, t); err != nil {
				return err
			}
		}
		if err := g.EndExchange(p.name); err != nil {
			return err
		}
		g.Sync(false)
	}
	return nil
}

func (mb *meshBlocks) step(g *cpe.CoreGroup, p *product, c *cpe.CPE, x, t int) error {
	s := g.Spec()
	ownerA, ownerB := &mb.a[c.Row*s.Cols+t], &mb.b[t*s.Cols+c.Col]
	a, b := ownerA.buffer, ownerB.buffer
	var err error
	if c.Col != t {
		if a, err = c.RowReceive(p.name, ownerA.rows*ownerA.cols); err != nil {
			return err
		}
	}
	if c.Row != t {
		if b, err = c.ColReceive(p.name, ownerB.rows*ownerB.cols); err != nil {
			return err
		}
	}
	dst := &mb.c[x]
	depth := ownerA.cols
	c.Compute(2*float64(dst.rows*dst.cols*depth), 0)
	if !g.Values() {
		return nil
	}
	for r := range dst.rows {
		row := dst.buffer[r*dst.cols : (r+1)*dst.cols]
		for q := range depth {
			simd.Axpy(row, b[q*dst.cols:(q+1)*dst.cols], a[r*depth+q])
		}
	}
	return nil
}
