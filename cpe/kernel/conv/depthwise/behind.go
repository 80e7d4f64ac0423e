package depthwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/pointwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Behind computes a 1x1 convolution and the depthwise convolution behind it, in a net for inference. The 1x1 convolution makes the rows that a band needs, of two
// blocks of channels, and they stay in L2 until the depthwise convolution has read them: images between the two are never in memory.
type Behind struct {
	bands bandsKernel
	first *conv.Task
	from  *pointwise.Pieces
	jump  int // values of a block of channels of the rows of a band
	chunk int // images of a unit of work, for which a panel of weights stays in L2
}

// chunkPixels is the least number of pixels of a unit of work, if there are so many for all cores.
const chunkPixels = 1024

// NewBehind prepares the two. All images are in blocks of channels, and the depthwise convolution has one output channel for each of its channels.
func NewBehind(m *cpe.Machine, first, second *conv.Problem) *Behind {
	t := conv.NewTask(m, first)
	v := &Behind{bands: bandsKernel{Task: conv.NewTask(m, second), bandsPlan: planBands(second)}, first: t, from: pointwise.NewPieces(t)}
	b := &v.bands
	_, width := tiling.Two(second.Shape.In, 1)
	line := shape.BlockLanes * (3*b.rows.Step*max(width, b.cols.Extent) + b.rows.Results*b.dst.Cols())
	b.cut(max(1, second.Spec.LDMBytes/2/4/line))
	v.jump = b.rows.Lines(b.units) * width * shape.BlockLanes
	b.ready(2)
	v.chunk = max(1, min(chunkPixels/b.images.Pixels(), tiling.Blocks(second.Shape.N, second.Spec.CoreGroups)))
	common, group := v.from.Scratch()
	b.Reserved = cpe.Scratch{Common: common, Group: group + 2*v.jump + b.sources() + 4*b.weights()}
	b.Stages = []conv.Stage{v.from.Packing(), {Program: v}}
	return v
}

// Keeper is that of the 1x1 convolution's weights.
func (v *Behind) Keeper() op.Keeper { return v.first.Kept }

// Scratch returns the number of values of scratch memory that Run uses.
func (v *Behind) Scratch() int { return v.bands.Scratch() }

// Run computes the two. Y of the first is not used, nor X of the second.
func (v *Behind) Run(first, second conv.Arrays) error {
	v.first.Args = first
	b := &v.bands
	b.Machine.TakeScratch(b.Reserved)
	b.Args = second
	if err := v.first.RunStage(&b.Stages[0]); err != nil {
		return err
	}
	return b.RunStage(&b.Stages[1])
}

// Name names the two.
func (v *Behind) Name() string { return "convolutions, 1x1 and depthwise" }

// RunGroup computes the bands of panels that a core group claims.
func (v *Behind) RunGroup(g *cpe.CoreGroup) error {
	b := &v.bands
	_, own := v.from.Scratch()
	memory := g.Memory(b.Reserved.Group)
	v.from.Start(g, memory[:own])
	memory = memory[own:]
	rows, memory := memory[:2*v.jump], memory[2*v.jump:]
	lines, weights := memory[:b.sources()], memory[b.sources():]
	clear(lines)
	w := b.workers[2*g.Index():][:2] // of both blocks of a panel
	panels, width := tiling.Blocks(b.dst.Blocks(), 2), v.jump/(b.rows.Lines(b.units)*shape.BlockLanes)
	all := tiling.Blocks(b.Shape.N, v.chunk) * panels * b.bands
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		first, panel, unit := i/(panels*b.bands)*v.chunk, i/b.bands%panels, i%b.bands*b.units
		units := min(b.units, b.rows.Units-unit)
		line, n := unit*b.rows.Step, b.rows.Lines(units)
		top, bottom := b.source.Rows(line, n)
		blocks := min(2, b.dst.Blocks()-2*panel)
		for k := range blocks {
			b.load(&w[k], weights[2*k*b.weights():], 2*panel+k)
		}
		at := tensor.Span{Images: 1, First: unit * b.rows.Results * b.dst.Cols(), N: min(units*b.rows.Results, b.dst.Rows()-unit*b.rows.Results) * b.dst.Cols()}
		for at.Image = first; at.Image < min(first+v.chunk, b.Shape.N); at.Image++ {
			v.from.Make(g, at.Image, panel, top*width, (bottom-top)*width, rows, v.jump)
			for k := range blocks {
				b.source.FillFrom(lines, rows[k*v.jump:], bottom-top, line, n, top)
				b.convolve(&w[k], 0, lines, weights[2*k*b.weights():], b.dst.At(b.Args.Y, at, 2*panel+k, 1, nil).Data[:at.N*shape.BlockLanes])
				if b.Args.Finish != nil {
					b.dst.Finish(b.Args.Finish, b.Args.Y, at, 2*panel+k, 1)
				}
			}
		}
	}
	return nil
}
