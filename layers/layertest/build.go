package layertest

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers"
)

// Engines lists both paths, for tests that run on each.
func Engines() []layers.Engine { return []layers.Engine{layers.MPE, layers.CPE} }

// Build builds a case on this computer with the given path. It fails the test on an error.
func Build(t testing.TB, b *Bench, engine layers.Engine, c Case) *Fixture {
	t.Helper()
	c.Param += c.files(t)
	f, err := New(b.Device(engine), &c)
	if err != nil {
		t.Fatalf("%s on %v: %v", &c, engine, err)
	}
	return f
}

func (c *Case) files(t testing.TB) string {
	if c.Files == nil {
		return ""
	}
	return " " + c.Files(t)
}

// Forward runs the layer forward on the initial bottoms and returns the tops' data.
func (f *Fixture) Forward(t testing.TB) [][]float32 {
	t.Helper()
	if err := f.run(); err != nil {
		t.Fatalf("%s: %v", f.Case, err)
	}
	var tops [][]float32
	for _, top := range f.Top {
		tops = append(tops, append([]float32(nil), top.Data()...))
	}
	return tops
}

// Backward runs the layer forward, then backward from the given gradients of its tops. It returns the gradients of the bottoms (nil for
// those without) and of the weights.
func (f *Fixture) Backward(t testing.TB, diffs ...[]float32) (bottoms, weights [][]float32) {
	t.Helper()
	if err := f.run(); err != nil {
		t.Fatalf("%s: %v", f.Case, err)
	}
	if err := f.backward(diffs); err != nil {
		t.Fatalf("%s: %v", f.Case, err)
	}
	for i, b := range f.Bottom {
		if !f.propagate[i] {
			bottoms = append(bottoms, nil)
			continue
		}
		bottoms = append(bottoms, append([]float32(nil), b.Diff()...))
	}
	return bottoms, f.weightGrads()
}

// weightGrads returns the sums that Backward added to the weights' gradients.
func (f *Fixture) weightGrads() [][]float32 {
	var grads [][]float32
	for i, w := range f.Layer.Params() {
		grad := append([]float32(nil), w.Diff()...)
		for k := range grad {
			grad[k] -= f.before(i, k)
		}
		grads = append(grads, grad)
	}
	return grads
}

// SetWeight sets the values of weight i for all later runs.
func (f *Fixture) SetWeight(i int, values ...float32) {
	if len(values) != len(f.weights[i]) {
		panic("layertest: wrong number of values for a weight")
	}
	copy(f.weights[i], values)
}

// Weight returns the values of weight i after the last Forward.
func (f *Fixture) Weight(i int) []float32 { return f.Layer.Params()[i].Data() }

// SetInput sets the values of bottom i for all later runs.
func (f *Fixture) SetInput(i int, values ...float32) {
	if len(values) != len(f.inputs[i]) {
		panic("layertest: wrong number of values for a bottom")
	}
	copy(f.inputs[i], values)
}

// Enlarge returns a case with n items in every bottom, built and run forward, or nil: its bottoms have different extents of axis 0, or values that
// its functions cannot draw for more.
func Enlarge(d *layers.Device, c *Case, n int) (larger *Case, f *Fixture) {
	defer func() {
		if recover() != nil {
			larger, f = nil, nil
		}
	}()
	larger = new(Case)
	*larger = *c
	larger.Bottoms = nil
	for _, in := range c.Bottoms {
		if len(in.Shape) == 0 || in.Shape[0] != c.Bottoms[0].Shape[0] {
			return nil, nil
		}
		in.Shape = append([]int{n}, in.Shape[1:]...)
		larger.Bottoms = append(larger.Bottoms, in)
	}
	f, err := New(d, larger)
	if err != nil || f.run() != nil {
		return nil, nil
	}
	return larger, f
}
