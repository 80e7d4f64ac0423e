package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// convolution is common to the host's two Winograd kernels for the forward direction and the input gradient. The input gradient is the
// convolution of DY with kernels rotated by 180 degrees. tilesKernel has core groups share tiles. panelsKernel has them share panels of
// output channels; it serves many weights, or few tiles.
type convolution struct {
	*task
	backward  bool // input and output channels of the weights are exchanged, as for the input gradient
	grid      tileGrid
	unrotated bool // kernels are not rotated, even if backward
	in, out   int  // channels of a group, of the source and of the destination
	read      squares
	write     tilesOut
	block     int // patches in a block
	workers   []worker
}

// newConvolution plans a direction.
func newConvolution(t *task) *convolution {
	s, d, form, spec := t.Shape, t.Direction, t.form, *t.Spec
	if d == shape.InputGradient {
		s = s.Mirrored()
	}
	v := &convolution{task: t, backward: d == shape.InputGradient, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newSubGrids(&spec, form, &s, out)
	v.read = squares{kind: vwinograd.Input, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1], h: s.In[0], w: s.In[1], channels: v.in, image: s.C * tiling.Size(s.In), blocks: t.Images != shape.Planes}.folding(t.fold)
	v.write = tilesOut{h: out[0], w: out[1], image: s.Out * tiling.Size(out), blocks: t.Results != shape.Planes, pooled: t.pooled}
	if d == shape.InputGradient {
		v.read.blocks, v.write.blocks = v.write.blocks, v.read.blocks
		v.read.pooled, v.write.pooled = v.write.pooled, v.read.pooled
	}
	v.workers = make([]worker, spec.CoreGroups)
	return v
}

// byPanels reports whether panelsKernel computes the direction, else tilesKernel.
func (v *convolution) byPanels() bool {
	s := v.Shape
	return manyWeights(&s, v.Spec, v.form, v.Direction) || v.oneBlock(v.Spec)
}

// oneBlock reports whether all tiles together are at most half a block of panelsKernel, as those of one image or a few small ones are, and
// there is more than a slice of output channels. panelsKernel then also transforms each weight only once, and tiles are too few to share
// evenly.
func (v *convolution) oneBlock(spec *cpe.Spec) bool {
	return v.grid.tiles() <= panelTiles(spec, v.grid.form)/2 && v.out > sliceLanes
}

// Name returns "convolution" and the direction.
func (v *convolution) Name() string { return "convolution " + v.Direction.String() }

// arrays returns the source and the destination, each from a group's first channel on.
func (v *convolution) arrays(group int) (x, y []float32) {
	x, y = v.Args.Through(v.Direction)
	return v.read.of(x, group, v.Shape.Group), tiling.From(y, group*v.out*v.write.h*v.write.w)
}

// outputs returns the destination from a channel of a group on, with its biases and its mask.
func (v *convolution) outputs(group, channel int) destination {
	_, y := v.Args.Through(v.Direction)
	args, first, plane := v.Args, group*v.out+channel, v.write.h*v.write.w
	return destination{
		y: tiling.From(y, first*plane), bias: tiling.From(args.Bias, first), above: tiling.From(args.Above, first*plane), floor: args.Floor,
		finish: args.Finish, all: y, at: first * plane, block: first / sliceLanes,
	}
}
