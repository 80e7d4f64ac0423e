package kernels

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// convForm is a convolution and the method to call: Forward, ForwardReLU, ForwardFinish, WeightGradTo, InputGrad, InputGradWhere,
// AddInputGrad, Grads, or Pooled's Forward and Grads. If a convolution does not support the method, the plain one is called, as
// in layers.
type convForm struct {
	N                             int   `least:"1"`
	C, Out                        int   `least:"1"`
	Group                         int   `least:"1"`
	In, Kernel, Stride            []int `least:"1"`
	Pad                           []int
	Dilation                      []int  `least:"1"`
	Strategy                      string `of:"auto,explicit,implicit,winograd2,winograd4,winograd5,winograd"`
	Entry                         string `of:"forward,relu,finish,weights,weightsto,input,where,addinput,grads,pooled"`
	Bias, Add                     bool
	InBlocks, OutBlocks           bool // use blocked layouts if the convolution supports them
	Thin                          bool // store only the pixels at the strides
	Stored                        bool // store images and results in blocks rounded, if the convolution supports that
	ForShape                      bool // planned for another shape first
	Infers                        bool // planned for a net that runs forward alone
	Kept                          bool // the weights are fixed: the kernel may keep what it makes of them
	PoolK, PoolS                  int  `least:"1"`
	PoolP                         int
	PoolFloor, PoolReLU, PoolPack bool
	common
}

// axes returns the ways to remove one axis.
func (c *convForm) axes() (list []func(form)) {
	for i := range c.In {
		list = append(list, func(s form) {
			c := s.(*convForm)
			for _, p := range []*[]int{&c.In, &c.Kernel, &c.Stride, &c.Pad, &c.Dilation} {
				*p = slices.Delete(slices.Clone(*p), i, i+1)
			}
		})
	}
	return list
}

// tidy is false for malformed problems: without axes, or with lists of different lengths. (Invalid shapes are well-formed.)
func (c *convForm) tidy() bool {
	n := len(c.In)
	return n > 0 && len(c.Kernel) == n && len(c.Stride) == n && len(c.Pad) == n && len(c.Dilation) == n
}

func (c *convForm) shape() shape.Conv {
	return shape.Conv{N: c.N, C: c.C, Out: c.Out, Group: c.Group, In: c.In, Kernel: c.Kernel, Stride: c.Stride, Pad: c.Pad, Dilation: c.Dilation}
}

// results returns the extents of the result planes; ok is false for an invalid shape.
func (c *convForm) results() (out []int, ok bool) {
	if c.N < 0 || c.C < 1 || c.Out < 1 || c.Group < 1 || c.C%c.Group != 0 || c.Out%c.Group != 0 {
		return nil, false
	}
	for i, n := range c.In {
		if n < 1 || c.Kernel[i] < 1 || c.Stride[i] < 1 || c.Pad[i] < 0 || c.Dilation[i] < 1 {
			return nil, false
		}
		room := n + 2*c.Pad[i] - (c.Dilation[i]*(c.Kernel[i]-1) + 1)
		if room < 0 {
			return nil, false
		}
		out = append(out, room/c.Stride[i]+1)
	}
	return out, true
}

func (c *convForm) valid() bool {
	_, ok := c.results()
	return ok
}

// volume is the product of extents.
func volume(extents []int) int {
	n := 1
	for _, e := range extents {
		n *= e
	}
	return n
}

// infers reports whether the convolution is planned for forward alone, integers whether it then computes in 8 bits.
func (c *convForm) infers() bool {
	return c.Infers && slices.Contains([]string{"forward", "relu", "finish"}, c.Entry)
}
func (c *convForm) integers() bool { return c.infers() && c.bytes() }

// plan makes the convolution of the problem. It returns the layouts of images and results.
func (c *convForm) plan(m *cpe.Machine) (k *plan.Conv, images, results shape.Layout, err error) {
	st, err := shape.ParseStrategy(c.Strategy)
	if err != nil {
		return nil, 0, 0, err
	}
	s := c.shape()
	other := s
	if c.ForShape {
		other.N++
	}
	spec := m.Spec()
	types, scales := op.Permitted(&spec), scales(c.Out)
	if c.integers() {
		types = op.Quantised
	}
	if k, err = plan.NewIn(m, other, op.Force{Family: st}, types, scales); err != nil {
		return nil, 0, 0, err
	}
	in, out := k.Blocks()
	images, results = shape.InBlocks(in && c.InBlocks), shape.InBlocks(out && c.OutBlocks)
	var only []shape.Direction
	if c.infers() {
		only = []shape.Direction{shape.Forward}
	}
	if err = k.Arrange(images, results, only); err != nil {
		return nil, 0, 0, err
	}
	if h, w := k.Strides(); c.Thin && images == shape.Blocks && h*w > 1 {
		images = shape.FrontBlocks
	}
	if c.Stored && c.infers() {
		in, out := k.Rounds()
		if in && images == shape.Blocks {
			images = shape.RoundedBlocks
		}
		if out {
			results = shape.RoundedBlocks
		}
	}
	if err = k.Arrange(images, results, only); err != nil {
		return nil, 0, 0, err
	}
	if c.ForShape {
		k, err = k.ForShape(s)
	}
	return k, images, results, err
}
