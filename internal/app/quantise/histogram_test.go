package quantise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
)

// TestChoose: of Gaussian values with a far outlier, max keeps the outlier and mse has the least squared error of all methods; values that are never negative get zero point 0.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, positive := range []bool{false, true} {
		values := make([]float32, 100000)
		for i := range values {
			values[i] = float32(r.NormFloat64())
			if positive {
				values[i] = max(0, values[i])
			}
		}
		values[77] = 60
		var h histogram
		for i := 0; i < len(values); i += 1000 { // small pieces widen the bins several times
			h.add(values[i : i+1000])
		}
		errors := map[string]float64{}
		for _, method := range Methods {
			in, err := h.choose(method, 99.99)
			if err != nil {
				t.Fatal(err)
			}
			if (in.Zero == 0) != positive {
				t.Errorf("%s: zero point %d, positive %t", method, in.Zero, positive)
			}
			errors[method] = squared(t, in, values)
			top := float64(in.Scale) * float64(quant.MostInput-in.Zero)
			if method == "max" && math.Abs(top-60) > 0.3 || method != "max" && (top < 2 || top > 61) {
				t.Errorf("%s: the range ends at %g", method, top)
			}
			if method == "percentile" && (top < 3 || top > 5) {
				t.Errorf("percentile: the range ends at %g", top)
			}
		}
		for method, e := range errors {
			if e < 0.98*errors["mse"] {
				t.Errorf("%s has the squared error %g, mse %g", method, e, errors["mse"])
			}
		}
	}
}

// TestChooseOfFewValues: of pixels less a mean, and of a few values, hardly any lie beyond the range of any method: a range whose last steps have no values costs what it cuts off. A
// divergence is never negative.
func TestChooseOfFewValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for turn := range 40 {
		few := 256
		if turn%2 == 1 {
			few = 2 + r.IntN(30)
		}
		values := make([]float32, 20000)
		for i := range values {
			switch k := r.IntN(few); {
			case few == 256:
				values[i] = float32(k) - 128
			default:
				values[i] = float32(k*k%(few+3)) - 2
			}
		}
		var h histogram
		h.add(values)
		for _, method := range Methods {
			in, err := h.choose(method, 99.99)
			if err != nil {
				t.Fatal(err)
			}
			beyond := 0
			for _, v := range values {
				if q := math.RoundToEven(float64(v)/float64(in.Scale)) + float64(in.Zero); q < 0 || q > quant.MostInput {
					beyond++
				}
			}
			if share := float64(beyond) / float64(len(values)); share > 0.02 && method != "mse" { // which weighs a large value's error against all others
				t.Errorf("%d values, %s: a share of %.3f is beyond %+v", few, method, share, in)
			}
		}
		for k := range 60 {
			if d := h.divergence(covering(h.least*float64(60-k)/60, h.top*float64(k+1)/60)); !(d >= -1e-12) {
				t.Errorf("%d values: divergence %g", few, d)
			}
		}
	}
}

// squared is the squared error of rounding values.
func squared(t *testing.T, in Input, values []float32) (sum float64) {
	s, err := quant.New(in.Scale, in.Zero, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	to := make([]float32, len(values))
	s.Inputs(to, values)
	for i, v := range values {
		d := float64(v) - float64(to[i])*float64(in.Scale)
		sum += d * d
	}
	return sum
}

// TestNothing: inputs that are always 0 have a scale too.
func TestNothing(t *testing.T) {
	var h histogram
	h.add(make([]float32, 10))
	for _, method := range Methods {
		if in, err := h.choose(method, 99.9); err != nil || in != (Input{Scale: 1}) {
			t.Errorf("%s: %v, %v", method, in, err)
		}
	}
}
