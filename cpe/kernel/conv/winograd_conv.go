package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// winogradConv is what Winograd's convolutions on the host have in common forward, and for the input gradient, which is the convolution of the
// output's gradient with turned kernels. There are two, which differ in what core groups share: winogradTiles for few weights,
// winogradPanels for many, or few tiles.
type winogradConv struct {
	*winogradTask
	backward bool // kernels are read as the input gradient reads them: inputs and outputs exchanged
	grid     tileGrid
	unturned bool // kernels are as they are for the input gradient, too
	in, out  int  // channels of a group that are read and made
	read     squares
	write    tilesOut
	block    int // patches that are worked on at a time
	workers  []winogradWorker
}

// newWinogradConv cuts the work of a direction.
func newWinogradConv(t *winogradTask) *winogradConv {
	s, d, form, spec := t.Shape, t.Direction, t.form, *t.Spec
	if d == shape.InputGradient {
		s = s.Mirrored()
	}
	v := &winogradConv{winogradTask: t, backward: d == shape.InputGradient, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newSubGrids(&spec, form, &s, out)
	v.read = squares{kind: vwinograd.Input, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1], h: s.In[0], w: s.In[1], channels: v.in, image: s.C * tiling.Size(s.In), blocks: t.Images != Planes}.folding(t.fold)
	v.write = tilesOut{h: out[0], w: out[1], image: s.Out * tiling.Size(out), blocks: t.Results != Planes, pooled: t.pooled}
	if d == shape.InputGradient {
		v.read.blocks, v.write.blocks = v.write.blocks, v.read.blocks
		v.read.pooled, v.write.pooled = v.write.pooled, v.read.pooled
	}
	v.workers = make([]winogradWorker, spec.CoreGroups)
	return v
}

// byPanels reports whether winogradPanels computes the direction, not winogradTiles.
func (v *winogradConv) byPanels() bool {
	s := v.Shape
	return manyWeights(&s, v.Spec, v.form, v.Direction) || v.oneBlock(v.Spec)
}

// oneBlock reports whether the host's tiles are half a block of winogradPanels, which then maps no weight twice either, and so few that core
// groups would not get as many of them each: those of one image, or of some small ones. Outputs are more than a slice then.
func (v *winogradConv) oneBlock(spec *cpe.Spec) bool {
	return v.grid.tiles() <= panelTiles(spec, v.grid.form)/2 && v.out > winogradLanes
}

// Name returns "convolution" and the direction.
func (v *winogradConv) Name() string { return "convolution " + v.Direction.String() }

// arrays are the images that are read and made, from a group's first channel on.
func (v *winogradConv) arrays(group int) (x, y []float32) {
	x, y = v.args.through(v.Direction)
	return v.read.of(x, group, v.Shape.Group), tiling.From(y, group*v.out*v.write.h*v.write.w)
}

// outputs are the images that are made, from a channel of a group on.
func (v *winogradConv) outputs(group, channel int) winogradOutputs {
	_, y := v.arrays(group)
	args, first, plane := v.args, group*v.out+channel, v.write.h*v.write.w
	return winogradOutputs{tiling.From(y, channel*plane), tiling.From(args.Bias, first), tiling.From(args.Above, first*plane), args.Floor}
}
