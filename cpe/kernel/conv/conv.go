package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Conv convolves images of one shape, forward and for both gradients.
type Conv struct {
	shape    shape.Conv
	plan     Plan
	machine  *cpe.Machine
	found    *considered
	stages   [3][]stage       // by Direction
	partials *stream.Partials // of the weight gradient; none where core groups add to it directly
	args     convArrays
	thinned  *thinnedConv   // computes what is implicit, if not nil
	covering [3]gemm.Kernel // by Direction, where kernels are as large as images
	folded   [3]*foldedConv // directions that fold images
	fold     *imageFold     // of the images, if not nil: those that are read are not folded yet
	tuner    Tuner          // finds strategies, if not nil
	tuned    [3]*tuned      // directions of a convolution with a tuner
	scratch  [3]cpe.Scratch
	blocked  [2]bool        // images, results: their channels lie in blocks
	thin     bool           // of images, what strides meet stands at the front of each plane
	turned   *planarResults // where the input gradient needs them, if not nil
	free     bool           // strategies are the cost model's choice
	both     jointGrads
	pooled   *pooledSlices      // results, if not nil: of those y has the outputs
	does     [3]shape.Algorithm // by Direction
}

// convArrays are the arrays of one run: images x (or their gradient), weights w (or theirs), biases (or theirs), which may be nil, results
// y (or theirs).
type convArrays struct {
	x, w, bias, y []float32
	dx, dw        []float32 // of both gradients at once, for which x and w are values
	add           bool      // the gradient to what x or w, or dw, holds
	floor         bool      // results below 0 become 0
	above         []float32 // values that the images' gradient passes where they are above 0, if not nil
	finish        Finish    // is done to results, if not nil
}

// stage is a program that core groups run together; a direction's stages follow each other.
type stage struct {
	cpe.Program
	groups int // how many core groups the work is worth; 0: all
}

// New plans a convolution and prepares what running it needs.
func New(m *cpe.Machine, s shape.Conv, st shape.Strategy) (*Conv, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	choice, err := m.Recall(fmt.Sprintf("strategies %v %v", s, st), func() (any, error) { return chooseStrategies(&spec, s, st) })
	if err != nil {
		return nil, err
	}
	c, err := newConv(m, s, choice.(*considered), shape.Forward, shape.WeightGradient, shape.InputGradient)
	if err == nil {
		c.free = st == shape.Auto
		c.joinGrads()
	}
	return c, err
}

// newConv prepares the directions that will be run, whose strategies are chosen.
func newConv(m *cpe.Machine, s shape.Conv, found *considered, directions ...shape.Direction) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{shape: s, plan: planConv(&spec, s, found.chosen), found: found, machine: m}
	for _, d := range directions {
		if err := c.prepare(d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// prepare makes the stages of one direction, that which turns what it reads by planes, and its partial sums.
func (c *Conv) prepare(d shape.Direction) error {
	if err := c.choose(d); err != nil {
		return err
	}
	if d == shape.WeightGradient && c.partials == nil {
		return c.makePartials()
	}
	if c.planar(d) {
		c.turned = nil
		if c.blocked[1] {
			c.turned = &planarResults{conv: c}
			c.stages[d] = append([]stage{{c.turned, 0}}, c.stages[d]...)
		}
	}
	return nil
}

// choose makes the stages of one direction.
func (c *Conv) choose(d shape.Direction) error {
	c.folded[d] = nil
	switch {
	case tiling.Size(c.shape.OutSize()) <= 0 || c.shape.N == 0:
		c.does[d] = NoConv
		c.stages[d] = []stage{{noConv{}, 1}}
	case c.covers(d):
		var err error
		if c.covering[d], err = c.newCovering(d); err == nil {
			c.does[d] = Covering.Before(c.covering[d].Algorithm())
		}
		return err
	case c.pointwiseBlocks(d):
		c.does[d] = PointwiseBlocked
		if d == shape.WeightGradient {
			c.does[d] = PointwiseBlockedWeights
		}
		list, err := newBlockedPointwise(c, d, c.blocked[0], c.blocked[1])
		c.stages[d] = list
		return err
	case c.byTaps(d) && d == shape.WeightGradient:
		c.does[d] = DepthwiseWeights
		c.stages[d] = newDepthwiseWeights(c).stages()
	case c.byTaps(d):
		c.does[d] = DepthwiseBands
		c.stages[d] = newDepthwiseConv(c, d).stages()
	case c.makesPlanes(d):
		c.does[d] = Planes
		c.stages[d] = []stage{{newPlaneConv(c), 0}}
	case c.byOffsets(d) && d == shape.Forward:
		c.does[d] = Offsets
		c.stages[d] = newOffsetConv(c).stages()
	case c.byOffsets(d):
		c.does[d] = OffsetsWeights
		c.stages[d] = newOffsetWeights(c).stages()
	case c.isThinned(d):
		if c.thinned == nil {
			var err error
			if c.thinned, err = newThinnedConv(c.machine, c.shape); err != nil {
				return err
			}
		}
		c.does[d] = Thinned.Before(c.thinned.conv.does[d])
		c.takes(d, c.thinned.scratch(d))
	case c.folds(d):
		var err error
		if c.folded[d], err = newFoldedConv(c, d); err == nil {
			c.does[d] = Folded.Before(c.folded[d].conv.does[d])
			c.takes(d, c.folded[d].scratch())
		}
		return err
	case c.small(d):
		c.does[d] = c.pooledSmall(WinogradSmall, WinogradSmallPooled)
		v := newWinogradSmall(c, d)
		c.stages[d] = v.stages()
		c.takes(d, v.scratch())
	case c.plan.Strategy[d].IsWinograd() && !c.machine.Native():
		c.does[d] = WinogradMesh
		list, err := newWinogradMesh(c, d, meshPoints)
		c.stages[d] = list
		return err
	case c.plan.Strategy[d].IsWinograd() && d == shape.WeightGradient:
		c.stages[d] = winogradGradStages(c)
	case c.plan.Strategy[d].IsWinograd():
		c.stages[d] = winogradStages(c, d)
	case c.plan.Strategy[d] == shape.Explicit:
		e, err := newExplicitConv(c, d)
		c.stages[d] = []stage{{e, 0}}
		if err == nil {
			c.does[d] = e.algorithm()
		}
		return err
	case c.machine.Spec().Software.Unbuffered:
		c.does[d] = MeshTaps
		v, err := newTapConv(c, d)
		if err != nil {
			return err
		}
		c.stages[d] = []stage{{v, v.groups()}}
	case !c.machine.Native():
		v, err := newBatchConv(c, d)
		if err != nil {
			return err
		}
		if c.does[d] = MeshBatch; v.rows {
			c.does[d] = MeshRows
		}
		c.stages[d] = v.stages()
	case d == shape.InputGradient && phased(&c.shape):
		c.does[d] = ImplicitPhases
		c.stages[d] = newPhasedConv(c).stages()
	case !shiftable(c.shape):
		v, err := newImplicitConv(c, d)
		if err != nil {
			return err
		}
		if c.does[d] = ImplicitGathered; c.shape.Pointwise() {
			c.does[d] = ImplicitPointwise
		}
		c.stages[d] = []stage{{v, v.groups()}}
	case d == shape.InputGradient && spreads(&c.shape):
		c.does[d] = ImplicitSpread
		c.stages[d] = []stage{{newSpreadConv(c), 0}}
	case d == shape.WeightGradient:
		c.does[d] = ImplicitShiftedWeights
		v := newShiftedWeights(c)
		c.stages[d] = []stage{{v, 0}, {&v.collect, 0}}
	default:
		c.does[d] = ImplicitPadded
		v, err := newPaddedConv(c, d)
		if err != nil {
			return err
		}
		c.stages[d] = v.stages()
	}
	return nil
}

// isThinned reports whether a direction is the thinned convolution's.
func (c *Conv) isThinned(d shape.Direction) bool {
	return !c.pointwiseBlocks(d) && c.machine.Native() && thinnable(c.shape) && c.shape.N > 0 && tiling.Size(c.shape.OutSize()) > 0 && c.plan.Strategy[d] == shape.Implicit
}

// noConv computes nothing, for nothing.
type noConv struct{}

func (noConv) Name() string                  { return "convolution" }
func (noConv) RunGroup(*cpe.CoreGroup) error { return nil }

// makePartials makes the partial sums of the weight gradient, if it has more than one.
func (c *Conv) makePartials() (err error) {
	count := c.plan.Chunks
	if count <= 1 {
		count = 0
	}
	c.partials, err = stream.NewPartials(c.machine, count, c.shape.Out*c.shape.Depth())
	return err
}

// RunnerUp returns the strategy that a direction would have been computed with, had the one that was chosen not been faster.
func (c *Conv) RunnerUp(d shape.Direction) RunnerUp { return c.found.second[d] }

// Plan returns how the convolution is cut.
func (c *Conv) Plan() Plan { return c.plan }

// Algorithm returns how a direction is computed, "" as long as that is being found. It is that of the direction alone: see GradsAlgorithm.
func (c *Conv) Algorithm(d shape.Direction) shape.Algorithm {
	if c = c.doing(d); c == nil {
		return ""
	}
	return c.does[d]
}

// takes notes what scratch a direction takes.
func (c *Conv) takes(d shape.Direction, s cpe.Scratch) { c.scratch[d] = s }

// Scratch returns how many values of scratch a direction takes; 0 as long as its strategy is being found.
func (c *Conv) Scratch(d shape.Direction) int {
	if c = c.doing(d); c == nil {
		return 0
	}
	if c.covers(d) {
		return c.covering[d].Scratch()
	}
	return c.machine.Needs(c.scratch[d])
}

// doing returns the convolution that computes a direction, nil as long as that is being found.
func (c *Conv) doing(d shape.Direction) *Conv {
	if t := c.tuned[d]; t != nil {
		return t.best
	}
	return c
}

// Forward computes y = w * x + bias; bias, one value an output channel, may be nil.
func (c *Conv) Forward(x, w, bias, y []float32) error {
	return c.run(shape.Forward, convArrays{x: x, w: w, bias: bias, y: y})
}

// Rectifies reports whether ForwardReLU can be called: results are written by kernels that can do that on the way.
func (c *Conv) Rectifies() bool {
	c = c.doing(shape.Forward)
	return c != nil && c.machine.Native() &&
		(c.worksInBlocks(shape.Forward) || c.byOffsets(shape.Forward))
}

// ForwardReLU computes y = max(0, w * x + bias), NaN staying NaN.
func (c *Conv) ForwardReLU(x, w, bias, y []float32) error {
	return c.run(shape.Forward, convArrays{x: x, w: w, bias: bias, y: y, floor: true})
}

// WeightGrad adds the gradient of the weights to dw.
func (c *Conv) WeightGrad(x, dy, dw []float32) error {
	return c.run(shape.WeightGradient, convArrays{x: x, w: dw, y: dy, add: true})
}

// SetsWeightGrad reports whether WeightGradTo can be called: sums go to the weights' gradient from kernels that need not read it.
func (c *Conv) SetsWeightGrad() bool {
	c = c.doing(shape.WeightGradient)
	return c != nil && c.machine.Native() && tiling.Size(c.shape.OutSize()) > 0 && c.shape.N > 0 &&
		(c.worksInBlocks(shape.WeightGradient) || c.byOffsets(shape.WeightGradient))
}

// SumsBias reports whether WeightGradTo can be called with biases.
func (c *Conv) SumsBias() bool {
	c = c.doing(shape.WeightGradient)
	return c != nil && c.SetsWeightGrad() && (c.byOffsets(shape.WeightGradient) || c.plan.Strategy[shape.WeightGradient].IsWinograd())
}

// WeightGradTo computes the gradient of the weights into dw, or adds it; and adds that of the biases, the sums of dy over images and
// positions, to db, if this is not nil.
func (c *Conv) WeightGradTo(x, dy, dw, db []float32, add bool) error {
	return c.run(shape.WeightGradient, convArrays{x: x, w: dw, bias: db, y: dy, add: add})
}

// InputGrad computes the gradient of the images into dx.
func (c *Conv) InputGrad(dy, w, dx []float32) error {
	return c.run(shape.InputGradient, convArrays{x: dx, w: w, y: dy})
}

// RectifiesInputGrad reports whether InputGradWhere can be called.
func (c *Conv) RectifiesInputGrad() bool {
	c = c.doing(shape.InputGradient)
	return c != nil && c.machine.Native() && c.plan.Strategy[shape.InputGradient].IsWinograd() && c.blocked[0]
}

// InputGradWhere computes the gradient of the images into dx where above, which lies as they do, is above 0; elsewhere it is 0.
func (c *Conv) InputGradWhere(dy, w, dx, above []float32) error {
	return c.run(shape.InputGradient, convArrays{x: dx, w: w, y: dy, above: above})
}

// AddsInputGrad reports whether AddInputGrad can be called: kernels are pointwise, and the product with them goes to the images, or
// the pixels that strides meet, directly.
func (c *Conv) AddsInputGrad() bool {
	c = c.doing(shape.InputGradient)
	return c != nil && c.machine.Native() && c.plan.Strategy[shape.InputGradient] == shape.Implicit &&
		(c.shape.Pointwise() || thinnable(c.shape) && tiling.Size(c.shape.OutSize()) > 0)
}

// AddInputGrad adds the gradient of the images to dx.
func (c *Conv) AddInputGrad(dy, w, dx []float32) error {
	return c.run(shape.InputGradient, convArrays{x: dx, w: w, y: dy, add: true})
}

// run computes a direction. Where only costs count and choosing a strategy has found them, they are charged again.
func (c *Conv) run(d shape.Direction, args convArrays) error {
	if t := c.tuned[d]; t != nil {
		return t.run(args)
	}
	if c.covers(d) {
		return c.runCovering(d, args)
	}
	scratch := c.scratch[d]
	if c.turned != nil && d == shape.InputGradient {
		scratch.Common = c.turned.from() + c.turned.values()
	}
	c.machine.TakeScratch(scratch)
	if c.isThinned(d) {
		return c.thinned.run(d, args)
	}
	if f := c.folded[d]; f != nil {
		return f.run(args)
	}
	return c.work(d, args)
}

// work runs the stages of a direction that has its scratch.
func (c *Conv) work(d shape.Direction, args convArrays) error {
	if l := c.found.ledgers[d]; l != nil && c.machine.CostsAlone() {
		c.machine.Charge(l)
		return nil
	}
	if c.turned != nil && d == shape.InputGradient {
		c.turned.blocks, args.y = args.y, c.turned.planes()
	}
	c.args = args
	for _, stage := range c.stages[d] {
		if err := c.machine.Run(stage.Program, stage.groups); err != nil {
			return err
		}
	}
	if d != shape.WeightGradient || c.pointwiseBlocks(d) {
		return nil
	}
	return c.partials.AddTo(args.w)
}
