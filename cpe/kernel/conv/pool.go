package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// ConvPool is, on the host, a convolution and the maximum pooling of its results, in one pass over memory: of the results, and of their
// gradient, there is a band or a slice of channels of an image at a time, in a core's cache. It gives the bits of the two one after the other,
// but for the gradients of takenWeights, which adds up in another order. Convolutions are those of images of few channels, without a gradient of
// the images, or Winograd's of small images.
type Pooled struct {
	conv *Conv           // that is not pooled, of the same layouts
	does [4]*task        // by Direction
	pool *pool.Kernel    // takes maxima of bands, nil if slices are pooled
	each *pooledSlices   // pools slices, nil if bands are
	name shape.Algorithm // where bands are
}

// Pooled prepares the convolution together with the pooling p of its results; it is nil where they are better computed one by one. Images and
// outputs lie as the convolution's images and p's outputs do.
func (c *Conv) Pooled(p pool.Shape) (*Pooled, error) {
	switch {
	case c.pools():
		return newConvPool(c, p)
	case c.poolsSlices():
		return newSlicePool(c, p)
	}
	return nil, nil
}

// pools reports whether forward and the weights' gradient are, or a tuner knows that they should be, those of vectors of output channels or of
// pixels for images of few channels.
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

// pooledInBlocks reports whether results lie in blocks of channels for pooling, else by planes.
func pooledInBlocks(s *shape.Conv) bool { return s.Out%shape.BlockLanes == 0 }

// newConvPool prepares a convolution that pools and the pooling p of its results, whose layout it chooses. It is nil where kernels make results
// of one layout and pool those of another, and where what is pooled at once does not fit half of L2: then it would go through memory all the
// same.
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

// Blocks reports whether images, and outputs, may lie in blocks of channels.
func (c *Pooled) Blocks() (in, out bool) {
	if c.pool != nil {
		return false, c.pool.Blocked()
	}
	return c.conv.Blocks()
}

// PassesGrads reports whether Grads can compute the gradient of the images.
func (c *Pooled) PassesGrads() bool { return c.pool == nil }

// shape.Algorithm returns how a direction is computed, "" for the gradient of the images if PassesGrads is false.
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

// GradsAlgorithm returns how Grads computes those of the images and the weights at once, "" if it cannot.
func (c *Pooled) GradsAlgorithm() shape.Algorithm {
	if c.pool == nil {
		return c.conv.GradsAlgorithm() + "-pooled"
	}
	return ""
}

// MaskWords returns how long the mask of all directions is.
func (c *Pooled) MaskWords() int {
	if c.pool == nil {
		return c.each.maskWords()
	}
	return c.pool.MaskWords()
}

// Scratch returns how many values of scratch Forward takes, and gradients at most.
func (c *Pooled) Scratch() (forward, gradients int) {
	for _, d := range []shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients} {
		if c.does[d] != nil {
			gradients = max(gradients, c.does[d].Scratch())
		}
	}
	return c.does[shape.Forward].Scratch(), gradients
}

// Turns is as Conv.Turns.
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

// Forward pools w * x + bias, of which bias may be nil, into y; mask is as Pool's.
func (c *Pooled) Forward(x, w, bias, y []float32, mask []int32) error {
	c.setMask(mask)
	return c.does[shape.Forward].Run(Arrays{X: x, W: w, Bias: bias, Y: y})
}

// Grads computes those gradients that are not nil from that of the outputs, DY, that of the images only if PassesGrads.
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

// poolPlanes prepares both directions where results lie by planes; false if there are no vectors that pool such, an image's results take more
// than half of L2, or outputs are so many that adding up what each took would be more work than adding up what all results meet.
func (c *Pooled) poolPlanes() (bool, error) {
	s, spec := c.pool.Shape(), c.conv.machine.Spec()
	v := newPlaneConv(c.does[shape.Forward])
	if !c.pool.ByPlanes() || v.bands > 1 || s.C*s.H*s.W > spec.LDMBytes/2/4 || 2*s.OH*s.OW > s.H*s.W {
		return false, nil
	}
	v.pool, c.name = c.pool, "planes-pooled"
	return true, newTakenWeights(c.does[shape.WeightGradient], c.pool)
}
