package layertest

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Case is a layer in one configuration, and how to test it. The zero value of a field suits most layers.
type Case struct {
	Type  string // registered type
	Name  string // the special feature of the configuration
	Param string // the layer's prototxt without name and type, e.g. "pooling_param { kernel_size: 3 }"
	Phase caffepb.Phase
	// Files creates files that Param refers to and returns text to append to Param.
	Files func(t testing.TB) string
	// Feed supplies input to the layer after SetUp, as a program would.
	Feed func(layers.Layer) error

	Bottoms []Bottom
	Tops    int    // number of tops; 0 means 1, negative means none
	InPlace bool   // top[0] is bottom[0]
	Weights []Fill // of the layer's weights; nil means Uniform(-1, 1)
	// KeepWeights keeps the weights that SetUp created.
	KeepWeights bool

	// NoGradient is the reason that the gradient is not checked. Types registered with NoGradient need none.
	NoGradient string
	// CheckedBy is the test that checks the gradient of a layer whose gradient, by intent, is not that of its tops. NoGradient is set too.
	CheckedBy string
	GradTops  int   // only the first GradTops tops have a gradient; 0 means all
	NoParams  []int // weights without gradient (statistics)
	// Still is the reason that the CPE path does no work on a machine: the layer moves no values.
	Still string
	// Step is the step of central differences (0 means 0.01). Tolerance is relative to max(1, |gradient|) (0 means 0.001).
	Step, Tolerance float64
	// Bottom values within KinkWindow of Kink are not checked.
	Kink, KinkWindow float64

	// Paths is the tolerance between paths: |cpe-mpe| <= Paths * (1 + |mpe|); 0 means 1e-5. It covers sums of some hundred float32 values
	// near 1, whose rounding errors add up to about sqrt(n) * 6e-8.
	Paths float64
	// Again holds other bottom shapes for CheckReshape; nil omits that check.
	Again [][]int
	// Allocates is the reason that an iteration may allocate.
	Allocates string
}

// String names a case in a report.
func (c *Case) String() string {
	if c.Name == "" {
		return c.Type
	}
	return c.Type + "/" + c.Name
}

// Fixture is a layer with its blobs.
type Fixture struct {
	Case   *Case
	Type   layers.Type
	Layer  layers.Layer
	Param  *caffepb.LayerParameter
	Device *layers.Device
	Bottom []*blob.Blob
	Top    []*blob.Blob

	inputs    [][]float32 // values of the bottoms before every Forward
	weights   [][]float32 // values of the weights before every Forward
	random    []byte      // state of the random generator before every Forward
	propagate []bool
	blocked   bool // images have channels in blocks
	begins    bool // Backward starts the sums of the weights' gradients (StartDiff)
	fresh     bool // blobs get their storage when the layer first uses it: nothing is set to NaN
}

// New builds a case's layer on a device, fills bottoms and weights and calls SetUp and Reshape. If the layer refuses, New returns its
// error.
func New(d *layers.Device, c *Case) (*Fixture, error) {
	param := &caffepb.LayerParameter{}
	text := fmt.Sprintf("name: %q type: %q %s", c.String(), c.Type, c.Param)
	if _, err := swproto.UnmarshalText("case "+c.String(), []byte(text), param); err != nil {
		return nil, err
	}
	param.Phase = &c.Phase
	typ, err := layers.Find(c.Type)
	if err != nil {
		return nil, err
	}
	f := &Fixture{Case: c, Type: typ, Param: param, Device: d}
	f.makeBlobs()
	if err := typ.CheckBlobs(len(f.Bottom), len(f.Top)); err != nil {
		return nil, err
	}
	f.Layer = typ.New(param, d)
	if err := f.Layer.SetUp(f.Bottom, f.Top); err != nil {
		return nil, err
	}
	if c.Feed != nil {
		if err := c.Feed(f.Layer); err != nil {
			return nil, err
		}
	}
	if err := f.Layer.Reshape(f.Bottom, f.Top); err != nil {
		return nil, err
	}
	f.fillWeights()
	if f.random = d.Random.State(); f.random == nil {
		return nil, fmt.Errorf("the device's generator has no state")
	}
	return f, nil
}

func (f *Fixture) makeBlobs() {
	for i, in := range f.Case.Bottoms {
		b := blob.New(in.Shape...)
		fill(b, in.Fill, "bottom", i)
		f.Bottom = append(f.Bottom, b)
		f.inputs = append(f.inputs, append([]float32(nil), b.Data()...))
		f.propagate = append(f.propagate, !in.NoGradient)
	}
	tops := f.Case.Tops
	if tops == 0 {
		tops = 1
	}
	for i := range max(0, tops) {
		if i == 0 && f.Case.InPlace {
			f.Top = append(f.Top, f.Bottom[0])
			continue
		}
		f.Top = append(f.Top, &blob.Blob{})
	}
}

func (f *Fixture) fillWeights() {
	for i, w := range f.Layer.Params() {
		if !f.Case.KeepWeights {
			var how Fill
			if i < len(f.Case.Weights) {
				how = f.Case.Weights[i]
			}
			fill(w, how, "weight", i)
		}
		f.weights = append(f.weights, append([]float32(nil), w.Data()...))
	}
}

// run restores inputs, weights and random state, then runs Reshape and Forward. Before Forward it sets everything that Forward must write
// to NaN, so that an unwritten value shows: the tops of layers with bottoms, and the values kept for Backward.
func (f *Fixture) run() error {
	f.restore()
	if err := f.Device.Random.SetState(f.random); err != nil {
		return err
	}
	if err := f.Layer.Reshape(f.Bottom, f.Top); err != nil {
		return fmt.Errorf("Reshape: %w", err)
	}
	if len(f.Bottom) > 0 && f.Device.Machine.Values() && !f.fresh {
		for _, t := range append(layers.TraitsOf(f.Layer).Keeps, f.Top...) {
			poison(t.Data())
		}
		f.restore() // tops may share storage with bottoms
	}
	if !f.Device.Machine.Values() {
		f.spoil()
	}
	if err := f.Layer.Forward(f.Bottom, f.Top); err != nil {
		return fmt.Errorf("Forward: %w", err)
	}
	return nil
}

// spoil sets inputs and weights to a number that is no index, label or size, where a machine moves no values: layers must not ask for them.
func (f *Fixture) spoil() {
	for _, b := range append(f.Layer.Params(), f.Bottom...) {
		for i := range b.Data() {
			b.Data()[i] = -1.5
		}
	}
}

// restore resets bottoms and weights to their initial values.
func (f *Fixture) restore() {
	for i, b := range f.Bottom {
		copy(b.Data(), f.inputs[i])
	}
	for i, w := range f.Layer.Params() {
		copy(w.Data(), f.weights[i])
	}
}

// reshape gives the bottoms other shapes and refills them.
func (f *Fixture) reshape(shapes [][]int) error {
	for i, b := range f.Bottom {
		b.Reshape(shapes[i]...)
		fill(b, f.Case.Bottoms[i].Fill, "bottom", i)
		if f.inputs[i] = append([]float32(nil), b.Data()...); f.blocked {
			f.inputs[i] = inLayout(b, b.Data(), true)
		}
	}
	return f.Layer.Reshape(f.Bottom, f.Top)
}

// gradTops returns the tops that have a gradient.
func (f *Fixture) gradTops() []*blob.Blob {
	if n := f.Case.GradTops; n > 0 {
		return f.Top[:n]
	}
	return f.Top
}

// backward runs Backward with the given gradients of the tops. Before, it sets bottom gradients and values that Backward need not read to
// NaN, so that an unwritten or wrongly read value shows. Weight gradients start at known values, to which Backward must add; or they hold
// NaN after StartDiff and count as zero.
func (f *Fixture) backward(diffs [][]float32) error {
	return f.backwardWithout(unread(f.Layer, f.Bottom, f.Top), diffs)
}

// backwardWithout is backward with the values of the lost blobs set to NaN.
func (f *Fixture) backwardWithout(lost []*blob.Blob, diffs [][]float32) error {
	if !f.fresh {
		f.prepareGradients(lost)
	}
	for _, t := range f.Top { // tops may share storage with bottoms
		t.ZeroDiff()
	}
	for i, d := range diffs {
		copy(f.Top[i].Diff(), d)
	}
	if err := f.Layer.Backward(f.Top, f.propagate, f.Bottom); err != nil {
		return fmt.Errorf("Backward: %w", err)
	}
	return nil
}

// prepareGradients sets what Backward must write, and the values of the lost blobs, to NaN, and the sums to which it adds to known values.
func (f *Fixture) prepareGradients(lost []*blob.Blob) {
	if f.Device.Machine.Values() {
		for _, b := range lost {
			poison(b.Data())
		}
	}
	for i, b := range f.Bottom {
		if f.propagate[i] {
			poison(b.Diff())
		}
	}
	for i, w := range f.Layer.Params() {
		for k := range w.Diff() {
			w.Diff()[k] = f.before(i, k)
		}
		if f.begins {
			poison(w.Diff())
			w.StartDiff()
		}
	}
}

// before returns the gradient of value k of weight i before Backward. It is a small binary fraction, so that adding to it loses little
// precision.
func (f *Fixture) before(i, k int) float32 {
	if f.begins {
		return 0
	}
	return float32((i+k)%5-2) / 4
}

// fixed reports whether weight i has no gradient.
func (f *Fixture) fixed(i int) bool {
	for _, n := range f.Case.NoParams {
		if n == i {
			return true
		}
	}
	return false
}
