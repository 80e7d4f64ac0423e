package solver

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// footing is what a snapshot stores besides weights and histories, as it was after a whole number of iterations and before the tests that
// follow. Passes and tests change these values long before the update changes the weights. If an error ends an iteration or a test, weights
// and histories are still those of the footing, and both together are the snapshot of that moment.
type footing struct {
	iter, step int
	best       best
	random     []byte
	testRandom [][]byte
	reads      []reading
	carried    []carried
	statistics []statistic

	taken    bool
	updating bool // an update has begun since then: the weights may be neither the old nor the new ones
}

// reading is a layer's position in its stream of items.
type reading struct {
	net, layer string
	of         layers.Positioner
	items      uint64
}

// carried is what a layer carries from one Forward to the next.
type carried struct {
	net, layer string
	of         layers.Stateful
	values     []float32
}

// statistic is a running statistic of the training net, which Forward changes.
type statistic struct {
	of     *blob.Blob
	values []float32
}

// prepare finds the layers with such values.
func (f *footing) prepare(v *Solver) {
	f.testRandom = make([][]byte, len(v.testDevices))
	_ = v.positions(v.nets(), func(net, layer string, p layers.Positioner) error {
		f.reads = append(f.reads, reading{net: net, layer: layer, of: p})
		return nil
	})
	v.statefulLayers(func(net, layer string, l layers.Stateful) {
		f.carried = append(f.carried, carried{net: net, layer: layer, of: l})
	})
	for i := range v.net.NumLayers() {
		if l, ok := v.net.Layer(i).(layers.RunningStatistics); ok {
			for _, b := range l.Statistics() {
				f.statistics = append(f.statistics, statistic{of: b})
			}
		}
	}
}

// take records the present values, which are those after iter iterations. After the first call it allocates nothing.
func (f *footing) take(v *Solver, iter int) {
	if f.testRandom == nil {
		f.prepare(v)
	}
	f.taken, f.updating, f.iter, f.step = true, false, iter, v.step
	f.takeTested(v)
	for i := range f.statistics {
		s := &f.statistics[i]
		s.values = append(s.values[:0], s.of.Data()...)
	}
}

// takeTested records anew what the tests after the footing's iterations have changed.
func (f *footing) takeTested(v *Solver) {
	f.best = v.best
	f.random = v.device.Random.AppendState(f.random[:0])
	for i, d := range v.testDevices {
		f.testRandom[i] = d.Random.AppendState(f.testRandom[i][:0])
	}
	for i := range f.reads {
		f.reads[i].items = f.reads[i].of.Position()
	}
	for i := range f.carried {
		c := &f.carried[i]
		c.values = c.values[:0]
		for _, a := range c.of.State() {
			c.values = append(c.values, a...)
		}
	}
}

// store writes the footing into a snapshot.
func (f *footing) store(s *caffepb.SolverState) {
	r := s.RunState
	s.Iter, s.CurrentStep, r.RandomState = proto.Int32(int32(f.iter)), proto.Int32(int32(f.step)), slices.Clone(f.random)
	for _, state := range f.testRandom {
		r.TestRandomState = append(r.TestRandomState, slices.Clone(state))
	}
	f.best.store(r, f.iter)
	for _, p := range f.reads {
		r.Position = append(r.Position, &caffepb.DataPosition{Net: proto.String(p.net), Layer: proto.String(p.layer), Items: proto.Uint64(p.items)})
	}
	r.LayerState = f.layerStates()
}

// layerStates returns what the worker's layers carry from one Forward to the next.
func (f *footing) layerStates() (all []*caffepb.LayerState) {
	for _, c := range f.carried {
		if len(c.values) > 0 {
			all = append(all, &caffepb.LayerState{Net: proto.String(c.net), Layer: proto.String(c.layer), Value: slices.Clone(c.values)})
		}
	}
	return all
}

// regain gives the training net its statistics of the footing, and the solver its counts.
func (f *footing) regain(v *Solver) {
	v.iter, v.step, v.best = f.iter, f.step, f.best
	for _, s := range f.statistics {
		copy(s.of.Data(), s.values)
	}
}
