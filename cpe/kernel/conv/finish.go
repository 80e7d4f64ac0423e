package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Finish is what is done to results in blocks of channels as soon as they are made, while a core's cache has them: to pixels that stand in
// y[at:at+n], those of a block of channels of an image. Core groups call it side by side, for every pixel of every block once.
type Finish func(y []float32, at, n, block int)

// Finishes reports whether ForwardFinish can be called: kernels are pointwise, and results, in blocks of channels, are written once.
func (c *Conv) Finishes() bool {
	if c.tuned[shape.Forward] != nil || c.covers(shape.Forward) || c.isThinned(shape.Forward) || c.folded[shape.Forward] != nil {
		return false
	}
	stages := c.stages[shape.Forward]
	if len(stages) == 0 {
		return false
	}
	p, ok := stages[len(stages)-1].Program.(*pointProduct)
	return ok && p.out.direct()
}

// ForwardFinish computes y = w * x + bias and finishes it.
func (c *Conv) ForwardFinish(x, w, bias, y []float32, finish Finish) error {
	return c.run(shape.Forward, convArrays{x: x, w: w, bias: bias, y: y, finish: finish})
}

// finish finishes n blocks of results of a span, from the first on.
func (v *pointProduct) finish(y []float32, s pointSpan, first, n int) {
	plane := v.out.H * v.out.W
	for image := s.image; image < s.image+s.images; image++ {
		for block := first; block < first+n; block++ {
			v.conv.args.finish(y, ((image*v.out.blocks()+block)*plane+s.first)*shape.BlockLanes, s.n*shape.BlockLanes, block)
		}
	}
}
