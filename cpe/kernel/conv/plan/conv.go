package plan

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Conv is a planned convolution of images of one shape. It has an algorithm and a kernel for each direction.
type Conv struct {
	machine *cpe.Machine
	spec    *cpe.Spec // the machine's
	shape   shape.Conv
	forced  [3]op.Force       // what the user asks for, by Direction
	free    bool              // the user asks for no family
	layouts [2]shape.Layout   // of images and results
	only    []shape.Direction // in a net for inference, the one that runs
	types   op.Types          // what Forward, and the gradients but for op.Quantised, may compute in
	scales  *quant.Scales     // with op.Quantised
	tuner   conv.Tuner        // chooses algorithms by measurement, if not nil
	does    [3]*direction     // by Direction
	both    *direction        // both gradients at once, if not nil
	apart   apart             // what kernels refuse
}

// direction is a problem and the algorithm that computes it.
type direction struct {
	problem conv.Problem
	*choice                // the cost model's choice while a tuner measures
	kernel  conv.Kernel    // nil if a tuner chooses: see tuned.best
	steps   [op.Steps]bool // those that the kernel does
	tuned   *tuned         // measures and runs the direction, if not nil
}

// New plans a convolution with the algorithms of a family, and makes its kernels.
func New(m *cpe.Machine, s shape.Conv, st shape.Strategy) (*Conv, error) {
	return NewForced(m, s, op.Force{Family: st})
}

// NewForced plans a convolution with the algorithms that a user asks for, and makes its kernels.
func NewForced(m *cpe.Machine, s shape.Conv, f op.Force) (*Conv, error) {
	spec := m.Spec()
	return NewIn(m, s, f, op.Permitted(&spec), nil)
}

// NewIn is NewForced in number types other than those that the machine's user permits. With op.Quantised, Forward alone has them.
func NewIn(m *cpe.Machine, s shape.Conv, f op.Force, t op.Types, scales *quant.Scales) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{machine: m, spec: &spec, forced: [3]op.Force{f, f, f}, free: f.Family == shape.Auto, types: t, scales: scales}
	return c, c.plan(s)
}

// plan chooses an algorithm for every direction of a shape, and makes the kernels.
func (c *Conv) plan(s shape.Conv) error {
	if err := s.Check(); err != nil {
		return err
	}
	c.shape = s
	return c.prepare()
}

// prepare chooses an algorithm and makes a kernel for every direction, in the present layouts. A tuner does not know images that are stored in other types than
// float32, which one algorithm reads and writes.
func (c *Conv) prepare() error {
	for d := range shape.Direction(3) {
		var err error
		p := c.problem(d)
		if c.tuner != nil && !p.Stored() {
			c.does[d], err = newTuned(c, p)
		} else {
			c.does[d], err = c.compute(p)
		}
		if err != nil {
			return fmt.Errorf("preparing the %v: %w", d, err)
		}
	}
	return c.join()
}

// problem returns a direction's problem in the present layouts. Directions that do not run have their kernels for planes, which always exist.
func (c *Conv) problem(d shape.Direction) conv.Problem {
	p := conv.Problem{Shape: c.shape, Direction: d, Images: shape.Planes, Results: shape.Planes, Types: c.types, Scales: c.scales, Spec: c.spec, Inference: c.only != nil}
	if d != shape.Forward && c.types == op.Quantised {
		p.Types = op.Types{}
	}
	if c.only == nil || slices.Contains(c.only, d) {
		p.Images, p.Results = c.layouts[0], c.layouts[1]
	}
	return p
}

// directions lists those that run.
func (c *Conv) directions() []shape.Direction {
	if c.only != nil {
		return c.only
	}
	return conv.EveryDirection
}

// choiceKey identifies a problem and a op.Force among the choices that a machine remembers. It is binary, because formatting text would be slow:
// planning a net asks for hundreds of choices, each of them several times.
type choiceKey string

// keyOf returns the key of a choice.
func keyOf(p *conv.Problem, f op.Force) choiceKey {
	s := &p.Shape
	key := make([]byte, 0, 64)
	for _, v := range [...]int{s.N, s.C, s.Out, s.Group, int(p.Direction), int(p.Images), int(p.Results), int(p.Types.Factors), int(p.Types.Sums), int(f.Family), len(s.In)} {
		key = binary.AppendVarint(key, int64(v))
	}
	for _, extents := range [...][]int{s.In, s.Kernel, s.Stride, s.Pad, s.Dilation} {
		for _, v := range extents {
			key = binary.AppendVarint(key, int64(v))
		}
	}
	if p.Inference {
		key = append(key, 1)
	}
	return choiceKey(append(key, f.Name...))
}

// choose returns the choice for a problem. The machine remembers it.
func (c *Conv) choose(p *conv.Problem) (*choice, error) {
	f := c.forced[p.Direction]
	found, err := c.machine.Recall(keyOf(p, f), func() (any, error) { return choose(p, f) })
	if err != nil {
		return nil, err
	}
	return found.(*choice), nil
}

// compute chooses an algorithm for a problem and makes its kernel.
func (c *Conv) compute(p conv.Problem) (*direction, error) {
	found, err := c.choose(&p)
	if err != nil {
		return nil, err
	}
	return c.with(p, found)
}

// with makes the kernel of a choice.
func (c *Conv) with(p conv.Problem, found *choice) (*direction, error) {
	k, err := found.Algorithm.Kernel(c.machine, found.asked(&p))
	if err == nil && found.planar {
		k = &planarResults{Task: k.(*conv.Task)}
	}
	made := &direction{problem: p, choice: found, kernel: k}
	for s := range made.steps {
		made.steps[s] = made.refuses(op.Step(s)) == nil
	}
	return made, err
}

// join makes a kernel for both gradients at once, if one algorithm was chosen for both and supports BothGradients.
func (c *Conv) join() (err error) {
	c.both = nil
	w, x := c.does[shape.WeightGradient].doing(), c.does[shape.InputGradient].doing()
	if w == nil || x == nil || w.Algorithm != x.Algorithm {
		return nil
	}
	if p := c.problem(shape.BothGradients); w.Algorithm.Refuses(&p) == nil {
		c.both, err = c.with(p, chosen(w.Algorithm))
	}
	return err
}

// Algorithm names the algorithm of a direction. While a tuner measures, it is the cost model's choice.
func (c *Conv) Algorithm(d shape.Direction) shape.Algorithm { return c.does[d].now().name() }

// GradsAlgorithm names the algorithm of BothGradients, "" if there is none.
func (c *Conv) GradsAlgorithm() shape.Algorithm {
	if c.both == nil {
		return ""
	}
	return c.both.name() + "-joint"
}

// Strategy returns the family of a direction's algorithm.
func (c *Conv) Strategy(d shape.Direction) shape.Strategy { return c.does[d].now().Algorithm.Family }

// RunnerUp returns the second-best algorithm of a direction.
func (c *Conv) RunnerUp(d shape.Direction) op.RunnerUp { return c.does[d].now().Second }

// Scratch returns the number of values of scratch memory that a direction uses, 0 while a tuner measures it.
func (c *Conv) Scratch(d shape.Direction) int { return c.does[d].needs() }

// JoinsGrads reports whether Run computes BothGradients.
func (c *Conv) JoinsGrads() bool { return c.both != nil }

// GradsScratch returns the number of values of scratch memory that BothGradients uses.
func (c *Conv) GradsScratch() int { return c.both.needs() }

// Run computes a direction with all steps that a asks for. It does those that the kernel refuses in passes over memory; only DB must be nil where
// SumBiases is refused. BothGradients, if JoinsGrads allows it, has the bits of the two directions.
func (c *Conv) Run(d shape.Direction, a conv.Arrays) error {
	rest, err := c.rest(d, &a)
	switch {
	case err != nil:
		return err
	case d == shape.BothGradients:
		err = c.both.kernel.Run(a)
	default:
		err = c.does[d].run(c.machine, a)
	}
	if err != nil || rest == nil {
		return err
	}
	return c.apart.run(c, d, rest)
}

// Keeper returns the kernel of a direction if it may keep packed weights, else nil.
func (c *Conv) Keeper(d shape.Direction) op.Keeper {
	if best := c.does[d].doing(); best != nil {
		k, _ := best.kernel.(op.Keeper)
		return k
	}
	return nil
}

// SetLayouts changes the layouts of images and results for all directions. Blocks says which are possible.
func (c *Conv) SetLayouts(images, results shape.Layout) error {
	return c.Arrange(images, results, c.only)
}

// Arrange is SetLayouts. In a net for inference, only lists the one direction that runs; otherwise it is nil.
func (c *Conv) Arrange(images, results shape.Layout, only []shape.Direction) error {
	if layouts := [2]shape.Layout{images, results}; c.layouts != layouts || !slices.Equal(c.only, only) {
		c.layouts, c.only = layouts, only
		return c.prepare()
	}
	return nil
}

// ForShape plans the same convolution for images of other extents, in the same layouts. It keeps the strategies, or the tuner.
func (c *Conv) ForShape(s shape.Conv) (*Conv, error) {
	n := &Conv{machine: c.machine, spec: c.spec, free: c.free, layouts: c.layouts, only: c.only, types: c.types, scales: c.scales, tuner: c.tuner}
	for d := range shape.Direction(3) {
		p := c.problem(d)
		p.Images, p.Results = shape.Planes, shape.Planes
		found, err := c.choose(&p)
		if err != nil {
			return nil, err
		}
		n.forced[d] = op.Force{Family: found.Algorithm.Family, Name: c.forced[d].Name}
	}
	return n, n.plan(s)
}

// doing returns the direction with its final algorithm, nil while a tuner measures.
func (d *direction) doing() *direction {
	if d.tuned != nil {
		return d.tuned.best
	}
	return d
}

// name returns the algorithm's name, followed by that of the inner algorithm if it reduces the problem to another one.
func (d *direction) name() shape.Algorithm {
	name := shape.Algorithm(d.Algorithm.Name)
	if k, ok := d.kernel.(interface{ Inner() shape.Algorithm }); ok {
		name += "-" + k.Inner()
	}
	return name
}

// now returns the direction with its final algorithm or, while a tuner measures, with the cost model's.
func (d *direction) now() *direction {
	if best := d.doing(); best != nil {
		return best
	}
	return d
}

// needs returns the number of values of scratch memory, 0 while a tuner measures.
func (d *direction) needs() int {
	if d == nil || d.doing() == nil {
		return 0
	}
	return d.doing().kernel.Scratch()
}

// run computes the direction. On a machine that only counts costs, it charges the ledger of the choice again, if there is one.
func (d *direction) run(m *cpe.Machine, a conv.Arrays) error {
	switch {
	case d.tuned != nil:
		return d.tuned.run(a)
	case d.Ledger != nil && m.CostsAlone():
		m.Charge(d.Ledger)
		return nil
	}
	return d.kernel.Run(a)
}
