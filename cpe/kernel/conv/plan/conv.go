package plan

import (
	"encoding/binary"
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Conv convolves images of one shape, forward and for both gradients, each direction with the algorithm that suits it.
type Conv struct {
	machine *cpe.Machine
	spec    *cpe.Spec // the machine's
	shape   shape.Conv
	forced  [3]Force       // by Direction
	free    bool           // all families are, or a tuner chooses
	layouts [2]conv.Layout // of images and results
	tuner   Tuner          // finds algorithms, if not nil
	does    [3]*direction
	both    *direction // both gradients at once, if not nil
}

// direction is a problem and the algorithm that computes it.
type direction struct {
	problem conv.Problem
	*choice             // as long as a tuner measures, the cost model's
	kernel  conv.Kernel // nil if a tuner chooses: see tuned.best
	tuned   *tuned      // measures and runs the direction, if not nil
}

// New plans a convolution with the algorithms of a family, and prepares what running it needs.
func New(m *cpe.Machine, s shape.Conv, st shape.Strategy) (*Conv, error) {
	return NewForced(m, s, Force{Family: st})
}

// NewForced plans a convolution with what a user asks for, and prepares what running it needs.
func NewForced(m *cpe.Machine, s shape.Conv, f Force) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{machine: m, spec: &spec, forced: [3]Force{f, f, f}, free: f.Family == shape.Auto}
	return c, c.plan(s)
}

// plan chooses and prepares all directions for a shape.
func (c *Conv) plan(s shape.Conv) error {
	if err := s.Check(); err != nil {
		return err
	}
	c.shape = s
	return c.prepare()
}

// prepare makes the kernels of all directions for images and results as they lie.
func (c *Conv) prepare() error {
	for d := range shape.Direction(3) {
		var err error
		p := c.problem(d)
		if c.tuner != nil {
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

// problem is one direction with images and results as they lie.
func (c *Conv) problem(d shape.Direction) conv.Problem {
	return conv.Problem{Shape: c.shape, Direction: d, Images: c.layouts[0], Results: c.layouts[1], Spec: c.spec}
}

// choiceKey identifies a problem, and what the user asks for, among the choices that a machine remembers. It is not text: planning a net asks for
// hundreds of choices, each of them several times.
type choiceKey string

// keyOf returns the key of a choice.
func keyOf(p *conv.Problem, f Force) choiceKey {
	s := &p.Shape
	key := make([]byte, 0, 64)
	for _, v := range [...]int{s.N, s.C, s.Out, s.Group, int(p.Direction), int(p.Images), int(p.Results), int(f.Family), len(s.In)} {
		key = binary.AppendVarint(key, int64(v))
	}
	for _, extents := range [...][]int{s.In, s.Kernel, s.Stride, s.Pad, s.Dilation} {
		for _, v := range extents {
			key = binary.AppendVarint(key, int64(v))
		}
	}
	return choiceKey(append(key, f.Name...))
}

// choose returns the algorithm for a problem, which the machine remembers.
func (c *Conv) choose(p *conv.Problem) (*choice, error) {
	f := c.forced[p.Direction]
	found, err := c.machine.Recall(keyOf(p, f), func() (any, error) { return choose(p, f) })
	if err != nil {
		return nil, err
	}
	return found.(*choice), nil
}

// compute prepares a problem.
func (c *Conv) compute(p conv.Problem) (*direction, error) {
	found, err := c.choose(&p)
	if err != nil {
		return nil, err
	}
	return c.with(p, found)
}

// with prepares a problem with an algorithm.
func (c *Conv) with(p conv.Problem, found *choice) (*direction, error) {
	asked := &p
	if found.planar {
		asked, _ = planarProblem(&p)
	}
	k, err := found.algorithm.Kernel(c.machine, asked)
	if err == nil && found.planar {
		k = &planarResults{Task: k.(*conv.Task)}
	}
	return &direction{problem: p, choice: found, kernel: k}, err
}

// join prepares both gradients at once, where one algorithm was chosen for each and can do that.
func (c *Conv) join() (err error) {
	c.both = nil
	w, x := c.does[shape.WeightGradient].doing(), c.does[shape.InputGradient].doing()
	if w == nil || x == nil || w.algorithm != x.algorithm {
		return nil
	}
	if p := c.problem(shape.BothGradients); w.algorithm.Refuses(&p) == nil {
		c.both, err = c.with(p, &choice{algorithm: w.algorithm})
	}
	return err
}

// Algorithm returns what computes a direction: as long as a tuner measures, the cost model's choice.
func (c *Conv) Algorithm(d shape.Direction) shape.Algorithm { return c.does[d].now().name() }

// GradsAlgorithm returns what computes BothGradients, "" if that is not possible.
func (c *Conv) GradsAlgorithm() shape.Algorithm {
	if c.both == nil {
		return ""
	}
	return c.both.name() + "-joint"
}

// Strategy returns the family of a direction's algorithm.
func (c *Conv) Strategy(d shape.Direction) shape.Strategy { return c.does[d].now().algorithm.Family }

// RunnerUp returns the algorithm that a direction would have been computed with, had the one that was chosen not been faster.
func (c *Conv) RunnerUp(d shape.Direction) RunnerUp { return c.does[d].now().second }

// Can returns the abilities of a direction's kernel. With a tuner, results are computed several times while algorithms are measured, and cannot
// be finished.
func (c *Conv) Can(d shape.Direction) conv.Abilities {
	can := c.does[d].can()
	if c.tuner != nil {
		can &^= conv.FinishResults
	}
	return can
}

// Scratch returns how many values of scratch a direction takes; 0 as long as its algorithm is being found.
func (c *Conv) Scratch(d shape.Direction) int { return c.does[d].needs() }

// JoinsGrads reports whether Run computes BothGradients.
func (c *Conv) JoinsGrads() bool { return c.both != nil }

// GradsScratch returns how many values of scratch that takes.
func (c *Conv) GradsScratch() int { return c.both.needs() }

// Run computes a direction, or BothGradients if JoinsGrads, with the same bits.
func (c *Conv) Run(d shape.Direction, a conv.Arrays) error {
	if d == shape.BothGradients {
		return c.both.kernel.Run(a)
	}
	return c.does[d].run(c.machine, a)
}

// SetLayouts says how images and results lie from now on, in all directions; Blocks has said that they may.
func (c *Conv) SetLayouts(images, results conv.Layout) error {
	if layouts := [2]conv.Layout{images, results}; c.layouts != layouts {
		c.layouts = layouts
		return c.prepare()
	}
	return nil
}

// ForShape plans the same convolution of images of other extents, which lie alike, with the same strategies, or what the tuner knows or finds.
func (c *Conv) ForShape(s shape.Conv) (*Conv, error) {
	n := &Conv{machine: c.machine, spec: c.spec, free: c.free, layouts: c.layouts, tuner: c.tuner}
	for d := range shape.Direction(3) {
		p := c.problem(d)
		p.Images, p.Results = conv.Planes, conv.Planes
		found, err := c.choose(&p)
		if err != nil {
			return nil, err
		}
		n.forced[d] = Force{Family: found.algorithm.Family, Name: c.forced[d].Name}
	}
	return n, n.plan(s)
}

// doing returns the direction, nil as long as its algorithm is being found.
func (d *direction) doing() *direction {
	if d.tuned != nil {
		return d.tuned.best
	}
	return d
}

// name is that of the algorithm, and of the one that it leaves what remains to.
func (d *direction) name() shape.Algorithm {
	name := shape.Algorithm(d.algorithm.Name)
	if k, ok := d.kernel.(interface{ Inner() shape.Algorithm }); ok {
		name += "-" + k.Inner()
	}
	return name
}

// now returns the direction as it is computed now.
func (d *direction) now() *direction {
	if best := d.doing(); best != nil {
		return best
	}
	return d
}

// can returns the abilities.
func (d *direction) can() conv.Abilities {
	if d = d.doing(); d == nil || d.planar {
		return 0
	}
	return d.algorithm.Abilities(&d.problem)
}

// needs is the scratch that is known to be needed.
func (d *direction) needs() int {
	if d == nil || d.doing() == nil {
		return 0
	}
	return d.doing().kernel.Scratch()
}

// run computes the direction. Where only costs count and choosing the algorithm has found them, they are charged again.
func (d *direction) run(m *cpe.Machine, a conv.Arrays) error {
	switch {
	case d.tuned != nil:
		return d.tuned.run(a)
	case d.ledger != nil && m.CostsAlone():
		m.Charge(d.ledger)
		return nil
	}
	return d.kernel.Run(a)
}
