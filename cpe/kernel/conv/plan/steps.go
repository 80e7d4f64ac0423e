package plan

import (
	"errors"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// apart does the steps that kernels refuse, in passes over memory. What it needs is made when it is first needed.
type apart struct {
	passes map[[4]int]*stream.Finishing // by their dims and lanes
	added  []float32                    // a gradient of images before it is added
	rest   conv.Arrays                  // the steps of this run

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
	r := conv.Arrays{Y: a.Y, DX: a.DX, Single: a.Single || a.Finish == nil}
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
	pass, err := p.pass(c, d, r.Single)
	switch {
	case err != nil:
		return err
	case d == shape.Forward:
		return pass.Run(r.Y, p.results)
	}
	return pass.Run(r.DX, p.images)
}

// finishResults and finishImages are the Finishes of the passes.
func (p *apart) finishResults(y []float32, at, first int) {
	if p.rest.Floor {
		vec.ReLU(y, y, 0)
	}
	if p.rest.Finish != nil {
		p.rest.Finish(y, at, first)
	}
}

func (p *apart) finishImages(dx []float32, at, _ int) {
	if p.rest.Add {
		vec.Add(dx, dx, p.added[at:at+len(dx)])
	}
	if p.rest.Above != nil {
		vec.ReLUGrad(dx, dx, p.rest.Above[at:at+len(dx)], 0)
	}
}

// pass returns the pass over the results of Forward or over the images of gradients. single: it does not depend on channels.
func (p *apart) pass(c *Conv, d shape.Direction, single bool) (*stream.Finishing, error) {
	s, layout := &c.shape, c.layouts[1]
	dims, lanes := [3]int{s.N, s.Out, tiling.Size(s.OutSize())}, 0
	if d != shape.Forward {
		layout, dims = c.layouts[0], [3]int{s.N, s.C, tiling.Size(s.In)}
	}
	switch {
	case single:
		dims = [3]int{1, 1, dims[0] * dims[1] * dims[2]}
	case layout != shape.Planes:
		lanes = shape.BlockLanes
		dims[1], dims[2] = dims[1]/lanes, dims[2]*lanes
	}
	key := [4]int{dims[0], dims[1], dims[2], lanes}
	if pass := p.passes[key]; pass != nil {
		return pass, nil
	}
	if p.passes == nil {
		p.passes = map[[4]int]*stream.Finishing{}
		p.images, p.results = p.finishImages, p.finishResults
	}
	pass, err := stream.NewFinishing(c.machine, dims, lanes)
	p.passes[key] = pass
	return pass, err
}
