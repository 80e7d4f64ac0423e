package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// Rule names what an update makes of gradients, momentums and so on; package solver has the formulas.
type Rule int

// The rules of Caffe's solvers.
const (
	SGD Rule = iota
	Nesterov
	AdaGrad
	RMSProp
	AdaDelta
	Adam
)

// Histories is how many arrays a rule keeps beside the weights.
func (r Rule) Histories() int {
	if r == AdaDelta || r == Adam {
		return 2
	}
	return 1
}

// Step holds the coefficients of an update. Gradients g of weights w are scaled and decay is added before the rule sees them,
//
//	g' = Scale*g + Decay*w
//
// Momentum is also Adam's beta1 and AdaDelta's decay, Beta Adam's beta2 and RMSProp's decay, and Correct what Adam's rate is multiplied with.
// The kernels read it as float32 values.
type Step struct{ Scale, Decay, Rate, Momentum, Beta, Delta, Correct float32 }

// Update subtracts from the weights what a rule makes of the gradients, which become what was subtracted, and moves the histories h,
// all in one pass. The arrays are as long as weights, and no two of them overlap.
func (r Rule) Update(s *Step, weights, gradients []float32, h [][]float32) {
	n := len(weights)
	arrays := [4][]float32{weights, gradients[:n], h[0][:n], h[0][:n]}
	if r.Histories() == 2 {
		arrays[3] = h[1][:n]
	}
	whole := isa.Whole(n)
	if whole == 0 {
		r.updateGo(s, arrays)
		return
	}
	update(r, &arrays[0][0], &arrays[1][0], &arrays[2][0], &arrays[3][0], whole, &s.Scale)
	if whole == n {
		return
	}
	var end [4][16]float32
	for i, a := range arrays {
		copy(end[i][:], a[whole:])
	}
	update(r, &end[0][0], &end[1][0], &end[2][0], &end[3][0], isa.Width(), &s.Scale)
	for i, a := range arrays[:2+r.Histories()] {
		copy(a[whole:], end[i][:])
	}
}

// updateGo is Update without vectors.
func (r Rule) updateGo(s *Step, arrays [4][]float32) {
	m, b := s.Momentum, s.Beta
	weights, gradients, h0, h1 := arrays[0], arrays[1], arrays[2], arrays[3]
	for i, w := range weights {
		g := float32(gradients[i]*s.Scale) + float32(s.Decay*w)
		h := &h0[i]
		switch r {
		case SGD:
			*h = s.Rate*g + m**h
			g = *h
		case Nesterov:
			before := *h
			*h = s.Rate*g + m*before
			g = (1+m)**h - m*before
		case AdaGrad:
			*h += g * g
			g = byRoot(g, *h, s.Rate, s.Delta)
		case RMSProp:
			*h = (1-b)*(g*g) + b**h
			g = byRoot(g, *h, s.Rate, s.Delta)
		case AdaDelta:
			*h = (1-m)*(g*g) + m**h
			g *= root((h1[i] + s.Delta) / (*h + s.Delta))
			h1[i] = (1-m)*(g*g) + m*h1[i]
			g *= s.Rate
		case Adam:
			*h = (1-m)*g + m**h
			h1[i] = (1-b)*(g*g) + b*h1[i]
			g = byRoot(*h, h1[i], s.Rate*s.Correct, s.Delta)
		}
		gradients[i], weights[i] = g, w-g
	}
}

// byRoot is rate * g / (√h + delta).
func byRoot(g, h, rate, delta float32) float32 { return g / (root(h) + delta) * rate }

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }
