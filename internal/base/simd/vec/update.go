package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// Rule is the update rule of a solver; package solver has the formulas.
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

// Histories is the number of arrays that a rule keeps beside the weights.
func (r Rule) Histories() int {
	if r == AdaDelta || r == Adam {
		return 2
	}
	return 1
}

// Step holds the coefficients of an update. Before the rule, the gradient g of a weight w is scaled and decay is added,
//
//	g' = Scale*g + Decay*w
//
// Momentum is also Adam's beta1 and AdaDelta's decay. Beta is Adam's beta2 and RMSProp's decay. Correct is Adam's bias correction of the rate.
// The kernels read it as float32 values.
type Step struct{ Scale, Decay, Rate, Momentum, Beta, Delta, Correct float32 }

// Update applies a rule to weights, gradients and histories h in one pass. It overwrites each gradient with the value that is subtracted from its
// weight. All arrays are as long as weights, and no two overlap.
func (r Rule) Update(s *Step, weights, gradients []float32, h [][]float32) {
	n := len(weights)
	arrays := [4][]float32{weights, gradients[:n], h[0][:n], h[0][:n]}
	if r.Histories() == 2 {
		arrays[3] = h[1][:n]
	}
	whole, kernel := isa.Whole(n), have.Update[r]
	if whole == 0 || kernel == none {
		r.updateGo(s, arrays)
		return
	}
	kernel.run(&arrays[0][0], &arrays[1][0], &arrays[2][0], &arrays[3][0], whole, &s.Scale)
	if whole == n {
		return
	}
	var end [4][16]float32
	for i, a := range arrays {
		copy(end[i][:], a[whole:])
	}
	kernel.run(&end[0][0], &end[1][0], &end[2][0], &end[3][0], isa.Lanes(), &s.Scale)
	for i, a := range arrays[:2+r.Histories()] {
		copy(a[whole:], end[i][:])
	}
}

// updateGo is Update in plain Go.
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

// root is √x.
func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }
