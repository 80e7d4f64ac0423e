package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// sharesRows reports whether core groups share the rows of an implicit convolution: the operators of Fang 2019 for images that are fewer than
// the training program's kernels take, or channels that these refuse. Then a position is a product with all images, not those of a
// core group, and DMA moves longer blocks.
func sharesRows(s shape.Conv, spec *cpe.Spec, d shape.Direction) bool {
	w := &spec.Software
	return w.BatchOnly && !w.Unbuffered && spec.CoreGroups > 1 && resultRows(s, d) >= spec.CoreGroups && !Published(s, spec, d)
}

// resultRows is the number of rows that core groups can share: those of outputs, or of images for their gradient.
func resultRows(s shape.Conv, d shape.Direction) int {
	extents := s.OutSize()
	if d == shape.InputGradient {
		extents = s.In
	}
	return tiling.Size(extents[:len(extents)-1])
}

// rowsEnter is the stage that brings all arrays to the layout.
type rowsEnter struct{ *batchConv }

// Name names the stage.
func (e *rowsEnter) Name() string { return e.batchConv.Name() + ", turning" }

// RunGroup turns a core group's share of the channels.
func (e *rowsEnter) RunGroup(g *cpe.CoreGroup) error {
	w := &e.workers[g.Index()]
	e.see(g, &w.batchArrays)
	return e.enter(g, &w.batchArrays)
}

// rowsConvolve is the stage that convolves.
type rowsConvolve struct{ *batchConv }

// RunGroup computes a core group's rows of results, or for the weights' gradient what its rows of outputs add to all.
func (c *rowsConvolve) RunGroup(g *cpe.CoreGroup) error {
	w := &c.workers[g.Index()]
	c.see(g, &w.batchArrays)
	w.terms = tiling.Span{At: 0, N: len(w.at)}
	rows := tiling.Span{At: 0, N: c.pairs.results() / c.rowLength()}
	if c.Direction == shape.WeightGradient {
		lo, hi := g.Share(c.geo.Rows)
		w.terms = tiling.Span{At: lo * c.geo.Width, N: (hi - lo) * c.geo.Width}
	} else {
		lo, hi := g.Share(rows.N)
		rows = tiling.Span{At: lo, N: hi - lo}
	}
	return c.convolve(g, w, rows)
}

// rowsLeave is the stage that brings the results back.
type rowsLeave struct{ *batchConv }

// Name names the stage.
func (l *rowsLeave) Name() string { return l.batchConv.Name() + ", turning back" }

// RunGroup turns a core group's share of the channels, or its part of the weights' gradient.
func (l *rowsLeave) RunGroup(g *cpe.CoreGroup) error {
	w := &l.workers[g.Index()]
	l.see(g, &w.batchArrays)
	return l.leave(g, &w.batchArrays)
}
