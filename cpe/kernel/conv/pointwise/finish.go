package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// finish calls Arrays.Finish for n blocks of channels of a span, starting with block first.
func (v *pointProduct) finish(y []float32, s tensor.Span, first, n int) {
	plane := v.out.H * v.out.W
	for image := s.Image; image < s.Image+s.Images; image++ {
		for block := first; block < first+n; block++ {
			v.Args.Finish(y, ((image*v.out.Blocks()+block)*plane+s.First)*shape.BlockLanes, s.N*shape.BlockLanes, block)
		}
	}
}
