package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Session runs a model on a number of cores. One goroutine at a time uses it; a call during another call is an error. Several sessions of a model
// run at the same time. Each has memory of its own for what its layers compute, and all have the model's weights.
type Session struct {
	model  *Model
	device *layers.Device
	arena  swnet.Arena // memory of all plans, of which one runs at a time
	plans  []*plan     // the one used last first
	given  []Array     // the inputs of the present run, in the order of the model's
	outs   []Array
	busy   atomic.Bool
	closed bool

	observe func(layer, kind string, begun time.Time) // nil: nobody observes
}

// Observe makes the session tell f of every layer's run, which began at a time and has just ended, with the layer's name and type. It is called before the first plan.
func (s *Session) Observe(f func(layer, kind string, begun time.Time)) { s.observe = f }

// Array is an input or an output of a net: values in C order. In an input of a net with one, the name may be left out; without a shape, an input
// has that of the prototxt, with as many items as there are values for.
type Array struct {
	Name   string
	Shape  []int
	Values []float32
}

// NewSession returns a session that computes on a number of this computer's cores; 0: on all that Go uses. It is a budget: sessions that together have as
// many cores as the computer do not take each other's. The results do not depend on it. A model whose layers have effects (Model.Continues) has one
// session at a time.
func (m *Model) NewSession(cores int) (*Session, error) {
	machine, err := m.newMachine(cores)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions > 0 && m.effect != "" {
		machine.Close()
		return nil, fmt.Errorf("%s: the net can have one session at a time, and it has one", m.effect)
	}
	m.sessions++
	return &Session{
		model: m, device: &layers.Device{Engine: m.opt.Engine, Machine: machine, Random: layers.NewRandom(m.opt.Seed)},
		given: make([]Array, len(m.inputs)), outs: make([]Array, len(m.outputs)),
	}, nil
}

// newMachine makes a session's machine.
func (m *Model) newMachine(cores int) (*cpe.Machine, error) {
	if m.opt.Machine == nil {
		return cpe.NewHost(cores)
	}
	if err := cpe.CheckCores(cores); err != nil {
		return nil, fmt.Errorf("cores: %w", err)
	}
	spec, mode := *m.opt.Machine, cpe.DefaultMode(*m.opt.Machine)
	if cores > 0 {
		if mode != cpe.Native {
			return nil, fmt.Errorf("%d cores: machine %q is modelled, with %d core groups; a number of cores is for this computer", cores, spec.Name, spec.CoreGroups)
		}
		spec.CoreGroups = cores
	}
	return cpe.New(spec, mode)
}

// Close ends the session's goroutines. The session cannot be used afterwards.
func (s *Session) Close() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	s.closed = true
	var errs []error
	for _, p := range s.plans {
		errs = append(errs, p.net.Close())
	}
	s.plans = nil
	s.device.Machine.Close()
	s.model.mu.Lock()
	s.model.sessions--
	s.model.mu.Unlock()
	return errors.Join(errs...)
}

// enter admits one goroutine.
func (s *Session) enter() error {
	if !s.busy.CompareAndSwap(false, true) {
		return errors.New("the session is in use by another goroutine; a Pool hands out sessions to many")
	}
	if s.closed {
		s.leave()
		return errors.New("the session was closed")
	}
	return nil
}

func (s *Session) leave() { s.busy.Store(false) }

// Run computes the net's outputs from its inputs. The outputs, sorted by name, are memory of the session: they hold until its next call. Run ends with an
// error soon after ctx ends, after the layer that runs then. It allocates nothing for shapes that the session has a plan for.
func (s *Session) Run(ctx context.Context, inputs ...Array) ([]Array, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.bind(inputs); err != nil {
		return nil, err
	}
	p, err := s.plan()
	if err != nil {
		return nil, s.misfit(err)
	}
	for i, a := range s.given {
		copy(p.inputs[i].Data(), a.Values)
	}
	if err := p.forward(ctx); err != nil {
		return nil, err
	}
	for i, o := range p.outputs {
		s.outs[i] = Array{o.Name, o.Blob.Shape(), o.Blob.Data()}
	}
	return s.outs, nil
}

// Plan plans the net for a number of items, and runs nothing. It tells whether the net can be planned.
func (s *Session) Plan(items int) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	_, err := s.planFor(items)
	return err
}

// Prepare plans the net for a number of items, and makes what the plan keeps, as packed weights, in a run of zeros, which no later run of that size waits for then. A net whose layers
// have effects (Model.Continues) does not run.
func (s *Session) Prepare(items int) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	p, err := s.planFor(items)
	if err != nil {
		return err
	}
	return s.prepare(p)
}

// PrepareStated is Prepare for the shapes that the prototxt states; an extent of 0 on axis 0 counts as 1.
func (s *Session) PrepareStated() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	p, err := s.planWith(func(stated int) int { return max(1, stated) })
	if err != nil {
		return err
	}
	return s.prepare(p)
}

// prepare runs a plan on zeros, unless that has effects.
func (s *Session) prepare(p *plan) error {
	if s.model.effect != "" {
		return nil
	}
	for _, in := range p.inputs {
		clear(in.Data())
	}
	if err := p.forward(context.Background()); pages.Outside(err) != nil {
		return err
	}
	return nil // a layer may refuse zeros, as the size of an image; what the layers before it keep is made
}

// bind puts the inputs into the model's order and checks them.
func (s *Session) bind(inputs []Array) error {
	ports := s.model.inputs
	if len(inputs) != len(ports) {
		return fmt.Errorf("%d inputs are given, %s has %d", len(inputs), s.model.opt.Net, len(ports))
	}
	for i := range s.given {
		s.given[i] = Array{Shape: s.given[i].Shape[:0]}
	}
	for _, a := range inputs {
		k := slices.IndexFunc(ports, func(p Port) bool { return p.Name == a.Name })
		if a.Name == "" && len(ports) == 1 {
			k = 0
		}
		switch {
		case k < 0:
			return suggest.Unknown("input", a.Name, "inputs", portNames(ports))
		case s.given[k].Name != "":
			return fmt.Errorf("input %q is given twice", a.Name)
		}
		shape, err := s.model.shapeOf(k, &a, s.given[k].Shape)
		if err != nil {
			return err
		}
		s.given[k] = Array{ports[k].Name, shape, a.Values}
	}
	return nil
}

func portNames(ports []Port) (names []string) {
	for _, p := range ports {
		names = append(names, p.Name)
	}
	return names
}

// shapeOf returns the shape of an array that is given for input k, appended to into.
func (m *Model) shapeOf(k int, a *Array, into []int) ([]int, error) {
	port := &m.inputs[k]
	if a.Shape == nil {
		into = append(into, port.Shape...)
		if item := blob.CountOf(port.Shape[min(1, len(port.Shape)):]...); len(into) > 0 && item > 0 {
			into[0] = len(a.Values) / item
		}
	} else {
		into = append(into, a.Shape...)
	}
	if len(into) != len(port.Shape) {
		return nil, fmt.Errorf("input %q has shape %v, of %d axes; the net takes %v, of %d", port.Name, into, len(into), port.Shape, len(port.Shape))
	}
	for axis, n := range into {
		if stated := port.Shape[axis]; n < 1 {
			return nil, fmt.Errorf("input %q has shape %v with %d values: axis %d has extent %d; it must be at least 1", port.Name, into, len(a.Values), axis, n)
		} else if axis > 0 && n != stated && !m.opt.AnySize {
			return nil, fmt.Errorf("input %q has shape %v: axis %d has extent %d, the net takes %d (shape %v)", port.Name, into, axis, n, stated, port.Shape)
		}
	}
	if n := blob.CountOf(into...); n != len(a.Values) {
		return nil, fmt.Errorf("input %q has %d values, but its shape %v needs %d", port.Name, len(a.Values), into, n)
	}
	return into, nil
}

// shapeString is a shape as blobs print it.
func shapeString(shape []int) string { return blob.NewShadow(shape...).ShapeString() }
