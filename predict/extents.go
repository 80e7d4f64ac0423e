package predict

import (
	"fmt"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// AnyExtent stands in the shapes of Model.Extents for an extent that a run may choose.
const AnyExtent = -1

// extents says what axis 0 of inputs and outputs may be. It is found out when somebody asks, by planning the net for other extents than the prototxt's.
type extents struct {
	once            sync.Once
	apart           error // why a run cannot have the items of several requests
	inputs, outputs []Port
	err             error // of the trials' machine
}

// Joins returns an error that says why a run cannot have the items of several requests, nil if it can: then axis 0 of all inputs and outputs counts items, and an item
// has the same results in any company.
func (m *Model) Joins() error {
	x := m.known()
	if x.err != nil {
		return x.err
	}
	return x.apart
}

// Extents returns the inputs and outputs as Inputs and Outputs do, but with AnyExtent on axis 0 where the net can be planned with another extent than the prototxt's: of
// one input, or of all inputs that have the same there. Callers must not change them.
func (m *Model) Extents() (inputs, outputs []Port, err error) {
	x := m.known()
	return x.inputs, x.outputs, x.err
}

// known finds out the extents once.
func (m *Model) known() *extents {
	x := &m.extents
	x.once.Do(func() {
		x.inputs, x.outputs = copies(m.inputs), copies(m.outputs)
		if x.apart = m.keepsApart(); x.apart == nil {
			x.apart, x.err = m.tryJoined()
		}
		if x.err == nil && x.apart != nil {
			x.err = m.tryAll()
			return
		}
		for _, p := range slices.Concat(x.inputs, x.outputs) {
			if len(p.Shape) > 0 {
				p.Shape[0] = AnyExtent
			}
		}
	})
	return x
}

// copies returns ports whose shapes can be changed.
func copies(ports []Port) (list []Port) {
	for _, p := range ports {
		list = append(list, Port{p.Name, slices.Clone(p.Shape)})
	}
	return list
}

// keepsApart returns why a run cannot have the items of several requests, as far as layers and the prototxt's shapes tell.
func (m *Model) keepsApart() error {
	switch {
	case m.mixes != nil:
		return m.mixes
	case m.effect != "":
		return m.Continues()
	case m.detector != "":
		return fmt.Errorf("%s: output %q has a row for each object, not for each item", m.opt.Net, m.detector)
	case m.uneven() != nil:
		return m.uneven()
	}
	first := m.inputs[0].Shape
	for _, p := range m.outputs {
		if len(p.Shape) == 0 || p.Shape[0] != first[0] {
			return fmt.Errorf("%s: axis 0 of output %q, %v, does not count the items of input %q, %v", m.opt.Net, p.Name, p.Shape, m.inputs[0].Name, first)
		}
	}
	return nil
}

// uneven returns an error if the inputs differ on axis 0, so that it does not count the items of a batch.
func (m *Model) uneven() error {
	first := &m.inputs[0]
	for _, p := range m.inputs {
		switch {
		case len(p.Shape) == 0:
			return fmt.Errorf("%s: input %q has no axes, so that it does not count items", m.opt.Net, p.Name)
		case p.Shape[0] != first.Shape[0]:
			return fmt.Errorf("%s: inputs %q, %v, and %q, %v, differ on axis 0, which does not count the items of a batch then", m.opt.Net, first.Name, first.Shape, p.Name, p.Shape)
		}
	}
	return nil
}

// tryJoined plans the net for another number of items, which all outputs must have on axis 0. apart says why they do not.
func (m *Model) tryJoined() (apart, err error) {
	t, err := m.newTrial()
	if err != nil {
		return nil, err
	}
	defer t.machine.Close()
	n := 1
	if m.inputs[0].Shape[0] == n {
		n = 2
	}
	outputs, err := t.plan(func(int, int) int { return n })
	if err != nil {
		return fmt.Errorf("%s cannot be planned for inputs that have %d on axis 0: %w", m.opt.Net, n, err), nil
	}
	for i, shape := range outputs {
		if len(shape) == 0 || shape[0] != n {
			return fmt.Errorf("%s: output %q has shape %v for %d items", m.opt.Net, m.outputs[i].Name, shape, n), nil
		}
	}
	return nil, nil
}

// tryAll finds out which inputs can have other extents on axis 0: together all that have the same there, or one.
func (m *Model) tryAll() error {
	t, err := m.newTrial()
	if err != nil {
		return err
	}
	defer t.machine.Close()
	var seen []int
	for _, p := range m.inputs {
		if len(p.Shape) == 0 || slices.Contains(seen, p.Shape[0]) {
			continue
		}
		n := p.Shape[0]
		seen = append(seen, n)
		if t.frees(func(_, extent int) bool { return extent == n }) {
			continue
		}
		for i, alone := range m.inputs {
			if len(alone.Shape) > 0 && alone.Shape[0] == n {
				t.frees(func(k, _ int) bool { return k == i })
			}
		}
	}
	return nil
}

// trial plans a model's net on the reference path, which plans no kernels.
type trial struct {
	m       *Model
	machine *cpe.Machine
}

func (m *Model) newTrial() (*trial, error) {
	machine, err := cpe.NewHost(1)
	return &trial{m, machine}, err
}

// frees reports whether the chosen inputs, by their number and their extent on axis 0, can have another extent there: one more or twice as many. It notes that, and which outputs change.
func (t *trial) frees(chosen func(input, extent int) bool) (free bool) {
	x := &t.m.extents
	for _, other := range []func(n int) int{func(n int) int { return n + 1 }, func(n int) int { return 2 * n }} {
		outputs, err := t.plan(func(i, n int) int {
			if chosen(i, n) {
				return other(n)
			}
			return n
		})
		if err != nil {
			continue
		}
		free = true
		for i, shape := range outputs {
			if of := t.m.outputs[i].Shape; len(shape) > 0 && len(of) > 0 && shape[0] != of[0] {
				x.outputs[i].Shape[0] = AnyExtent
			}
		}
	}
	for i, p := range t.m.inputs {
		if free && len(p.Shape) > 0 && chosen(i, p.Shape[0]) {
			x.inputs[i].Shape[0] = AnyExtent
		}
	}
	return free
}

// plan plans the net with other extents on axis 0 of the inputs and returns the shapes of the outputs.
func (t *trial) plan(extent func(input, stated int) int) (outputs [][]int, err error) {
	m, shapes := t.m, map[string]*caffepb.BlobShape{}
	for i, p := range m.inputs {
		shape := slices.Clone(p.Shape)
		if len(shape) > 0 {
			shape[0] = extent(i, shape[0])
		}
		shapes[p.Name] = shapeOf(shape)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d := &layers.Device{Engine: layers.MPE, Machine: t.machine, Random: layers.NewRandom(m.opt.Seed), Log: layers.NoLog()}
	n, err := swnet.New(m.reshaped(shapes), swnet.Options{State: m.state, Device: d, Pos: m.file.LayerPos, ForwardOnly: true, Prepares: true, WeightsOf: m.weights})
	if err != nil {
		return nil, err
	}
	for _, o := range n.Outputs() {
		outputs = append(outputs, slices.Clone(o.Blob.Shape()))
	}
	return outputs, n.Close()
}
