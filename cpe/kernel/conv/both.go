package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// jointGrads computes both gradients at once; without stages, it cannot.
type jointGrads struct {
	stages  []stage
	scratch cpe.Scratch
	does    shape.Algorithm
}

// joinGrads prepares that, where one strategy computes both and they have much to do in common.
func (c *Conv) joinGrads() {
	c.both = jointGrads{}
	for _, d := range []shape.Direction{shape.WeightGradient, shape.InputGradient} {
		if c.doing(d) == nil || !c.small(d) {
			return
		}
	}
	if c.plan.Strategy[shape.WeightGradient] == c.plan.Strategy[shape.InputGradient] {
		v := newWinogradSmall(c, shape.WeightGradient, shape.InputGradient)
		c.both = jointGrads{v.stages(), v.scratch(), c.pooledSmall(WinogradSmallJoint, WinogradSmallJointPooled)}
	}
}

// JoinsGrads reports whether Grads can be called.
func (c *Conv) JoinsGrads() bool { return c.both.stages != nil }

// GradsAlgorithm returns how Grads computes both gradients.
func (c *Conv) GradsAlgorithm() shape.Algorithm { return c.both.does }

// GradsScratch returns how many values of scratch Grads takes.
func (c *Conv) GradsScratch() int { return c.machine.Needs(c.both.scratch) }

// Grads are a convolution's arrays and its gradients': those of the images, the weights and, if not nil, the biases.
type Grads struct {
	X, W, DY   []float32
	DX, DW, DB []float32
	Add        bool      // DW to what it holds
	Above      []float32 // as of InputGradWhere, if not nil
}

// Grads computes both gradients, with the bits of WeightGradTo and of InputGrad or InputGradWhere.
func (c *Conv) Grads(g *Grads) error {
	c.machine.TakeScratch(c.both.scratch)
	c.args = convArrays{x: g.X, w: g.W, bias: g.DB, y: g.DY, dx: g.DX, dw: g.DW, add: g.Add, above: g.Above}
	for _, stage := range c.both.stages {
		if err := c.machine.Run(stage.Program, stage.groups); err != nil {
			return err
		}
	}
	return nil
}
