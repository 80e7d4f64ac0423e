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
	conv      *Conv
	direction shape.Direction
	grid      tileGrid
	unturned  bool // kernels are as they are for the input gradient, too
	in, out   int  // channels of a group that are read and made
	read      squares
	write     tilesOut
	block     int // patches that are worked on at a time
	workers   []winogradWorker
}

// winogradStages returns the stages of a direction.
func winogradStages(c *Conv, d shape.Direction) []stage {
	s, form := c.shape, winogradForm(&c.shape, c.plan.Strategy[d])
	if d == shape.InputGradient {
		s = s.Mirrored()
	}
	spec := c.machine.Spec()
	v := &winogradConv{conv: c, direction: d, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newSubGrids(&spec, form, &s, out)
	v.read = squares{kind: vwinograd.Input, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1], h: s.In[0], w: s.In[1], channels: v.in, image: s.C * tiling.Size(s.In), blocks: c.blocked[0]}.folding(c.fold)
	v.write = tilesOut{h: out[0], w: out[1], image: s.Out * tiling.Size(out), blocks: c.blocked[1], pooled: c.pooled}
	if d == shape.InputGradient {
		v.read.blocks, v.write.blocks = v.write.blocks, v.read.blocks
		v.read.pooled, v.write.pooled = v.write.pooled, v.read.pooled
	}
	v.workers = make([]winogradWorker, spec.CoreGroups)
	if manyWeights(&s, &spec, form, d) || v.oneBlock(&spec) {
		c.does[d] = WinogradPanels
		return newWinogradPanels(v, &spec).stages()
	}
	c.does[d] = c.pooledSmall(WinogradTiles, WinogradTilesPooled)
	return newWinogradTiles(v, &spec)
}

// oneBlock reports whether the host's tiles are half a block of winogradPanels, which then maps no weight twice either, and so few that core
// groups would not get as many of them each: those of one image, or of some small ones. Outputs are more than a slice then.
func (v *winogradConv) oneBlock(spec *cpe.Spec) bool {
	return v.grid.tiles() <= panelTiles(spec, v.grid.form)/2 && v.out > winogradLanes
}

// Name returns "convolution" and the direction.
func (v *winogradConv) Name() string { return "convolution " + v.direction.String() }

// arrays are the images that are read and made, from a group's first channel on.
func (v *winogradConv) arrays(group int) (x, y []float32) {
	x, y = v.conv.args.x, v.conv.args.y
	if v.direction == shape.InputGradient {
		x, y = y, x
	}
	return v.read.of(x, group, v.conv.shape.Group), tiling.From(y, group*v.out*v.write.h*v.write.w)
}

// outputs are the images that are made, from a channel of a group on.
func (v *winogradConv) outputs(group, channel int) winogradOutputs {
	_, y := v.arrays(group)
	args, first, plane := &v.conv.args, group*v.out+channel, v.write.h*v.write.w
	return winogradOutputs{tiling.From(y, channel*plane), tiling.From(args.bias, first), tiling.From(args.above, first*plane), args.floor}
}
