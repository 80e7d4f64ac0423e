package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Pooled is a convolution on the host fused with max pooling of its results. Results are the convolution's; outputs are the pooled values.
// The results, and their gradient, never go to memory as a whole: only a band of rows, or a slice of 16 channels of one image, exists at a
// time, in a core's cache. Everything has the bits of a convolution followed by pooling, except the gradients of takenWeights, which sum in
// another order.
//
// Two kinds of convolutions can be fused: those of images of few channels, without an input gradient; and Winograd's of small images.
type Pooled struct {
	conv *Conv           // the unfused convolution of the same layouts
	does [4]*task        // kernels by Direction
	pool *pool.Kernel    // pools bands; nil if slices are pooled
	each *pooledSlices   // pools slices; nil if bands are pooled
	name shape.Algorithm // name of the algorithm that pools bands
}

// Pooled prepares this convolution fused with the pooling p of its results. It returns nil if they are better computed separately. The
// layouts are those of the convolution's images and of p's outputs.
func (c *Conv) Pooled(p pool.Shape) (*Pooled, error) {
	switch {
	case c.pools():
		return newConvPool(c, p)
	case c.poolsSlices():
		return newSlicePool(c, p)
	}
	return nil, nil
}

// pools reports whether the convolution can pool bands: forward and the weight gradient use vectors of output channels or of pixels, by the
// cost model's choice or, with a tuner, by its measurements.
func (c *Conv) pools() bool {
	s := &c.shape
	few := c.machine.Native() && len(s.In) == 2 && s.C < manyChannels && byOffsets(s)
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
		p := c.problem(d)
		p.Images, p.Results = Planes, Planes
		found, err := c.choose(&p)
		if err != nil {
			return false
		}
		if c.forced[d].named(found) {
			return false // the algorithm is asked for alone
		}
		family := found.algorithm.Family
		if c.tuner != nil {
			family = shape.Auto
			if name, known := c.tuner.Choice(Task{Shape: *s, Direction: d, ResultsInBlocks: pooledInBlocks(s)}); known {
				if a, err := FindAlgorithm(name); err == nil {
					family = a.Family
				}
			}
		}
		few = few && family == shape.Implicit
	}
	return few
}

// pooledInBlocks reports whether results before pooling are stored in blocks of channels, else by planes.
func pooledInBlocks(s *shape.Conv) bool { return s.Out%shape.BlockLanes == 0 }

// newConvPool prepares a convolution of few channels fused with the pooling p, and chooses the layout of the results. It returns nil if the
// convolution and the pooling have no kernels for a common layout, or if one step of pooling needs more than half of L2: results would then
// go through memory anyway.
func newConvPool(conv *Conv, p pool.Shape) (*Pooled, error) {
	s := &conv.shape
	p.InBlocks = pooledInBlocks(s)
	if p.Method != pool.Max || p.InBlocks == byPlanes(s) || p.OutBlocks && !p.InBlocks || p.InBlocks && !p.Blockable() {
		return nil, nil
	}
	pool, err := pool.New(conv.machine, p)
	if err != nil {
		return nil, err
	}
	c := &Pooled{conv: conv, pool: pool}
	results := Planes
	if p.InBlocks {
		results = Blocks
	}
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
		problem := conv.problem(d)
		problem.Images, problem.Results = Planes, results
		c.does[d] = &task{Problem: problem, machine: conv.machine}
	}
	var fits bool
	if p.InBlocks {
		fits, err = c.poolBlocks()
	} else {
		fits, err = c.poolPlanes()
	}
	if err != nil || !fits {
		return nil, err
	}
	return c, nil
}

// Blocks reports whether images, and whether outputs, may be stored in blocks of channels.
func (c *Pooled) Blocks() (in, out bool) {
	if c.pool != nil {
		return false, c.pool.Blocked()
	}
	return c.conv.Blocks()
}

// PassesGrads reports whether Grads can compute the input gradient.
func (c *Pooled) PassesGrads() bool { return c.pool == nil }

// Algorithm names the algorithm of a direction. It is "" for the input gradient if PassesGrads is false.
func (c *Pooled) Algorithm(d shape.Direction) shape.Algorithm {
	switch {
	case c.pool == nil:
		return shape.Algorithm(c.conv.does[d].now().algorithm.Name) + "-pooled"
	case d == shape.Forward:
		return c.name
	case d == shape.WeightGradient:
		return c.name + "-weights"
	}
	return ""
}

// GradsAlgorithm names the algorithm that computes both gradients at once, "" if there is none.
func (c *Pooled) GradsAlgorithm() shape.Algorithm {
	if c.pool == nil {
		return c.conv.GradsAlgorithm() + "-pooled"
	}
	return ""
}

// MaskWords returns the length of the mask that all directions share.
func (c *Pooled) MaskWords() int {
	if c.pool == nil {
		return c.each.maskWords()
	}
	return c.pool.MaskWords()
}

// Scratch returns the numbers of values of scratch memory that Forward, and that Grads, use at most.
func (c *Pooled) Scratch() (forward, gradients int) {
	for _, d := range []shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients} {
		if c.does[d] != nil {
			gradients = max(gradients, c.does[d].Scratch())
		}
	}
	return c.does[shape.Forward].Scratch(), gradients
}

// Turns counts layout conversions; see Conv.Turns.
func (c *Pooled) Turns() (times, values int) {
	if c.pool == nil {
		s := &c.each.shape
		return c.conv.turns(s.C * s.OH * s.OW)
	}
	if s := c.pool.Shape(); s.InBlocks && !s.OutBlocks {
		return 2, 2 * s.N * s.C * s.OH * s.OW
	}
	return 0, 0
}

// Forward computes y, the pooled results of w * x + bias. bias may be nil. The mask records the places of the maxima, as pool.Kernel's does.
func (c *Pooled) Forward(x, w, bias, y []float32, mask []int32) error {
	c.setMask(mask)
	return c.does[shape.Forward].Run(Arrays{X: x, W: w, Bias: bias, Y: y})
}

// Grads computes those of the gradients DX, DW and DB that are not nil from DY, the gradient of the outputs. DX must be nil unless
// PassesGrads.
func (c *Pooled) Grads(a *Arrays, mask []int32) error {
	c.setMask(mask)
	switch weights := a.DW != nil || a.DB != nil; {
	case a.DX != nil && a.DW != nil:
		return c.does[shape.BothGradients].Run(*a)
	case a.DX != nil:
		images := Arrays{W: a.W, DX: a.DX, DY: a.DY}
		if err := c.does[shape.InputGradient].Run(images); err != nil || !weights {
			return err
		}
	case !weights:
		return nil
	}
	return c.does[shape.WeightGradient].Run(Arrays{X: a.X, DW: a.DW, DB: a.DB, DY: a.DY, Add: a.Add})
}

func (c *Pooled) setMask(mask []int32) {
	if c.pool == nil {
		c.each.taken = pool.MaskBytes(mask)
		return
	}
	c.pool.SetMask(mask)
}

// poolPlanes prepares both directions for results by planes. It returns false if no kernel pools planes in vectors, if the results of an
// image take more than half of L2, or if outputs are more than half as many as results: summing over outputs would then save nothing.
func (c *Pooled) poolPlanes() (bool, error) {
	s, spec := c.pool.Shape(), c.conv.machine.Spec()
	v := newPlaneConv(c.does[shape.Forward])
	if !c.pool.ByPlanes() || v.bands > 1 || s.C*s.H*s.W > spec.LDMBytes/2/4 || 2*s.OH*s.OW > s.H*s.W {
		return false, nil
	}
	v.pool, c.name = c.pool, "planes-pooled"
	return true, newTakenWeights(c.does[shape.WeightGradient], c.pool)
}
