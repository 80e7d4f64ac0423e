package kernel

import "github.com/swcaffe/swcaffe/cpe"

// explicitConv is a convolution as im2col and one product a band of outputs of each image (swCaffe, section IV-B). Core
// groups share images and bands; the weight gradient deals these to a fixed number of partial sums first; the input gradient
// takes whole images, since bands overlap in the input.
type explicitConv struct {
	conv      *Conv
	direction Direction
	geo       *geometry
	direct    bool             // the image is its own column matrix
	workers   []explicitWorker // a core group each
}

// explicitWorker is what a core group needs to itself.
type explicitWorker struct {
	product *product
	job     productJob
	a, b    operand
	columns []float32
	dw      []float32         // the sum that a weight gradient goes to
	add     bool              // and whether it has begun
	unit    func(i int) error // does one image
	group   *cpe.CoreGroup
}

func newExplicitConv(c *Conv, d Direction) (*explicitConv, error) {
	s := &c.shape
	e := &explicitConv{conv: c, direction: d, geo: newGeometry(*s), direct: s.pointwise()}
	out, depth, width := s.Out/s.Group, s.depth(), c.plan.Band*e.geo.width
	shape := [...]GemmShape{{M: out, N: width, K: depth}, {M: out, N: depth, K: width, TransB: true, Accumulate: true}, {M: depth, N: width, K: out, TransA: true}}[d]
	products, err := newProducts(c.machine, shape)
	if err != nil {
		return nil, err
	}
	e.workers = make([]explicitWorker, len(products))
	for i, p := range products {
		e.workers[i].product, e.workers[i].unit = p, e.unit(&e.workers[i])
	}
	if !e.direct {
		c.machine.Reserve(0, depth*width)
	}
	return e, nil
}

// Name returns "convolution" and the direction.
func (e *explicitConv) Name() string { return "convolution " + e.direction.String() }

// RunGroup does a core group's share.
func (e *explicitConv) RunGroup(g *cpe.CoreGroup) error {
	w, plan := &e.workers[g.Index()], &e.conv.plan
	w.group = g
	if !e.direct {
		w.columns = g.Memory(e.conv.shape.depth() * plan.Band * e.geo.width)
	}
	bands := plan.bands()
	switch e.direction {
	case WeightGradient:
		lo, hi := g.Share(plan.Chunks)
		for chunk := lo; chunk < hi; chunk++ {
			if err := e.chunk(g, w, chunk); err != nil {
				return err
			}
		}
		return nil
	case InputGradient:
		lo, hi := g.Share(e.conv.shape.N)
		return g.Repeat(lo, hi, w.unit)
	}
	lo, hi := g.Share(e.conv.shape.N * bands)
	if bands == 1 {
		return g.Repeat(lo, hi, w.unit)
	}
	for unit := lo; unit < hi; unit++ {
		if err := e.forward(g, w, unit); err != nil {
			return err
		}
	}
	return nil
}

// unit returns the function that does one image on a worker, made once so that running allocates nothing.
func (e *explicitConv) unit(w *explicitWorker) func(i int) error {
	work := [...]func(*cpe.CoreGroup, *explicitWorker, int) error{e.forward, e.weightGradient, e.inputGradient}[e.direction]
	return func(i int) error { return work(w.group, w, i) }
}

// band returns a band's place: unit counts bands of images.
func (e *explicitConv) band(unit, group int) band {
	s, p, g := &e.conv.shape, &e.conv.plan, e.geo
	image := unit / p.bands()
	b := band{row: unit % p.bands() * p.Band}
	b.rows = min(p.Band, p.Rows-b.row)
	b.x = from(e.conv.args.x, (image*s.C+group*g.channels)*g.plane)
	b.y = from(e.conv.args.y, (image*s.Out+group*(s.Out/s.Group))*g.positions()+b.row*g.width)
	return b
}

// results is the band's part of the outputs.
func (e *explicitConv) results(b *band) cpe.Matrix { return cpe.Plain(b.y, e.geo.positions()) }

// matrix returns the band's column matrix, to be read or written: the worker's buffer, or the image itself.
func (e *explicitConv) matrix(w *explicitWorker, b *band) cpe.Matrix {
	if e.direct {
		return cpe.Plain(from(b.x, b.row*e.geo.width), e.geo.plane)
	}
	return cpe.Plain(w.columns, b.width(e.geo))
}

// fill writes the column matrix of a band where one is needed.
func (e *explicitConv) fill(g *cpe.CoreGroup, w *explicitWorker, b *band) error {
	if e.direct {
		return nil
	}
	return e.geo.im2col(g, w.columns, b)
}

func (e *explicitConv) weights(group int) cpe.Matrix {
	s := &e.conv.shape
	return cpe.Plain(from(e.conv.args.w, group*s.Out/s.Group*s.depth()), s.depth())
}

func (e *explicitConv) forward(g *cpe.CoreGroup, w *explicitWorker, unit int) error {
	s := &e.conv.shape
	out := s.Out / s.Group
	for group := range s.Group {
		b := e.band(unit, group)
		if err := e.fill(g, w, &b); err != nil {
			return err
		}
		w.a.set(e.weights(group), false)
		w.b.set(e.matrix(w, &b), false)
		w.job = productJob{a: &w.a, b: &w.b, c: e.results(&b), m1: out, n1: b.width(e.geo), k1: s.depth(), biasRows: true}
		if e.conv.args.bias != nil {
			w.job.bias = e.conv.args.bias[group*out:]
		}
		if err := w.product.run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// chunk computes one partial sum over its units in order.
func (e *explicitConv) chunk(g *cpe.CoreGroup, w *explicitWorker, chunk int) error {
	plan := &e.conv.plan
	units := e.conv.shape.N * plan.bands()
	first, last := chunk*units/plan.Chunks, (chunk+1)*units/plan.Chunks
	w.dw, w.add = e.conv.args.w, true
	if e.conv.partials != nil {
		w.dw, w.add = e.conv.partials[chunk], false
		if err := e.weightGradient(g, w, first); err != nil {
			return err
		}
		first, w.add = first+1, true
	}
	if plan.bands() == 1 {
		return g.Repeat(first, last, w.unit)
	}
	for unit := first; unit < last; unit++ {
		if err := e.weightGradient(g, w, unit); err != nil {
			return err
		}
	}
	return nil
}

func (e *explicitConv) weightGradient(g *cpe.CoreGroup, w *explicitWorker, unit int) error {
	s := &e.conv.shape
	out := s.Out / s.Group
	for group := range s.Group {
		b := e.band(unit, group)
		if err := e.fill(g, w, &b); err != nil {
			return err
		}
		w.a.set(e.results(&b), false)
		w.b.set(e.matrix(w, &b), true)
		w.job = productJob{
			a: &w.a, b: &w.b, c: cpe.Plain(from(w.dw, group*out*s.depth()), s.depth()),
			m1: out, n1: s.depth(), k1: b.width(e.geo), accumulate: w.add,
		}
		if err := w.product.run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

func (e *explicitConv) inputGradient(g *cpe.CoreGroup, w *explicitWorker, image int) error {
	s, bands := &e.conv.shape, e.conv.plan.bands()
	for group := range s.Group {
		for k := range bands {
			b := e.band(image*bands+k, group)
			w.a.set(e.weights(group), true)
			w.b.set(e.results(&b), false)
			w.job = productJob{a: &w.a, b: &w.b, c: e.matrix(w, &b), m1: s.depth(), n1: b.width(e.geo), k1: s.Out / s.Group}
			if err := w.product.run(g, &w.job); err != nil {
				return err
			}
			if e.direct {
				continue
			}
			if err := e.geo.col2im(g, w.columns, &b, k == 0); err != nil {
				return err
			}
		}
	}
	return nil
}
