package layertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/layers"
)

// outcome holds every result of an iteration.
type outcome struct {
	names  []string
	values [][]float32
	ledger cpe.Ledger
}

func (o *outcome) add(name string, values []float32) {
	o.names = append(o.names, name)
	o.values = append(o.values, append([]float32(nil), values...))
}

// against compares an outcome with the correct one.
func (o *outcome) against(want *outcome, tolerance float64) error {
	var errs []error
	for i, name := range want.names {
		errs = append(errs, compare(name, o.values[i], want.values[i], tolerance))
	}
	return errors.Join(errs...)
}

// iterate runs a fixture forward and, unless its case has no gradient, backward from random top gradients.
func (f *Fixture) iterate() (*outcome, error) {
	o := &outcome{}
	f.Device.Machine.ResetLedger()
	if err := f.run(); err != nil {
		return nil, err
	}
	for i, t := range f.Top {
		o.add(fmt.Sprintf("top %d", i), f.image(t, t.Data()))
	}
	for i, w := range f.Layer.Params() {
		o.add(fmt.Sprintf("weight %d", i), w.Data())
	}
	if f.Type.NoGradient || f.Case.NoGradient != "" {
		o.ledger = f.Device.Machine.Ledger()
		return o, nil
	}
	if err := f.backward(f.topDiffs()); err != nil {
		return nil, err
	}
	o.ledger = f.Device.Machine.Ledger()
	f.addGradients(o)
	return o, nil
}

// addGradients adds Backward's results to an outcome.
func (f *Fixture) addGradients(o *outcome) {
	for i, b := range f.Bottom {
		if f.propagate[i] {
			o.add(fmt.Sprintf("gradient of bottom %d", i), f.image(b, b.Diff()))
		}
	}
	for i, g := range f.weightGrads() {
		o.add(fmt.Sprintf("gradient of weight %d", i), g)
	}
}

func (f *Fixture) topDiffs() [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	var diffs [][]float32
	for _, t := range f.gradTops() {
		diff := make([]float32, t.Count())
		Uniform(-1, 1)(r, diff)
		if f.blocked {
			diff = inLayout(t, diff, true)
		}
		diffs = append(diffs, diff)
	}
	return diffs
}

func iteration(d *layers.Device, c *Case) (*outcome, error) {
	f, err := New(d, c)
	if err != nil {
		return nil, err
	}
	return f.iterate()
}

// CheckPaths compares the CPE path, on this computer and on the modelled machine, with the MPE path. On the modelled machine it also
// compares the charges of cost-only execution with those of real execution.
func CheckPaths(b *Bench, c *Case) error {
	want, err := iteration(b.Device(layers.MPE), c)
	if err != nil {
		return fmt.Errorf("MPE: %w", err)
	}
	tolerance := orElse(c.Paths, 1e-5)
	var errs []error
	var charged cpe.Ledger
	for _, m := range []*cpe.Machine{b.Host, b.Model} {
		got, err := iteration(device(layers.CPE, m), c)
		if err == nil {
			charged, err = got.ledger, got.against(want, tolerance)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("CPE on %s: %w", m.Spec().Name, err))
		}
	}
	planned, err := iteration(device(layers.CPE, b.Cost), c)
	switch {
	case err != nil:
		errs = append(errs, fmt.Errorf("CPE on %s, cost only: %w", b.Cost.Spec().Name, err))
	case planned.ledger != charged:
		errs = append(errs, fmt.Errorf("cost-only charges differ from real execution on %s: %+v, real %+v",
			b.Cost.Spec().Name, planned.ledger, charged))
	}
	return errors.Join(errs...)
}

// CheckTiled checks that an iteration on the modelled machine has a cost. A layer that runs the MPE path in place of the CPE path has none.
func CheckTiled(b *Bench, c *Case) error {
	got, err := iteration(device(layers.CPE, b.Model), c)
	switch {
	case err != nil:
		return err
	case c.Still == "" && got.ledger.Time == 0:
		return fmt.Errorf("CPE on %s: an iteration costs nothing: the layer has no CPE path", b.Model.Spec().Name)
	case c.Still != "" && got.ledger.Time > 0:
		return fmt.Errorf("CPE on %s: an iteration costs %v, though %s", b.Model.Spec().Name, got.ledger.Time, c.Still)
	}
	return nil
}

// CheckFirstUse compares the CPE path with the MPE path in an iteration in which the layer is the first to use its storage. Core groups that ask
// a blob for new storage at the same time may each get their own. That changes a result seldom; the race detector finds it every time.
func CheckFirstUse(b *Bench, c *Case) error {
	var want *outcome
	var errs []error
	for _, d := range []*layers.Device{b.Device(layers.MPE), device(layers.CPE, b.Host), device(layers.CPE, b.Model)} {
		f, err := New(d, c)
		if err != nil {
			return err
		}
		f.fresh = true
		got, err := f.iterate()
		if want == nil {
			want = got
		}
		if err == nil {
			err = got.against(want, orElse(c.Paths, 1e-5))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("first use of storage, %v on %s: %w", d.Engine, d.Machine.Spec().Name, err))
		}
	}
	return errors.Join(errs...)
}

// CheckCores checks that the CPE path on this computer gives the same bits for any number of cores.
func CheckCores(b *Bench, c *Case) error {
	var want *outcome
	for _, m := range append([]*cpe.Machine{b.Host}, b.cores...) {
		got, err := iteration(device(layers.CPE, m), c)
		if err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		if err := got.against(want, 0); err != nil {
			return fmt.Errorf("on %d cores instead of %d: %w", m.Spec().CoreGroups, b.Host.Spec().CoreGroups, err)
		}
	}
	return nil
}

// CheckReshape runs a case in its shapes, then in those of Again. There it must give the bits of a layer built for these shapes. Back in
// the first shapes it must give the first results.
func CheckReshape(device func() *layers.Device, c *Case) error {
	f, err := New(device(), c)
	if err != nil {
		return err
	}
	first, err := f.iterate()
	if err != nil {
		return err
	}
	again := *c
	again.Bottoms = slices.Clone(c.Bottoms)
	var original [][]int
	for i, shape := range c.Again {
		original = append(original, c.Bottoms[i].Shape)
		again.Bottoms[i].Shape = shape
	}
	want, err := iteration(device(), &again)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		shapes [][]int
		want   *outcome
	}{{c.Again, want}, {original, first}} {
		if err := f.reshape(step.shapes); err != nil {
			return err
		}
		got, err := f.iterate()
		if err != nil {
			return err
		}
		if err := got.against(step.want, 0); err != nil {
			return fmt.Errorf("after a change of shapes to %v: %w", step.shapes, err)
		}
	}
	return nil
}

// CheckAllocations counts the allocations of an iteration of the CPE path on this computer, after the first iteration.
func CheckAllocations(b *Bench, c *Case) error {
	f, err := New(b.Device(layers.CPE), c)
	if err != nil {
		return err
	}
	gradient := !f.Type.NoGradient && c.NoGradient == ""
	once := func() {
		err = errors.Join(err, f.Layer.Reshape(f.Bottom, f.Top), f.Layer.Forward(f.Bottom, f.Top))
		if gradient {
			err = errors.Join(err, f.Layer.Backward(f.Top, f.propagate, f.Bottom))
		}
	}
	allocated := alloctest.PerRun(5, once)
	if err == nil && allocated > 0 {
		err = fmt.Errorf("an iteration allocates %d times", allocated)
	}
	return err
}
