package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// ImplicitInt8 is the algorithm implicit-int8.
var ImplicitInt8 = conv.Algorithm{
	Name: "implicit-int8", Doc: "kernel offsets are shifts of a padded copy of the images, rounded to 8 bits, sums in int32", Family: shape.Implicit,
	Types: op.Quantised, Directions: []shape.Direction{shape.Forward}, Supports: quantisable, Cost: quantisedCost,
	Steps: op.Only[shape.Conv](op.Floor, op.Post), Kernel: conv.Staged(newQuantised),
}

func quantisable(p *conv.Problem) error {
	return op.FirstReason(op.OnHost(p), quant.Fits(p.Shape.Depth()), op.Unless(p.AllPlanes(), "it reads and computes planes"))
}

// quantisedCost is that of products one after the other, in Go.
func quantisedCost(p *conv.Problem) float64 {
	const slower = 16
	s := &p.Shape
	quads := tiling.Blocks(s.C/s.Group, quant.Quad) * tiling.Size(s.Kernel)
	return slower * 2 * float64(s.N*tiling.Size(s.OutSize())) * float64(s.Out*quads*quant.Quad)
}

// quantised is a convolution of images that are copied, rounded, with padding and the channels of a pixel side by side. The products of a pixel and a kernel
// offset are then those of a row of bytes with a panel. Core groups share the copying by group and lines, then claim panels for some pixels.
type quantised struct {
	*conv.Task
	quantisedPlan
	kept op.Kept
}

// quantisedPlan is the blocking of quantised.
type quantisedPlan struct {
	panels quant.Panels
	padded []int // extents of the padded images
	out    []int // of the results
	taps   []int // the pixels from that of the first kernel offset to those of the others
	pixels int   // of the results of an image
	chunk  int   // pixels for which a panel is claimed
}

// quantisedPixels is the number of pixels for which a core group claims a panel.
const quantisedPixels = 64

func planQuantised(p *conv.Problem) quantisedPlan {
	s := &p.Shape
	taps := tiling.Size(s.Kernel)
	v := quantisedPlan{
		panels: quant.Panels{Groups: s.Group, Outputs: s.Out / s.Group, Channels: s.C / s.Group, Taps: taps, Output: s.C / s.Group * taps, Channel: taps, Tap: 1},
		out:    s.OutSize(), pixels: tiling.Size(s.OutSize()), taps: make([]int, taps),
	}
	for i, n := range s.In {
		v.padded = append(v.padded, n+2*s.Pad[i])
	}
	for t := range v.taps {
		v.taps[t] = v.place(t, s.Kernel, s.Dilation)
	}
	v.chunk = tiling.Even(v.pixels, quantisedPixels, 1)
	return v
}

// place returns the pixel of padded images at a number's position among extents, times steps.
func (v *quantisedPlan) place(number int, extents, steps []int) (at int) {
	distance := 1
	for i := len(extents) - 1; i >= 0; i-- {
		at += number % extents[i] * steps[i] * distance
		number, distance = number/extents[i], distance*v.padded[i]
	}
	return at
}

// String describes the plan.
func (v quantisedPlan) String() string {
	return fmt.Sprintf("%d panels of %d output channels for %d of %d pixels, %d blocks of %d channels", v.panels.Count(), quant.Width, v.chunk, v.pixels, v.panels.Quads(), quant.Quad)
}

func newQuantised(t *conv.Task) error {
	v := &quantised{Task: t, quantisedPlan: planQuantised(&t.Problem)}
	t.Plan, t.Kept = v.quantisedPlan, &v.kept
	v.kept.Restore = func(w, packed []float32) { v.panels.Restore(w, packed) }
	pack := conv.Stage{Program: &quantiseWeights{v}, Skipped: func() bool {
		v.panels.Scales = t.Args.Scales
		return v.kept.Fresh(t.Args.Fixed, v.panels.Places())
	}}
	t.Stages = []conv.Stage{pack, {Program: &quantiseImages{v}}, {Program: v}}
	t.Reserved = cpe.Scratch{Common: v.images() + v.panels.Places()}
	return nil
}

// image is the number of places of a group of an image, images that of all.
func (v *quantised) image() int { return tiling.Size(v.padded) * v.panels.Quads() }
func (v *quantised) images() int {
	return cpe.WholeLines(v.Shape.N * v.Shape.Group * v.image())
}

// packed returns the bytes of the images, and packed weights.
func (v *quantised) packed(g *cpe.CoreGroup) (images []uint8, weights []float32) {
	all := g.Common(v.images() + v.panels.Places())
	if v.Args.Fixed != 0 {
		return quant.BytesIn(all[:v.images()]), v.kept.Memory(g, v.Args.Fixed, v.panels.Places())
	}
	return quant.BytesIn(all[:v.images()]), all[v.images():]
}

// quantiseWeights is the stage that packs all weights.
type quantiseWeights struct{ *quantised }

// Name names the stage.
func (v *quantiseWeights) Name() string { return v.quantised.Name() + ", packing weights" }

// RunGroup packs a core group's share of the panels.
func (v *quantiseWeights) RunGroup(g *cpe.CoreGroup) error {
	_, weights := v.packed(g)
	lo, hi := g.Share(v.panels.Count())
	for i := lo; i < hi; i++ {
		v.panels.Pack(weights, v.Args.W, i)
	}
	return nil
}

// quantiseImages is the stage that rounds the images.
type quantiseImages struct{ *quantised }

// Name names the stage.
func (v *quantiseImages) Name() string { return v.quantised.Name() + ", rounding images" }

// RunGroup rounds a core group's share of the padded lines.
func (v *quantiseImages) RunGroup(g *cpe.CoreGroup) error {
	images, _ := v.packed(g)
	lines := tiling.Size(v.padded[:len(v.padded)-1])
	lo, hi := g.Share(v.Shape.N * v.Shape.Group * lines)
	for i := lo; i < hi; i++ {
		v.line(images, i/lines, i%lines)
	}
	return nil
}

// line rounds a padded line of a group of an image.
func (v *quantised) line(images []uint8, group, line int) {
	s, scales := &v.Shape, v.Args.Scales
	last, pixel := len(s.In)-1, quant.Quad*v.panels.Quads()
	to := images[(group*tiling.Size(v.padded[:last])+line)*v.padded[last]*pixel:][:v.padded[last]*pixel]
	for i := range to {
		to[i] = scales.Zero
	}
	from, distance := 0, 1
	for i := last - 1; i >= 0; i-- {
		at := line%v.padded[i] - s.Pad[i]
		if at < 0 || at >= s.In[i] {
			return
		}
		from += at * distance
		line, distance = line/v.padded[i], distance*s.In[i]
	}
	plane, width, channels := tiling.Size(s.In), s.In[last], s.C/s.Group
	for c := range channels {
		row := v.Args.X[(group*channels+c)*plane+from*width:][:width]
		at := to[s.Pad[last]*pixel+c:]
		for x, value := range row {
			at[x*pixel] = scales.Round(value)
		}
	}
}

// Name returns "convolution" and the direction.
func (v *quantised) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the panels that a core group claims, for some pixels of an image.
func (v *quantised) RunGroup(g *cpe.CoreGroup) error {
	images, weights := v.packed(g)
	chunks := tiling.Blocks(v.pixels, v.chunk)
	all := v.Shape.N * v.panels.Count() * chunks
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		first := i % chunks * v.chunk
		v.multiply(images, weights, i/chunks/v.panels.Count(), i/chunks%v.panels.Count(), first, min(v.chunk, v.pixels-first))
	}
	return nil
}

// multiply computes the results of panel p for some pixels of an image.
func (v *quantised) multiply(images []uint8, weights []float32, image, p, first, pixels int) {
	panel := v.panels.At(weights, p)
	var sums [quant.Width]int32
	var factors [quant.Width]float32
	panel.Factors(&factors, v.Args.Scales)
	row := quant.Quad * v.panels.Quads()
	x := images[(image*v.Shape.Group+p/v.panels.PerGroup())*quant.Quad*v.image():]
	y := v.Args.Y[(image*v.Shape.Out+panel.First)*v.pixels:]
	for i := first; i < first+pixels; i++ {
		panel.Start(&sums)
		at := v.place(i, v.out, v.Shape.Stride)
		for t, tap := range v.taps {
			quant.Dot(&sums, x[(at+tap)*row:][:row], panel.Weights[t*row*quant.Width:], panel.N)
		}
		for o := range panel.N {
			y[o*v.pixels+i] = float32(float32(sums[o]) * factors[o])
		}
	}
	for o := range panel.N {
		v.finish(y[o*v.pixels+first:][:pixels], (image*v.Shape.Out+panel.First+o)*v.pixels+first, panel.First+o)
	}
}

// finish adds the bias to some results of a channel, which begin at Args.Y[at], and does the steps.
func (v *quantised) finish(y []float32, at, channel int) {
	if v.Args.Bias != nil {
		for i := range y {
			y[i] += v.Args.Bias[channel]
		}
	}
	if v.Args.Floor {
		for i, value := range y {
			if value < 0 {
				y[i] = 0
			}
		}
	}
	if v.Args.Finish != nil {
		v.Args.Finish(v.Args.Y, at, len(y), channel)
	}
}
