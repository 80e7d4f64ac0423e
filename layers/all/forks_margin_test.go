package all_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// sphere is SphereFace's psi as the paper has it, by the angle: (-1)^k cos(m a) - 2k for k pi/m <= a <= (k+1) pi/m.
func sphere(m int, cosine float64) float64 {
	a := math.Acos(cosine)
	k := math.Floor(a * float64(m) / math.Pi)
	return math.Pow(-1, k)*math.Cos(float64(m)*a) - 2*k
}

// TestMarginByAngles compares scores with the paper's, and gradients with the published factors. The third item points away from its label's
// weights, the fourth has the length 0.
func TestMarginByAngles(t *testing.T) {
	const items, classes, values = 6, 4, 5
	x, w, dy := between(items*values, -2, 2), between(classes*values, -1, 3), between(items*classes, -1, 1)
	labels := []float32{2, 0, 1, 3, 3, 1}
	for k := range values {
		x[2*values+k] = -w[values+k] + float32(k)/7
		x[3*values+k] = 0
	}
	length := func(v []float32) (sum float64) {
		for _, a := range v {
			sum += float64(a) * float64(a)
		}
		return math.Sqrt(sum)
	}
	b := layertest.NewBench(t)
	for m, name := range []string{"SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE"} {
		m++
		const lambda = 0.375
		var y, dx, unit []float64
		dw := make([]float64, classes*values)
		for c := range classes {
			for k := range values {
				unit = append(unit, float64(w[c*values+k])/length(w[c*values:][:values]))
			}
		}
		for i := range items {
			item, n := x[i*values:][:values], length(x[i*values:][:values])
			d := make([]float64, values)
			for c := range classes {
				var dot float64
				for k, v := range item {
					dot += float64(v) * unit[c*values+k]
				}
				score, g := dot, float64(dy[i*classes+c])
				u, v := 1.0, 0.0
				if c == int(labels[i]) && m > 1 && n > 0 {
					cosine, h := dot/n, 1e-6
					psi := sphere(m, cosine)
					score = (n*psi + lambda*dot) / (1 + lambda)
					u = (sphere(m, cosine+h) - sphere(m, cosine-h)) / (2 * h)
					v = (psi - cosine*u) / n
					r := math.Hypot(u, v)
					u, v = (u/r+lambda)/(1+lambda), v/r/(1+lambda)
				}
				y = append(y, score)
				for k := range d {
					d[k] += g * (u*unit[c*values+k] + v*float64(item[k]))
					dw[c*values+k] += g * float64(item[k])
				}
			}
			dx = append(dx, d...)
		}
		param := "margin_inner_product_param { num_output: 4 base: 0.01 lambda_min: 0.375 type: " + name + " }"
		for _, phase := range []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST} {
			for _, engine := range layertest.Engines() {
				f := layertest.Build(t, b, engine, layertest.Case{Type: "MarginInnerProduct", Param: param, Tops: 2, Phase: phase,
					Bottoms: []layertest.Bottom{layertest.Given(x, items, values), fixed(labels, items)}})
				f.SetWeight(0, w...)
				tops := f.Forward(t)
				layertest.Equal(t, name+" scores", tops[0], floats(y), 1e-5)
				layertest.Equal(t, name+" lambda", tops[1], []float32{lambda}, 1e-6)
				want := floats(unit)
				if phase == caffepb.Phase_TEST {
					want = w
				}
				layertest.Equal(t, name+" weights", f.Weight(0), want, 1e-6)
				bottoms, weights := f.Backward(t, dy)
				layertest.Equal(t, name+" gradient of x", bottoms[0], floats(dx), 1e-4)
				layertest.Equal(t, name+" gradient of weights", weights[0], floats(dw), 1e-5)
			}
		}
	}
}

// TestInnerProductOfUnitRows: with normalize the weights have length 1 (caffe-windows adds 1e-6 to the squares), in phase TRAIN also behind
// Forward; gradients are those of a plain product with these weights.
func TestInnerProductOfUnitRows(t *testing.T) {
	const items, outputs, values = 5, 3, 7
	x, w, dy, bias := between(items*values, -2, 2), between(outputs*values, -1e-3, 3e-3), between(items*outputs, -1, 1), []float32{0.5, -1, 2}
	unit, y, dx, dw := make([]float64, len(w)), make([]float64, len(dy)), make([]float64, len(x)), make([]float64, len(w))
	for j := range outputs {
		sum := 1e-6
		for _, v := range w[j*values:][:values] {
			sum += float64(v) * float64(v)
		}
		for k := range values {
			unit[j*values+k] = float64(w[j*values+k]) / math.Sqrt(sum)
		}
		for i := range items {
			y[i*outputs+j] = float64(bias[j])
			for k := range values {
				y[i*outputs+j] += float64(x[i*values+k]) * unit[j*values+k]
				dx[i*values+k] += float64(dy[i*outputs+j]) * unit[j*values+k]
				dw[j*values+k] += float64(dy[i*outputs+j]) * float64(x[i*values+k])
			}
		}
	}
	b := layertest.NewBench(t)
	for _, phase := range []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "InnerProduct", Param: "inner_product_param { num_output: 3 normalize: true }", Phase: phase,
				Bottoms: []layertest.Bottom{layertest.Given(x, items, values)}})
			f.SetWeight(0, w...)
			f.SetWeight(1, bias...)
			layertest.Equal(t, "product", f.Forward(t)[0], floats(y), 1e-5)
			want := floats(unit)
			if phase == caffepb.Phase_TEST {
				want = w
			}
			layertest.Equal(t, "weights", f.Weight(0), want, 1e-6)
			bottoms, weights := f.Backward(t, dy)
			layertest.Equal(t, "gradient of x", bottoms[0], floats(dx), 1e-5)
			layertest.Equal(t, "gradient of weights", weights[0], floats(dw), 1e-5)
		}
	}
	wantError(t, b, layertest.Case{Type: "InnerProduct", Param: "inner_product_param { num_output: 3 normalize: true transpose: true }", Bottoms: []layertest.Bottom{layertest.In(2, 3)}}, "normalize", "transpose must be false")
}

// TestLabelSpecificAddByHand: the label's score 1 gets the bias -0.5, 0.5 does not, since the sum would not be positive; with a positive bias
// both do.
func TestLabelSpecificAddByHand(t *testing.T) {
	b := layertest.NewBench(t)
	x := []float32{1, 3, 2, 0.5, -4, 5}
	for bias, want := range map[string][]float32{"-0.5": {0.5, 3, 2, 0.5, -4, 5}, "0.25": {1.25, 3, 2, 0.75, -4, 5}} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "LabelSpecificAdd", Param: "label_specific_add_param { bias: " + bias + " }",
				Bottoms: []layertest.Bottom{layertest.Given(x, 3, 2), fixed([]float32{0, 1, 0}, 3)}})
			layertest.Equal(t, "scores", f.Forward(t)[0], want, 1e-7)
		}
	}
}

func TestErrorsOfMargins(t *testing.T) {
	b := layertest.NewBench(t)
	x := layertest.In(2, 3)
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"MarginInnerProduct", "", []layertest.Bottom{x, layertest.In(2)}, []string{"num_output must be positive", "it is 0"}},
		{"MarginInnerProduct", "margin_inner_product_param { num_output: 3 }", []layertest.Bottom{x, layertest.In(3)}, []string{"2 3 (6)", "3 (3)"}},
		{"LabelSpecificAdd", "", []layertest.Bottom{x, layertest.In(3)}, []string{"need 2 labels, there are 3"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
	for typ, param := range map[string]string{"MarginInnerProduct": "margin_inner_product_param { num_output: 3 }", "LabelSpecificAdd": ""} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: typ, Param: param, Bottoms: []layertest.Bottom{x, layertest.Labels(3, 2)}})
			f.Bottom[1].Data()[1] = 3
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "label 3 of item 1 is out of range: there are 3 classes (0 to 2)" {
				t.Errorf("%s: error %v", typ, err)
			}
		}
	}
}

// TestLambdaGoesOn: a snapshot's position continues the fall of lambda.
func TestLambdaGoesOn(t *testing.T) {
	b := layertest.NewBench(t)
	build := func() *layertest.Fixture {
		return layertest.Build(t, b, layertest.Engines()[0], layertest.Case{Type: "MarginInnerProduct", Param: "margin_inner_product_param { num_output: 3 gamma: 1 base: 36 power: 2 iteration: 2 }", Tops: 2,
			Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.Labels(3, 2)}})
	}
	type positioner interface {
		Position() uint64
		SetPosition(uint64) error
	}
	f := build()
	for i := range 3 {
		layertest.Equal(t, fmt.Sprint("Forward ", i), f.Forward(t)[1], []float32{36 / float32((i+4)*(i+4))}, 1e-6)
	}
	g := build()
	if err := g.Layer.(positioner).SetPosition(f.Layer.(positioner).Position()); err != nil {
		t.Fatal(err)
	}
	layertest.Equal(t, "after a snapshot", g.Forward(t)[1], []float32{36. / 49}, 1e-6)
}
