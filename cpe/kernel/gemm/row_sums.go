package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

const (
	// rowParts is the number of parts of B's rows, which are summed separately. Every core group thus reads a contiguous run of rows: the
	// same rows as in the layer's other products with these weights.
	rowParts = 8
	// rowBlock and rowTile are the numbers of rows and columns of B that are added to sums while these stay in L1.
	rowBlock, rowTile = 8, 2048
)

// sumsRows reports whether RowSums computes a product: a skinny one, neither operand transposed.
func (s *Shape) sumsRows(*cpe.Spec) bool {
	return s.M <= skinnyRows && !s.TransA && !s.TransB && s.values()
}

// inParts reports whether the sums of a product that RowSums computes are in parts: B has enough rows, and values. It decides training's bits.
func (s *Shape) inParts() bool { return s.K >= rowParts && s.K*s.N >= tiling.HostTile }

// fewRowSums declines small products for Skinny, and rowsInParts those that it leaves to RowSums. Both leave to Rounded what it may compute.
func fewRowSums(p *Problem) error {
	return op.FirstReason(notRounded(p), op.Unless(p.Shape.inParts(), "a B of less than %d values or %d rows is summed in one part", tiling.HostTile, rowParts))
}

func rowsInParts(p *Problem) error {
	return op.FirstReason(notRounded(p), op.Unless(!p.Shape.sumsRows(p.Spec) || !p.Shape.inParts(), "rows of a large B are summed in parts, as in the layer's other products with it"))
}

// rowSums sums fixed parts of a large matrix's rows separately, for its product with few rows:
//
//	C (M x N) = Σp sums[p],  sums[p] (M x N) = Σk A[:,k] * B[k,:], the k-th rows being those of part p
//
// B is read from memory once. The parts, and the order in which they are added, do not depend on the number of core groups.
type rowSums struct {
	machine *cpe.Machine
	shape   Shape
	tile    int
	sums    []float32 // sums of all parts
	collect collectRows
	operands
}

func newRowSums(m *cpe.Machine, s Shape) (Kernel, error) {
	r := &rowSums{machine: m, shape: s, tile: tiling.Even(s.N, rowTile, skinnyUnit), sums: pages.Make[float32](rowParts * s.M * s.N)}
	r.collect.rowSums = r
	return r, nil
}

// Algorithm returns RowSums.
func (r *rowSums) Algorithm() shape.Algorithm { return RowSums }

// Scratch is 0: the sums are small, and the kernel owns them.
func (r *rowSums) Scratch() int { return 0 }

// Run computes the product; see Kernel.
func (r *rowSums) Run(a, b, bias, c []float32) error {
	r.operands = operands{a, b, bias, c}
	if err := r.machine.Run(r, 0); err != nil {
		return err
	}
	return r.machine.Run(&r.collect, r.machine.GroupsFor(len(r.sums), tiling.HostTile))
}

// Name names the product.
func (r *rowSums) Name() string { return "sums of rows" }

// RunGroup computes a core group's share of the parts.
func (r *rowSums) RunGroup(g *cpe.CoreGroup) error {
	s := &r.shape
	lo, hi := g.Share(rowParts)
	for part := lo; part < hi; part++ {
		sums := r.sums[part*s.M*s.N : (part+1)*s.M*s.N]
		clear(sums)
		first, last := part*s.K/rowParts, (part+1)*s.K/rowParts
		for k := first; k < last; k += rowBlock {
			for col := 0; col < s.N; col += r.tile {
				r.add(sums, k, min(k+rowBlock, last), col, min(col+r.tile, s.N))
			}
		}
	}
	return nil
}

// add adds columns [col, end) of rows [k, last) of B, weighted by A, to the sums of a part.
func (r *rowSums) add(sums []float32, k, last, col, end int) {
	s := &r.shape
	vgemm.MixRows(sums[col:], s.N, r.a[k:], s.K, s.M, r.b[k*s.N+col:], s.N, last-k, end-col)
}

// collectRows is the stage that adds up the sums of all parts.
type collectRows struct{ *rowSums }

// Name names the stage.
func (c *collectRows) Name() string { return c.rowSums.Name() + ", collecting" }

// RunGroup adds up a core group's share of the columns.
func (c *collectRows) RunGroup(g *cpe.CoreGroup) error {
	s := &c.shape
	lo, hi := tiling.Share(g, s.N, skinnyUnit)
	for i := range s.M {
		dst := c.c[i*s.N+lo : i*s.N+hi]
		switch {
		case c.bias != nil:
			copy(dst, c.bias[lo:hi])
		case !s.Accumulate:
			clear(dst)
		}
		for part := range rowParts {
			vec.Add(dst, dst, c.sums[(part*s.M+i)*s.N+lo:])
		}
	}
	return nil
}
