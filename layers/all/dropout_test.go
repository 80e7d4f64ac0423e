package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	addCases("Dropout",
		layertest.Case{Name: "scaled in phase TEST", Phase: caffepb.Phase_TEST, Param: "dropout_param { scale_train: false }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}, Again: [][]int{{7, 900}}},
		layertest.Case{Name: "train", Param: "dropout_param { dropout_ratio: 0.3 }", Bottoms: []layertest.Bottom{layertest.In(4, 50)}, Again: [][]int{{3, 30000}}},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Bottoms: []layertest.Bottom{layertest.In(4, 5)}},
		layertest.Case{Name: "in place", InPlace: true, Bottoms: []layertest.Bottom{layertest.In(4, 50)}})
}

// TestDropoutOfNothing: ratio 0, with which nets disable dropout, changes no value.
func TestDropoutOfNothing(t *testing.T) {
	b := layertest.NewBench(t)
	x, dy := []float32{1, -2, 0, 3e-30, 5, 6}, []float32{1, 2, 3, 4, 5, 6}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: 0 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, 2, 3)}})
		layertest.Equal(t, "y", f.Forward(t)[0], x, 0)
		dx, _ := f.Backward(t, dy)
		layertest.Equal(t, "gradient", dx[0], dy, 0)
	}
}

// TestDropoutScaledInTest: with scale_train: false, training does not scale, and phase TEST multiplies by 1 - ratio.
func TestDropoutScaledInTest(t *testing.T) {
	b := layertest.NewBench(t)
	x := []float32{1, -2, 3, 8}
	for _, engine := range layertest.Engines() {
		for _, inPlace := range []bool{false, true} {
			c := layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: 0.75 scale_train: false }", Bottoms: []layertest.Bottom{layertest.Given(x, 4)}, InPlace: inPlace}
			f := layertest.Build(t, b, engine, c)
			for i, v := range f.Forward(t)[0] {
				if v != 0 && v != x[i] {
					t.Errorf("%v: in training value %d becomes %g, not %g or 0", engine, i, v, x[i])
				}
			}
			c.Phase = caffepb.Phase_TEST
			f = layertest.Build(t, b, engine, c)
			layertest.Equal(t, "y", f.Forward(t)[0], []float32{0.25, -0.5, 0.75, 2}, 0)
			dx, _ := f.Backward(t, x)
			layertest.Equal(t, "gradient", dx[0], []float32{0.25, -0.5, 0.75, 2}, 0)
		}
	}
}

// TestDropoutOfAll: ratio 1 is an error in training. Nets use it in phase TEST, where nothing is dropped.
func TestDropoutOfAll(t *testing.T) {
	b := layertest.NewBench(t)
	x := []float32{1, -2, 3}
	all := layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: 1 }", Bottoms: []layertest.Bottom{layertest.Given(x, 3)}}
	wantError(t, b, all, "dropout_ratio must be at least 0 and less than 1, it is 1")
	all.Phase = caffepb.Phase_TEST
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, all)
		layertest.Equal(t, "y", f.Forward(t)[0], x, 0)
		dx, _ := f.Backward(t, x)
		layertest.Equal(t, "gradient", dx[0], x, 0)
	}
}

// TestDropoutShare: the share of zeros equals the ratio within four standard deviations, and other values are scaled by 1/(1-ratio). The
// gradient has the same mask, and the next pass has another.
func TestDropoutShare(t *testing.T) {
	const n, ratio = 100000, 0.3
	b := layertest.NewBench(t)
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	f := layertest.Build(t, b, layers.CPE, layertest.Case{
		Type: "Dropout", Param: "dropout_param { dropout_ratio: 0.3 }", Bottoms: []layertest.Bottom{layertest.Given(ones, n)},
	})
	y := append([]float32(nil), f.Forward(t)[0]...)
	zeros := 0
	for i, v := range y {
		switch {
		case v == 0:
			zeros++
		case math.Abs(float64(v)-1/(1-ratio)) > 1e-6:
			t.Fatalf("value %d is %g", i, v)
		}
	}
	if sd := math.Sqrt(ratio * (1 - ratio) * n); math.Abs(float64(zeros)-ratio*n) > 4*sd {
		t.Errorf("%d zeros of %d, want about %g", zeros, n, ratio*n)
	}
	dx, _ := f.Backward(t, ones)
	layertest.Equal(t, "gradient", dx[0], y, 0)
	if err := f.Layer.Forward(f.Bottom, f.Top); err != nil {
		t.Fatal(err)
	}
	same := 0
	for i, v := range f.Top[0].Data() {
		if v == y[i] {
			same++
		}
	}
	if same == n {
		t.Error("two passes have the same mask")
	}
}
