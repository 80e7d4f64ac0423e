package mesh

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Rows is the algorithm mesh-rows.
var Rows = conv.Algorithm{
	Name: "mesh-rows", Doc: "mesh-batch with all images in each product; core groups share rows of results", Family: shape.Implicit,
	Directions: conv.EveryDirection, Declines: unpublished, Kernel: conv.Staged(func(t *conv.Task) error { return newBatchConv(t, true) }),
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnModel(p), conv.InPlanes(p), conv.NotStrided(p), buffered(p),
			op.Unless(sharesRows(p.Shape, p.Spec, p.Direction) || mayShareRows(p.Shape, p.Spec, p.Direction), "core groups share images here: the published kernels support the shape, or there are fewer rows than core groups"))
	},
}

// sharesRows reports whether core groups share the rows of an implicit convolution of all images (Fang 2019). This serves batches that are
// too small for the training program's kernels, or channel counts that these refuse. Each position is then a product with all images, not
// with those of one core group, and DMA transfers longer blocks.
func sharesRows(s shape.Conv, spec *cpe.Spec, d shape.Direction) bool {
	w := &spec.Software
	return w.BatchOnly && !w.Unbuffered && spec.CoreGroups > 1 && resultRows(s, d) >= spec.CoreGroups && !Published(s, spec, d)
}

// mayShareRows reports whether sharing rows is a choice beside sharing images: of our own plans on machines with remote access to LDM, whose DMA is slow
// for lines of few images.
func mayShareRows(s shape.Conv, spec *cpe.Spec, d shape.Direction) bool {
	w := &spec.Software
	return spec.HasRMA() && !w.BatchOnly && !w.Unbuffered && spec.CoreGroups > 1 && resultRows(s, d) >= spec.CoreGroups
}

// resultRows returns the number of rows that core groups can share: rows of outputs or, for the input gradient, of images.
func resultRows(s shape.Conv, d shape.Direction) int {
	extents := s.OutSize()
	if d == shape.InputGradient {
		extents = s.In
	}
	return tiling.Size(extents[:len(extents)-1])
}

// rowsEnter is the stage that converts the operands to batchLayout.
type rowsEnter struct{ *batchConv }

// Name names the stage.
func (e *rowsEnter) Name() string { return e.batchConv.Name() + ", turning" }

// RunGroup converts a core group's share of the channels.
func (e *rowsEnter) RunGroup(g *cpe.CoreGroup) error {
	w := &e.workers[g.Index()]
	e.see(g, &w.batchArrays)
	return e.enter(g, &w.batchArrays)
}

// rowsConvolve is the stage that convolves.
type rowsConvolve struct{ *batchConv }

// RunGroup computes a core group's rows of results or, for the weight gradient, the sums over its rows of outputs.
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

// rowsLeave is the stage that converts the results back.
type rowsLeave struct{ *batchConv }

// Name names the stage.
func (l *rowsLeave) Name() string { return l.batchConv.Name() + ", turning back" }

// RunGroup converts a core group's share of the channels or, for the weight gradient, adds its partial sums.
func (l *rowsLeave) RunGroup(g *cpe.CoreGroup) error {
	w := &l.workers[g.Index()]
	l.see(g, &w.batchArrays)
	return l.leave(g, &w.batchArrays)
}
