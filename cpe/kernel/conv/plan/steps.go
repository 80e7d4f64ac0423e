package plan

import (
	"errors"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// apart does the steps that kernels refuse, in passes over memory. What it needs is made when it is first needed.
type apart struct {
	passes [2]*stream.Finishing // over images and results
	layout [2]shape.Layout      // those of the passes
	added  []float32            // a gradient of images before it is added
	rest   conv.Arrays          // the steps of this run

	images, results op.Finish // finishImages and finishResults
}

// Does reports whether the kernel of a direction does a step along with it.
func (c *Conv) Does(d shape.Direction, s op.Step) bool {
	best := c.does[d].doing()
	return best != nil && best.steps[s]
}

// RefusesStep returns nil, or the reason why the kernel of a direction does not do a step.
func (c *Conv) RefusesStep(d shape.Direction, s op.Step) error {
	if best := c.does[d].doing(); best != nil {
		return best.refuses(s)
	}
	return errors.New("a tuner measures")
}

// refuses returns nil, or the reason why the kernel does not do a step.
func (d *direction) refuses(s op.Step) error {
	if d.planar {
		return errors.New("it reads a copy of the results in planes")
	}
	return d.Algorithm.RefusesStep(&d.problem, s)
}

// rest takes the steps out of a that the kernel refuses, and returns them for apart.run, nil if there are none.
func (c *Conv) rest(d shape.Direction, a *conv.Arrays) (*conv.Arrays, error) {
	r := conv.Arrays{Y: a.Y, DX: a.DX}
	some := false
	if a.Floor && !c.Does(d, op.Floor) {
		a.Floor, r.Floor, some = false, true, true
	}
	if a.Finish != nil && !(c.Does(d, op.Post) && !r.Floor) {
		a.Finish, r.Finish, some = nil, a.Finish, true
	}
	if a.Above != nil && !c.Does(shape.InputGradient, op.Mask) {
		a.Above, r.Above, some = nil, a.Above, true
	}
	switch {
	case d == shape.WeightGradient && !a.Add && !c.Does(d, op.Overwrite):
		clear(a.DW)
		a.Add = true
	case d == shape.InputGradient && a.Add && !c.Does(d, op.Add):
		if len(c.apart.added) != len(a.DX) {
			c.apart.added = pages.Floats(len(a.DX))
		}
		a.Add, a.DX, r.Add, some = false, c.apart.added, true, true
	}
	if !some {
		return nil, nil
	}
	if c.machine.HasDMA() {
		return nil, errors.New("steps in passes over memory are for this computer")
	}
	c.apart.rest = r
	return &c.apart.rest, nil
}

// run does the steps.
func (p *apart) run(c *Conv, d shape.Direction, r *conv.Arrays) error {
	pass, err := p.pass(c, d)
	switch {
	case err != nil:
		return err
	case d == shape.Forward:
		return pass.Run(r.Y, p.results)
	}
	return pass.Run(r.DX, p.images)
}

// finishResults and finishImages are the Finishes of the passes.
func (p *apart) finishResults(y []float32, at, n, first int) {
	if p.rest.Floor {
		vec.ReLU(y[at:at+n], y[at:at+n], 0)
	}
	if p.rest.Finish != nil {
		p.rest.Finish(y, at, n, first)
	}
}

func (p *apart) finishImages(dx []float32, at, n, _ int) {
	if dx = dx[at : at+n]; p.rest.Add {
		vec.Add(dx, dx, p.added[at:at+n])
	}
	if p.rest.Above != nil {
		vec.ReLUGrad(dx, dx, p.rest.Above[at:at+n], 0)
	}
}

// pass returns the pass over the results of Forward or over the images of gradients.
func (p *apart) pass(c *Conv, d shape.Direction) (pass *stream.Finishing, err error) {
	s, which, channels, area := &c.shape, 1, c.shape.Out, tiling.Size(c.shape.OutSize())
	if d != shape.Forward {
		which, channels, area = 0, s.C, tiling.Size(s.In)
	}
	layout := c.layouts[which]
	if pass = p.passes[which]; pass != nil && p.layout[which] == layout {
		return pass, nil
	}
	dims, lanes := [3]int{s.N, channels, area}, 0
	if layout != shape.Planes {
		lanes = shape.BlockLanes
		dims = [3]int{s.N, channels / lanes, area * lanes}
	}
	p.images, p.results = p.finishImages, p.finishResults
	pass, err = stream.NewFinishing(c.machine, dims, lanes)
	p.passes[which], p.layout[which] = pass, layout
	return pass, err
}
