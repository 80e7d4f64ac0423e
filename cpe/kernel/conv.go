package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
)

// Conv convolves images of one shape, forward and for both gradients. Core groups share images and bands of output
// rows; for the weight gradient these are dealt to a fixed number of partial sums first.
type Conv struct {
	shape    ConvShape
	plan     ConvPlan
	machine  *cpe.Machine
	cols     columns
	workers  []convWorker // a core group each
	partials [][]float32
	sum      *Copy
	phase    convPhase

	x, w, bias, y []float32 // of the running phase; y is dy, x dx in the backward ones
	dw            []float32
}

type convPhase int

const (
	phaseForward convPhase = iota
	phaseWeights
	phaseInput
)

// convWorker is what a core group needs to itself.
type convWorker struct {
	columns                []float32
	forward, weight, input *product
	job                    productJob
}

// NewConv plans a convolution and prepares what running it needs.
func NewConv(m *cpe.Machine, s ConvShape, _ Strategy) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{shape: s, plan: PlanConv(&spec, m.Native(), s), machine: m}
	c.cols = newColumns(s, c.plan)
	width := c.plan.Band * c.plan.Width
	out := s.Out / s.Group
	c.workers = make([]convWorker, spec.CoreGroups)
	for i := range c.workers {
		w := &c.workers[i]
		if m.Values() && !c.plan.Direct {
			w.columns = make([]float32, c.plan.Depth*width)
		}
		var err error
		if w.forward, err = newProduct(m, GemmShape{M: out, N: width, K: c.plan.Depth}); err != nil {
			return nil, err
		}
		if w.weight, err = newProduct(m, GemmShape{M: out, N: c.plan.Depth, K: width, TransB: true}); err != nil {
			return nil, err
		}
		if w.input, err = newProduct(m, GemmShape{M: c.plan.Depth, N: width, K: out, TransA: true}); err != nil {
			return nil, err
		}
	}
	return c, c.makePartials()
}

func (c *Conv) makePartials() error {
	n := c.shape.Out * c.plan.Depth
	if c.plan.Chunks > 1 {
		c.partials = make([][]float32, c.plan.Chunks)
		for i := range c.partials {
			if c.machine.Values() {
				c.partials[i] = make([]float32, n)
			}
		}
	}
	var err error
	c.sum, err = NewCopy(c.machine, CopyShape{Outer: 1, Rows: 1, Cols: n, Add: true})
	return err
}

// Name returns "convolution" and the phase.
func (c *Conv) Name() string {
	return [...]string{"convolution forward", "convolution weight gradient", "convolution input gradient"}[c.phase]
}

// Plan returns how the convolution is cut.
func (c *Conv) Plan() ConvPlan { return c.plan }

// Forward computes y = w * x + bias; bias, one value an output channel, may be nil.
func (c *Conv) Forward(x, w, bias, y []float32) error {
	c.phase, c.x, c.w, c.bias, c.y = phaseForward, x, w, bias, y
	return c.machine.Run(c, 0)
}

// WeightGrad adds the gradient of the weights to dw.
func (c *Conv) WeightGrad(x, dy, dw []float32) error {
	c.phase, c.x, c.y, c.dw = phaseWeights, x, dy, dw
	if err := c.machine.Run(c, 0); err != nil {
		return err
	}
	for _, p := range c.partials {
		if err := c.sum.Run(dw, p); err != nil {
			return err
		}
	}
	return nil
}

// InputGrad computes the gradient of the images into dx.
func (c *Conv) InputGrad(dy, w, dx []float32) error {
	c.phase, c.y, c.w, c.x = phaseInput, dy, w, dx
	return c.machine.Run(c, 0)
}

// RunGroup does a core group's share of the running phase.
func (c *Conv) RunGroup(g *cpe.CoreGroup) error {
	switch c.phase {
	case phaseWeights:
		return c.weightGroup(g)
	case phaseInput:
		return c.inputGroup(g)
	}
	lo, hi := g.Share(c.shape.N * c.plan.bands())
	for unit := lo; unit < hi; unit++ {
		for group := range c.shape.Group {
			if err := c.forwardBand(g, unit, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// band is one band of output rows of one image, for one group of channels.
type band struct {
	image, row, rows int
	x, y             []float32 // the group's channels of the image, and of the result from the band's first row on
	width            int       // columns
}

func (c *Conv) band(unit, group int) band {
	p := &c.plan
	b := band{image: unit / p.bands(), row: unit % p.bands() * p.Band}
	b.rows = min(p.Band, p.Rows-b.row)
	b.width = b.rows * p.Width
	out, in := c.shape.Out/c.shape.Group, c.shape.C/c.shape.Group
	if c.x != nil {
		b.x = c.x[(b.image*c.shape.C+group*in)*c.cols.plane:][:in*c.cols.plane]
	}
	if c.y != nil {
		b.y = c.y[(b.image*c.shape.Out+group*out)*p.Rows*p.Width+b.row*p.Width:]
	}
	return b
}

// matrix returns the band's column matrix: made in the worker's buffer, or the image itself.
func (c *Conv) matrix(g *cpe.CoreGroup, w *convWorker, b *band) (matrix, error) {
	if c.plan.Direct {
		return matrix{b.x, c.cols.plane, false}.from(0, b.row*c.plan.Width), nil
	}
	return matrix{w.columns, b.width, false}, c.cols.im2col(g, w.columns, b)
}

func (c *Conv) weights(group int) matrix {
	m := matrix{c.w, c.plan.Depth, false}
	return m.from(group*c.shape.Out/c.shape.Group, 0)
}

func (c *Conv) forwardBand(g *cpe.CoreGroup, unit, group int) error {
	w := &c.workers[g.Index()]
	b := c.band(unit, group)
	cols, err := c.matrix(g, w, &b)
	if err != nil {
		return err
	}
	out := c.shape.Out / c.shape.Group
	w.job = productJob{
		a: c.weights(group), b: cols, c: b.y, ldc: c.plan.Rows * c.plan.Width, m: out, n: b.width, k: c.plan.Depth, biasRows: true,
	}
	if c.bias != nil {
		w.job.bias = c.bias[group*out:]
	}
	return w.forward.run(g, &w.job)
}

// weightGroup computes a core group's share of the partial sums, each over its units in order.
func (c *Conv) weightGroup(g *cpe.CoreGroup) error {
	chunks, units := c.plan.Chunks, c.shape.N*c.plan.bands()
	lo, hi := g.Share(chunks)
	for chunk := lo; chunk < hi; chunk++ {
		dw, first := c.dw, false
		if c.partials != nil {
			dw, first = c.partials[chunk], true
		}
		for unit := chunk * units / chunks; unit < (chunk+1)*units/chunks; unit++ {
			for group := range c.shape.Group {
				if err := c.weightBand(g, unit, group, dw, !first); err != nil {
					return err
				}
			}
			first = false
		}
	}
	return nil
}

func (c *Conv) weightBand(g *cpe.CoreGroup, unit, group int, dw []float32, accumulate bool) error {
	w := &c.workers[g.Index()]
	b := c.band(unit, group)
	cols, err := c.matrix(g, w, &b)
	if err != nil {
		return err
	}
	cols.trans = true
	out := c.shape.Out / c.shape.Group
	if dw != nil {
		dw = dw[group*out*c.plan.Depth:]
	}
	w.job = productJob{
		a: matrix{b.y, c.plan.Rows * c.plan.Width, false}, b: cols, c: dw, ldc: c.plan.Depth,
		m: out, n: c.plan.Depth, k: b.width, accumulate: accumulate,
	}
	return w.weight.run(g, &w.job)
}

// inputGroup computes whole images, since bands overlap in the input.
func (c *Conv) inputGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(c.shape.N)
	for image := lo; image < hi; image++ {
		for group := range c.shape.Group {
			for k := range c.plan.bands() {
				if err := c.inputBand(g, image*c.plan.bands()+k, group, k == 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *Conv) inputBand(g *cpe.CoreGroup, unit, group int, first bool) error {
	w := &c.workers[g.Index()]
	b := c.band(unit, group)
	out := c.shape.Out / c.shape.Group
	weights := c.weights(group)
	weights.trans = true
	w.job = productJob{
		a: weights, b: matrix{b.y, c.plan.Rows * c.plan.Width, false}, c: w.columns, ldc: b.width,
		m: c.plan.Depth, n: b.width, k: out,
	}
	if c.plan.Direct {
		w.job.c, w.job.ldc = matrix{b.x, c.cols.plane, false}.from(0, b.row*c.plan.Width).data, c.cols.plane
		return w.input.run(g, &w.job)
	}
	if err := w.input.run(g, &w.job); err != nil {
		return err
	}
	return c.cols.col2im(g, w.columns, &b, first)
}
