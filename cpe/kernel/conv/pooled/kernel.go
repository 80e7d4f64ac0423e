package pooled

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/offsets"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Kernel computes a convolution fused with max pooling of its results, forward and for the gradients.
type Kernel struct {
	does [4]*conv.Task     // kernels by Direction
	pool *pool.Kernel      // pools bands; nil if slices are pooled
	each *winograd.Pooling // pools slices; nil if bands are pooled
	name shape.Algorithm   // name of the algorithm that pools bands
}

// InBlocks reports whether results before pooling are stored in blocks of channels, else by planes.
func InBlocks(s *shape.Conv) bool { return s.Out%shape.BlockLanes == 0 }

// NewBands prepares a convolution of few channels fused with the pooling p, and chooses the layout of the results. It returns nil if the
// convolution and the pooling have no kernels for a common layout, or if one step of pooling needs more than half of L2: results would then
// go through memory anyway.
func NewBands(m *cpe.Machine, problem conv.Problem, p pool.Shape) (*Kernel, error) {
	s := &problem.Shape
	p.InBlocks = InBlocks(s)
	if p.Method != pool.Max || p.InBlocks == offsets.SuitsPlanes(s) || p.OutBlocks && !p.InBlocks || p.InBlocks && !p.Blockable() {
		return nil, nil
	}
	pool, err := pool.New(m, p)
	if err != nil {
		return nil, err
	}
	c := &Kernel{pool: pool}
	problem.Images, problem.Results = shape.Planes, shape.InBlocks(p.InBlocks)
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
		problem.Direction = d
		c.does[d] = conv.NewTask(m, &problem)
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

// NewSlices prepares a convolution for which winograd.TilesAreImages holds, with Winograd tiles of the given strategies by Direction. It
// returns nil if no kernel supports the pooling p.
func NewSlices(m *cpe.Machine, problem conv.Problem, families [3]shape.Strategy, p pool.Shape) (*Kernel, error) {
	each := winograd.NewPooling(p)
	if each == nil {
		return nil, nil
	}
	v := &Kernel{each: each}
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient, shape.BothGradients} {
		family := families[shape.WeightGradient]
		if d == shape.Forward || d == shape.InputGradient {
			family = families[d]
		}
		problem.Direction = d
		v.does[d] = conv.NewTask(m, &problem)
		each.Build(v.does[d], family)
	}
	return v, nil
}

// BySlices reports whether slices of channels are pooled, else bands of rows.
func (c *Kernel) BySlices() bool { return c.pool == nil }

// OutBlocks reports whether outputs that are pooled by bands may be stored in blocks of channels.
func (c *Kernel) OutBlocks() bool { return c.pool.Blocked() }

// Pooling returns the shape of the pooling.
func (c *Kernel) Pooling() *pool.Shape {
	if c.pool == nil {
		return &c.each.Shape
	}
	return c.pool.Shape()
}

// PassesGrads reports whether Grads can compute the input gradient.
func (c *Kernel) PassesGrads() bool { return c.pool == nil }

// BandAlgorithm names the algorithm that pools bands in a direction, "" for the input gradient.
func (c *Kernel) BandAlgorithm(d shape.Direction) shape.Algorithm {
	switch d {
	case shape.Forward:
		return c.name
	case shape.WeightGradient:
		return c.name + "-weights"
	}
	return ""
}

// MaskWords returns the length of the mask that all directions share.
func (c *Kernel) MaskWords() int {
	if c.pool == nil {
		return c.each.MaskWords()
	}
	return c.pool.MaskWords()
}

// Scratch returns the numbers of values of scratch memory that Forward, and that Grads, use at most.
func (c *Kernel) Scratch() (forward, gradients int) {
	for _, d := range []shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients} {
		if c.does[d] != nil {
			gradients = max(gradients, c.does[d].Scratch())
		}
	}
	return c.does[shape.Forward].Scratch(), gradients
}

// Forward computes y, the pooled results of w * x + bias. bias may be nil. The mask records the places of the maxima, as pool.Kernel's does.
func (c *Kernel) Forward(x, w, bias, y []float32, mask []int32) error {
	c.setMask(mask)
	return c.does[shape.Forward].Run(conv.Arrays{X: x, W: w, Bias: bias, Y: y})
}

// Grads computes those of the gradients DX, DW and DB that are not nil from DY, the gradient of the outputs. DX must be nil unless
// PassesGrads.
func (c *Kernel) Grads(a *conv.Arrays, mask []int32) error {
	c.setMask(mask)
	switch weights := a.DW != nil || a.DB != nil; {
	case a.DX != nil && a.DW != nil:
		return c.does[shape.BothGradients].Run(*a)
	case a.DX != nil:
		images := conv.Arrays{W: a.W, DX: a.DX, DY: a.DY}
		if err := c.does[shape.InputGradient].Run(images); err != nil || !weights {
			return err
		}
	case !weights:
		return nil
	}
	return c.does[shape.WeightGradient].Run(conv.Arrays{X: a.X, DW: a.DW, DB: a.DB, DY: a.DY, Add: a.Add})
}

func (c *Kernel) setMask(mask []int32) {
	if c.pool == nil {
		c.each.SetMask(mask)
		return
	}
	c.pool.SetMask(mask)
}

// poolPlanes prepares both directions for results by planes. It returns false if no kernel pools planes in vectors, if the results of an
// image take more than half of L2, or if outputs are more than half as many as results: summing over outputs would then save nothing.
func (c *Kernel) poolPlanes() (bool, error) {
	s, spec := c.pool.Shape(), c.does[shape.Forward].Machine.Spec()
	v := offsets.NewPlanes(c.does[shape.Forward])
	if !c.pool.ByPlanes() || v.Bands > 1 || s.C*s.H*s.W > spec.LDMBytes/2/4 || 2*s.OH*s.OW > s.H*s.W {
		return false, nil
	}
	v.Pool, c.name = c.pool, "planes-pooled"
	return true, newMaximaWeights(c.does[shape.WeightGradient], c.pool)
}
