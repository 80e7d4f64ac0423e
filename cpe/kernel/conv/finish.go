package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// finish calls Arrays.Finish for n blocks of channels of a span, starting with block first.
func (v *pointProduct) finish(y []float32, s pointSpan, first, n int) {
	plane := v.out.H * v.out.W
	for image := s.image; image < s.image+s.images; image++ {
		for block := first; block < first+n; block++ {
			v.args.Finish(y, ((image*v.out.blocks()+block)*plane+s.first)*shape.BlockLanes, s.n*shape.BlockLanes, block)
		}
	}
}
