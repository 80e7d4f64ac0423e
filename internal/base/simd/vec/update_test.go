package vec

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestUpdate: every rule, on arrays of any length, moves weights, gradients and histories as its formulas say, in float64.
func TestUpdate(t *testing.T) {
	s := Step{Scale: 0.5, Decay: 0.01, Rate: 0.1, Momentum: 0.9, Beta: 0.99, Delta: 1e-3, Correct: 0.7}
	f := struct{ scale, decay, rate, m, b, delta, correct float64 }{float64(s.Scale), float64(s.Decay), float64(s.Rate),
		float64(s.Momentum), float64(s.Beta), float64(s.Delta), float64(s.Correct)}
	// rules return what is subtracted, and the new histories.
	rules := map[Rule]func(g, h0, h1 float64) (step, new0, new1 float64){
		SGD: func(g, h0, h1 float64) (float64, float64, float64) {
			h := f.m*h0 + f.rate*g
			return h, h, h1
		},
		Nesterov: func(g, h0, h1 float64) (float64, float64, float64) {
			h := f.m*h0 + f.rate*g
			return (1+f.m)*h - f.m*h0, h, h1
		},
		AdaGrad: func(g, h0, h1 float64) (float64, float64, float64) {
			h := h0 + g*g
			return f.rate * g / (math.Sqrt(h) + f.delta), h, h1
		},
		RMSProp: func(g, h0, h1 float64) (float64, float64, float64) {
			h := f.b*h0 + (1-f.b)*g*g
			return f.rate * g / (math.Sqrt(h) + f.delta), h, h1
		},
		AdaDelta: func(g, h0, h1 float64) (float64, float64, float64) {
			a := f.m*h0 + (1-f.m)*g*g
			u := g * math.Sqrt((h1+f.delta)/(a+f.delta))
			return f.rate * u, a, f.m*h1 + (1-f.m)*u*u
		},
		Adam: func(g, h0, h1 float64) (float64, float64, float64) {
			a, b := f.m*h0+(1-f.m)*g, f.b*h1+(1-f.b)*g*g
			return f.rate * f.correct * a / (math.Sqrt(b) + f.delta), a, b
		},
	}
	simdtest.Each(t, func(t *testing.T) {
		for r, rule := range rules {
			for n := range 70 {
				testUpdate(t, r, &s, n, func(w, g, h0, h1 float64) (step, new0, new1 float64) {
					return rule(f.scale*g+f.decay*w, h0, h1)
				})
			}
		}
	})
}

func testUpdate(t *testing.T, r Rule, s *Step, n int, rule func(w, g, h0, h1 float64) (step, new0, new1 float64)) {
	const arrays = 4 // weights, gradients and two histories
	var guarded, now [arrays][]float32
	var was [arrays][]float64
	for k := range arrays {
		guarded[k], now[k] = simdtest.Banded(n, k+1)
		for i, v := range now[k] {
			if k > 1 { // as sums of squares are
				v = max(v, -v)
				now[k][i] = v
			}
			was[k] = append(was[k], float64(v))
		}
	}
	r.Update(s, now[0], now[1], now[2:2+r.Histories()])
	for k := range arrays {
		simdtest.CheckGuard(t, guarded[k], n, k+1)
	}
	for i := range n {
		w, g, h0, h1 := was[0][i], was[1][i], was[2][i], was[3][i]
		step, new0, new1 := rule(w, g, h0, h1)
		scale := 1 + math.Abs(w) + math.Abs(g) + h0 + h1 + g*g
		for k, want := range [arrays]float64{w - step, step, new0, new1} {
			if got := now[k][i]; !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("rule %d of %d values: array %d has %g at %d, want %g", r, n, k, got, i, want)
			}
		}
	}
}

// BenchmarkUpdate moves as many weights as LeNet has.
func BenchmarkUpdate(b *testing.B) {
	const n = 431_080
	for i, name := range []string{"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"} {
		r := Rule(i)
		b.Run(name, func(b *testing.B) {
			s := Step{Scale: 1, Decay: 0.0005, Rate: 0.1, Momentum: 0.9, Beta: 0.99, Delta: 1e-3, Correct: 1}
			w, g, h0, h1 := simdtest.Pseudo(n, 1), simdtest.Pseudo(n, 2), make([]float32, n), make([]float32, n)
			b.SetBytes(4 * n * int64(2+r.Histories()))
			for range b.N {
				r.Update(&s, w, g, [][]float32{h0, h1}[:r.Histories()])
			}
		})
	}
}
