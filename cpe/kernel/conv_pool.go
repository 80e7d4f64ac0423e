package kernel

import "github.com/swcaffe/swcaffe/cpe"

// ConvPool is, on the host, a convolution of images of few channels and the maximum pooling of its results, in one pass over memory: of the
// results, and of their gradient, there is a band at a time, in a core's cache. It gives the bits of the two one after the other.
type ConvPool struct {
	conv *Conv // whose arrays, scratch and stages these are
	pool *Pool
}

// Pools reports whether ConvPool may compute the convolution forward and its weights' gradient: both are, or a tuner knows that they should
// be, the implicit strategy's for images of few channels.
func (c *Conv) Pools() bool {
	s := &c.shape
	few := c.machine.Native() && len(s.In) == 2 && s.C < manyChannels && s.byOffsets()
	for _, d := range []Direction{Forward, WeightGradient} {
		st := c.found.chosen[d]
		if c.tuner != nil {
			st, _ = c.tuner.Choice(Task{Shape: *s, Direction: d, ResultsInBlocks: s.pooledInBlocks()})
		}
		few = few && st == Implicit
	}
	return few
}

// pooledInBlocks reports whether results lie in blocks of channels for pooling, else by planes.
func (s *ConvShape) pooledInBlocks() bool { return s.Out%BlockLanes == 0 }

// NewConvPool prepares a convolution for which Conv.Pools and the pooling p of its results, whose layout it chooses. It is nil where kernels
// make results of one layout and pool those of another, and where what is pooled at once does not fit half of L2: then it would go through
// memory all the same.
func NewConvPool(m *cpe.Machine, s ConvShape, p PoolShape) (*ConvPool, error) {
	p.InBlocks = s.pooledInBlocks()
	if p.Method != PoolMax || p.InBlocks == s.byPlanes() || p.OutBlocks && !p.InBlocks || p.InBlocks && !p.blockable() {
		return nil, nil
	}
	pool, err := NewPool(m, p)
	if err != nil {
		return nil, err
	}
	c := &ConvPool{&Conv{shape: s, machine: m, found: &considered{}, blocked: [2]bool{false, p.InBlocks}}, pool}
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

// Blocks reports whether outputs may lie in blocks of channels.
func (c *ConvPool) Blocks() bool { return c.pool.blocks != nil }

// MaskWords returns how long the mask of Forward and WeightGrad is.
func (c *ConvPool) MaskWords() int { return c.pool.MaskWords() }

// Scratch returns how many values of scratch a direction takes.
func (c *ConvPool) Scratch(d Direction) int { return c.conv.Scratch(d) }

// Turns is as Conv.Turns.
func (c *ConvPool) Turns() (times, values int) {
	s := &c.pool.shape
	switch {
	case c.pool.blocks == nil:
		return 1, s.N * s.C * s.H * s.W
	case !s.OutBlocks:
		return 2, 2 * s.N * s.C * s.OH * s.OW
	}
	return 0, 0
}

// Forward pools w * x + bias, of which bias may be nil, into y; mask is as Pool's.
func (c *ConvPool) Forward(x, w, bias, y []float32, mask []int32) error {
	c.pool.mask = mask
	return c.conv.run(Forward, convArrays{x: x, w: w, bias: bias, y: y})
}

// WeightGrad computes the gradient of the weights from that of the outputs, dy, into dw, or adds it, and adds that of the biases to db. Either
// may be nil.
func (c *ConvPool) WeightGrad(x, dy []float32, mask []int32, dw, db []float32, add bool) error {
	c.pool.mask = mask
	return c.conv.run(WeightGradient, convArrays{x: x, w: dw, bias: db, y: dy, add: add})
}

// poolPlanes prepares both directions where results lie by planes; false if there are no vectors that pool such, or an image's results take
// more than half of L2.
func (c *ConvPool) poolPlanes() bool {
	s, spec := &c.pool.shape, c.conv.machine.Spec()
	v := newPlaneConv(c.conv)
	if c.pool.planes == nil || v.bands > 1 || s.C*s.H*s.W > spec.LDMBytes/2/4 {
		return false
	}
	v.pool = c.pool
	c.conv.stages[Forward] = []stage{{v, 0}}
	c.conv.stages[WeightGradient] = newPooledWeights(c.conv, c.pool).stages()
	return true
}
