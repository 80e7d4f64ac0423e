package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// rowClasses is the number of classes of row numbers. One core group adds to all rows of a class, so that two never add to the same row.
const rowClasses = 64

// Rows copies rows of values by index: lookups in a table, and the sums of their gradients.
type Rows struct {
	machine   *cpe.Machine
	cols      int
	move, add *Copy // of a row, for machines with DMA

	scatter  bool
	dst, src []float32
	index    []int
}

// NewRows plans copies of rows of cols values.
func NewRows(m *cpe.Machine, cols int) (r *Rows, err error) {
	r = &Rows{machine: m, cols: cols}
	if !m.HasDMA() {
		return r, nil
	}
	s := CopyShape{Outer: 1, Rows: 1, Cols: cols, SrcRow: cols, DstRow: cols}
	if r.move, err = NewCopy(m, s); err != nil {
		return nil, err
	}
	s.Add = true
	r.add, err = NewCopy(m, s)
	return r, err
}

// Name returns "rows".
func (r *Rows) Name() string { return "rows" }

// Gather copies row index[k] of src to row k of dst.
func (r *Rows) Gather(dst, src []float32, index []int) error {
	if r.move == nil {
		return r.run(dst, src, index, false)
	}
	for k, row := range index {
		if err := r.move.Run(r.row(dst, k), r.row(src, row)); err != nil {
			return err
		}
	}
	return nil
}

// Scatter adds row k of src to row index[k] of dst, in ascending k.
func (r *Rows) Scatter(dst, src []float32, index []int) error {
	if r.add == nil {
		return r.run(dst, src, index, true)
	}
	for k, row := range index {
		if err := r.add.Run(r.row(dst, row), r.row(src, k)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rows) run(dst, src []float32, index []int, scatter bool) error {
	r.dst, r.src, r.index, r.scatter = dst, src, index, scatter
	return r.machine.Run(r, r.machine.GroupsFor(len(index)*r.cols, tiling.HostTile))
}

func (r *Rows) row(of []float32, k int) []float32 { return of[k*r.cols : (k+1)*r.cols] }

// RunGroup copies a core group's share of the rows, or adds to the rows of its share of the classes.
func (r *Rows) RunGroup(g *cpe.CoreGroup) error {
	if !r.scatter {
		lo, hi := g.Share(len(r.index))
		for k := lo; k < hi; k++ {
			copy(r.row(r.dst, k), r.row(r.src, r.index[k]))
		}
		return nil
	}
	lo, hi := g.Share(rowClasses)
	for k, row := range r.index {
		if class := row % rowClasses; class >= lo && class < hi {
			to := r.row(r.dst, row)
			vec.Add(to, to, r.row(r.src, k))
		}
	}
	return nil
}
