package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Pooled is, on the host, a convolution and the maximum pooling of its results, in one pass over memory: of the results, and of their
// gradient, there is a band or a slice of channels of an image at a time, in a core's cache. It gives the bits of the two one after the other,
// but for the gradients of takenWeights, which adds up in another order. Convolutions are those of images of few channels, without a gradient of the images, or Winograd's of small images.
type Pooled struct {
	conv *Conv        // whose arrays, scratch and stages these are
	pool *pool.Kernel // nil if conv pools slices
}

// Pooled prepares the convolution together with the pooling p of its results; it is nil where they are better computed one by one. Images and
// outputs lie as the convolution's images and p's outputs do.
func (c *Conv) Pooled(p pool.Shape) (*Pooled, error) {
	switch {
	case c.pools():
		return newConvPool(c.machine, c.shape, p)
	case c.poolsSlices():
		return newSlicePool(c, p)
	}
	return nil, nil
}

// pools reports whether forward and the weights' gradient are, or a tuner knows that they should be, the implicit strategy's for images of
// few channels.
func (c *Conv) pools() bool {
	s := &c.shape
	few := c.machine.Native() && len(s.In) == 2 && s.C < manyChannels && byOffsets(s)
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
		st := c.found.chosen[d]
		if c.tuner != nil {
			st, _ = c.tuner.Choice(Task{Shape: *s, Direction: d, ResultsInBlocks: pooledInBlocks(s)})
		}
		few = few && st == shape.Implicit
	}
	return few
}

// pooledInBlocks reports whether results lie in blocks of channels for pooling, else by planes.
func pooledInBlocks(s *shape.Conv) bool { return s.Out%shape.BlockLanes == 0 }

// newConvPool prepares a convolution that pools and the pooling p of its results, whose layout it chooses. It is nil where kernels make results
// of one layout and pool those of another, and where what is pooled at once does not fit half of L2: then it would go through memory all the
// same.
func newConvPool(m *cpe.Machine, s shape.Conv, p pool.Shape) (*Pooled, error) {
	p.InBlocks = pooledInBlocks(&s)
	if p.Method != pool.Max || p.InBlocks == byPlanes(&s) || p.OutBlocks && !p.InBlocks || p.InBlocks && !p.Blockable() {
		return nil, nil
	}
	pooling, err := pool.New(m, p)
	if err != nil {
		return nil, err
	}
	c := &Pooled{&Conv{shape: s, machine: m, found: &considered{}, blocked: [2]bool{false, p.InBlocks}}, pooling}
	var fits bool
	if p.InBlocks {
		fits = c.poolBlocks()
	} else {
		fits = c.poolPlanes()
	}
	if !fits {
		return nil, nil
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

// Algorithm returns how a direction is computed, "" for the gradient of the images if PassesGrads is false.
func (c *Pooled) Algorithm(d shape.Direction) shape.Algorithm { return c.conv.Algorithm(d) }

// GradsAlgorithm returns how Grads computes those of the images and the weights at once, "" if it cannot.
func (c *Pooled) GradsAlgorithm() shape.Algorithm { return c.conv.GradsAlgorithm() }

// MaskWords returns how long the mask of all directions is.
func (c *Pooled) MaskWords() int {
	if c.pool == nil {
		return c.conv.pooled.maskWords()
	}
	return c.pool.MaskWords()
}

// Scratch returns how many values of scratch Forward takes, and gradients at most.
func (c *Pooled) Scratch() (forward, gradients int) {
	gradients = c.conv.Scratch(shape.WeightGradient)
	if c.PassesGrads() {
		gradients = max(gradients, c.conv.Scratch(shape.InputGradient), c.conv.GradsScratch())
	}
	return c.conv.Scratch(shape.Forward), gradients
}

// Turns is as Conv.Turns.
func (c *Pooled) Turns() (times, values int) {
	if c.pool == nil {
		return c.conv.Turns()
	}
	if s := c.pool.Shape(); s.InBlocks && !s.OutBlocks {
		return 2, 2 * s.N * s.C * s.OH * s.OW
	}
	return 0, 0
}

// Forward pools w * x + bias, of which bias may be nil, into y; mask is as Pool's.
func (c *Pooled) Forward(x, w, bias, y []float32, mask []int32) error {
	c.setMask(mask)
	return c.conv.run(shape.Forward, convArrays{x: x, w: w, bias: bias, y: y})
}

// Grads computes those gradients that are not nil from that of the outputs, DY, that of the images only if PassesGrads.
func (c *Pooled) Grads(g *Grads, mask []int32) error {
	c.setMask(mask)
	if g.DX != nil && g.DW != nil {
		return c.conv.Grads(g)
	}
	if g.DX != nil {
		if err := c.conv.InputGrad(g.DY, g.W, g.DX); err != nil {
			return err
		}
	}
	if g.DW == nil && g.DB == nil {
		return nil
	}
	return c.conv.run(shape.WeightGradient, convArrays{x: g.X, w: g.DW, bias: g.DB, y: g.DY, add: g.Add})
}

func (c *Pooled) setMask(mask []int32) {
	if c.pool == nil {
		c.conv.pooled.taken = pool.MaskBytes(mask)
		return
	}
	c.pool.SetMask(mask)
}

// poolPlanes prepares both directions where results lie by planes; false if there are no vectors that pool such, an image's results take more
// than half of L2, or outputs are so many that adding up what each took would be more work than adding up what all results meet.
func (c *Pooled) poolPlanes() bool {
	s, spec := c.pool.Shape(), c.conv.machine.Spec()
	v := newPlaneConv(c.conv)
	if !c.pool.ByPlanes() || v.bands > 1 || s.C*s.H*s.W > spec.LDMBytes/2/4 || 2*s.OH*s.OW > s.H*s.W {
		return false
	}
	v.pool = c.pool
	c.conv.does[shape.Forward], c.conv.does[shape.WeightGradient] = PlanesPooled, PlanesPooledWeights
	c.conv.stages[shape.Forward] = []stage{{v, 0}}
	c.conv.stages[shape.WeightGradient] = newTakenWeights(c.conv, c.pool).stages()
	return true
}
