package explicit

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// bind makes the closures that compute one unit, once, so that running allocates nothing.
func (e *kernel) bind(w *worker) {
	work := [...]func(*cpe.CoreGroup, *worker, int, int) error{e.forward, e.weightGradient, e.inputGradient}[e.Direction]
	w.work = func(unit, group int) error { return work(w.group, w, unit, group) }
	w.unit = func(unit int) error {
		for group := range e.Shape.Group {
			if err := w.work(unit, group); err != nil {
				return err
			}
		}
		return nil
	}
}

// band returns the position of a unit, which is a band of an image, in images and results.
func (e *kernel) band(unit, group int) im2col.Band {
	s, p, g := &e.Shape, &e.plan, e.geo
	image := unit / p.bands()
	b := im2col.Band{Row: unit % p.bands() * p.Band}
	b.Rows = min(p.Band, p.Rows-b.Row)
	b.X = tiling.From(e.Args.Images(e.Direction), (image*s.C+group*g.Channels)*g.Plane)
	b.Y = tiling.From(e.Args.Results(e.Direction), (image*s.Out+group*(s.Out/s.Group))*g.Positions()+b.Row*g.Width)
	return b
}

// results returns the band's part of the results as a matrix.
func (e *kernel) results(b *im2col.Band) cpe.Matrix { return cpe.Plain(b.Y, e.geo.Positions()) }

// matrix returns the band's column matrix: the worker's buffer, or the image itself.
func (e *kernel) matrix(w *worker, b *im2col.Band) cpe.Matrix {
	if e.direct {
		return cpe.Plain(tiling.From(b.X, b.Row*e.geo.Width), e.geo.Plane)
	}
	return cpe.Plain(tiling.From(w.columns, w.at*e.matrixSize()), b.Width(e.geo))
}

// matrixSize is the number of values of a column matrix.
func (e *kernel) matrixSize() int {
	return e.Shape.Depth() * e.plan.Band * e.geo.Width
}

// fill writes the column matrix of a band, unless there is none or it has been written.
func (e *kernel) fill(g *cpe.CoreGroup, w *worker, b *im2col.Band) error {
	if e.direct || w.filled {
		return nil
	}
	return e.geo.Spread(g, w.columns, b)
}

func (e *kernel) weights(group int) cpe.Matrix {
	s := &e.Shape
	return cpe.Plain(tiling.From(e.Args.W, group*s.Out/s.Group*s.Depth()), s.Depth())
}

func (e *kernel) forward(g *cpe.CoreGroup, w *worker, unit, group int) error {
	s := &e.Shape
	out := s.Out / s.Group
	b := e.band(unit, group)
	if err := e.fill(g, w, &b); err != nil {
		return err
	}
	w.a.Set(e.weights(group), false)
	w.b.Set(e.matrix(w, &b), false)
	w.job = gemm.Job{A: &w.a, B: &w.b, C: e.results(&b), M1: out, N1: b.Width(e.geo), K1: s.Depth(), BiasRows: true}
	if e.Args.Bias != nil {
		w.job.Bias = e.Args.Bias[group*out:]
	}
	if e.onMPE() {
		n, depth := b.Width(e.geo), s.Depth()
		return g.LeaveToMPE(2*float64(out*n*depth), 4*float64(depth*n+out*n+out*depth), func() error { return w.product.Run(g, &w.job) })
	}
	return w.product.Run(g, &w.job)
}

// chunk computes one partial sum over its units, in order.
func (e *kernel) chunk(g *cpe.CoreGroup, w *worker, chunk int) error {
	plan := &e.plan
	units := e.Shape.N * plan.bands()
	w.dw, w.add = e.Args.DW, true
	if e.Partials.Count() > 0 {
		w.dw, w.add = e.Partials.Of(chunk), false
	}
	return e.units(g, w, chunk*units/plan.Chunks, (chunk+1)*units/plan.Chunks)
}

func (e *kernel) weightGradient(g *cpe.CoreGroup, w *worker, unit, group int) error {
	s := &e.Shape
	out := s.Out / s.Group
	b := e.band(unit, group)
	if err := e.fill(g, w, &b); err != nil {
		return err
	}
	w.a.Set(e.results(&b), false)
	w.b.Set(e.matrix(w, &b), true)
	w.job = gemm.Job{
		A: &w.a, B: &w.b, C: cpe.Plain(tiling.From(w.dw, group*out*s.Depth()), s.Depth()),
		M1: out, N1: s.Depth(), K1: b.Width(e.geo), Accumulate: w.add,
	}
	return w.product.Run(g, &w.job)
}

func (e *kernel) inputGradient(g *cpe.CoreGroup, w *worker, image, group int) error {
	s, bands := &e.Shape, e.plan.bands()
	for k := range bands {
		b := e.band(image*bands+k, group)
		w.a.Set(e.weights(group), true)
		w.b.Set(e.results(&b), false)
		w.job = gemm.Job{A: &w.a, B: &w.b, C: e.matrix(w, &b), M1: s.Depth(), N1: b.Width(e.geo), K1: s.Out / s.Group}
		if err := w.product.Run(g, &w.job); err != nil {
			return err
		}
		if e.direct {
			continue
		}
		if err := e.geo.Fold(g, w.columns, &b, k == 0); err != nil {
			return err
		}
	}
	return nil
}
