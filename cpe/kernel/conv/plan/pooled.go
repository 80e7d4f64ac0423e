package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/pooled"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Pooled is a convolution on the host fused with max pooling of its results.
type Pooled struct {
	*pooled.Kernel
	conv *Conv // the unfused convolution of the same layouts
}

// Pooled prepares this convolution fused with the pooling p of its results. It returns nil if they are better computed separately. The
// layouts are those of the convolution's images and of p's outputs.
func (c *Conv) Pooled(p pool.Shape) (*Pooled, error) {
	types, bands := c.poolsBands()
	switch {
	case bands:
		problem := c.problem(shape.Forward)
		problem.Types = types
		k, err := pooled.NewBands(c.machine, problem, p)
		if k == nil || err != nil {
			return nil, err
		}
		return &Pooled{k, c}, nil
	case c.poolsSlices():
		return c.slicePool(p)
	}
	return nil, nil
}

// poolsBands reports whether the convolution can pool bands: forward and the weight gradient use vectors of output channels or of pixels, by
// the cost model's choice or, with a tuner, by its measurements. It also returns the types in which forward then computes.
func (c *Conv) poolsBands() (types op.Types, few bool) {
	s := &c.shape
	few = !c.machine.HasDMA() && len(s.In) == 2 && s.C < conv.ManyChannels && conv.FewChannels(s)
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
		p := c.problem(d)
		p.Images, p.Results = shape.Planes, shape.Planes
		found, err := c.choose(&p)
		if err != nil {
			return types, false
		}
		if named(c.forced[d], found) {
			return types, false // the algorithm is asked for alone
		}
		if d == shape.Forward {
			types = found.Algorithm.Types
		}
		family := found.Algorithm.Family
		if c.tuner != nil {
			family = shape.Auto
			if name, known := c.tuner.Choice(conv.Key{Shape: *s, Direction: d, ResultsInBlocks: pooled.InBlocks(s), Types: c.types}); known {
				if a, err := FindAlgorithm(name); err == nil {
					family = a.Family
				}
			}
		}
		few = few && family == shape.Implicit
	}
	return types, few
}

// poolsSlices reports whether results can be pooled by slices of channels: Winograd's small kernels compute both gradients at once, and the
// forward direction transforms whole images.
func (c *Conv) poolsSlices() bool {
	f := c.does[shape.Forward].doing()
	return f != nil && !f.planar && c.JoinsGrads() && !c.named() && winograd.TilesAreImages(f.kernel)
}

// slicePool prepares Pooled for a convolution for which poolsSlices holds.
func (c *Conv) slicePool(p pool.Shape) (*Pooled, error) {
	families := [3]shape.Strategy{}
	for d := range families {
		families[d] = c.does[d].doing().Algorithm.Family
	}
	problem := c.problem(shape.Forward)
	problem.Results = shape.InBlocks(p.OutBlocks)
	k, err := pooled.NewSlices(c.machine, problem, families, p)
	if k == nil || err != nil {
		return nil, err
	}
	again := *c
	if err := again.SetLayouts(problem.Images, problem.Results); err != nil {
		return nil, err
	}
	return &Pooled{k, &again}, nil
}

// Blocks reports whether images, and whether outputs, may be stored in blocks of channels.
func (c *Pooled) Blocks() (in, out bool) {
	if c.BySlices() {
		return c.conv.Blocks()
	}
	return false, c.OutBlocks()
}

// Algorithm names the algorithm of a direction. It is "" for the input gradient if PassesGrads is false.
func (c *Pooled) Algorithm(d shape.Direction) shape.Algorithm {
	if c.BySlices() {
		return shape.Algorithm(c.conv.does[d].now().Algorithm.Name) + "-pooled"
	}
	return c.BandAlgorithm(d)
}

// GradsAlgorithm names the algorithm that computes both gradients at once, "" if there is none.
func (c *Pooled) GradsAlgorithm() shape.Algorithm {
	if c.BySlices() {
		return c.conv.GradsAlgorithm() + "-pooled"
	}
	return ""
}

// Turns counts layout conversions; see Conv.Turns.
func (c *Pooled) Turns() (times, values int) {
	s := c.Pooling()
	switch {
	case c.BySlices():
		return c.conv.turns(s.C * s.OH * s.OW)
	case s.InBlocks && !s.OutBlocks:
		return 2, 2 * s.N * s.C * s.OH * s.OW
	}
	return 0, 0
}
