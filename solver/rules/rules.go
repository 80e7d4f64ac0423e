// Package rules holds Caffe's update rules and learning-rate policies, as functions of a solver's fields. Its central type is Rule.
package rules

import (
	"maps"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Rule computes the update to subtract from the weights, from the clipped, normalised and regularised gradient g. It reads and writes its
// histories h.
type Rule struct {
	// Rule processes tiles of weights.
	vec.Rule
	// RefusesMomentum: the solver refuses a momentum other than 0, as Caffe's does.
	RefusesMomentum bool
	// Element is the reference for a single value. It returns the update.
	Element func(c *vec.Step, g float64, h []float64) float64
}

// All maps Caffe's solver types to their rules. In the formulas below, r is the rate, m the momentum, d delta.
var All = map[string]Rule{
	"SGD":      {Rule: vec.SGD, Element: sgd},
	"Nesterov": {Rule: vec.Nesterov, Element: nesterov},
	"AdaGrad":  {Rule: vec.AdaGrad, RefusesMomentum: true, Element: adagrad},
	"RMSProp":  {Rule: vec.RMSProp, RefusesMomentum: true, Element: rmsprop},
	"AdaDelta": {Rule: vec.AdaDelta, Element: adadelta},
	"Adam":     {Rule: vec.Adam, Element: adam},
}

// Names lists the solver types.
func Names() []string { return slices.Sorted(maps.Keys(All)) }

// SameHistories reports whether a solver type can go on with the histories of another: of SGD and Nesterov it is the momentum.
func SameHistories(a, b string) bool {
	momentum := []string{"SGD", "Nesterov"}
	return a == b || slices.Contains(momentum, a) && slices.Contains(momentum, b)
}

// Find returns a solver's rule after it has checked the rule's fields.
func Find(p *caffepb.SolverParameter) (Rule, error) {
	r, ok := All[p.GetType()]
	if !ok {
		return Rule{}, swproto.WrongField("type", "%w", suggest.Unknown("solver type", p.GetType(), "known solvers", Names()))
	}
	if r.RefusesMomentum && p.GetMomentum() != 0 {
		return Rule{}, swproto.WrongField("momentum", "momentum cannot be used with %s: it is %g", p.GetType(), p.GetMomentum())
	}
	if p.GetType() == "RMSProp" && (p.GetRmsDecay() < 0 || p.GetRmsDecay() >= 1) {
		return Rule{}, swproto.WrongField("rms_decay", "rms_decay must lie between 0 and 1: it is %g", p.GetRmsDecay())
	}
	switch trust := p.GetLarsTrust(); {
	case !(trust >= 0):
		return Rule{}, swproto.WrongField("lars_trust", "lars_trust cannot be negative: it is %g", trust)
	case trust > 0 && p.GetType() != "SGD" && p.GetType() != "Nesterov":
		return Rule{}, swproto.WrongField("lars_trust", "lars_trust is for solver types SGD and Nesterov, not %s", p.GetType())
	}
	return r, nil
}

// sgd: h = m*h + r*g; update h.
func sgd(c *vec.Step, g float64, h []float64) float64 {
	h[0] = float64(c.Momentum)*h[0] + float64(c.Rate)*g
	return h[0]
}

// nesterov (Sutskever et al. 2013): h' = m*h + r*g; update (1+m)*h' - m*h.
func nesterov(c *vec.Step, g float64, h []float64) float64 {
	m, before := float64(c.Momentum), h[0]
	h[0] = m*before + float64(c.Rate)*g
	return (1+m)*h[0] - m*before
}

// adagrad (Duchi et al. 2011): h += g^2; update r*g / (sqrt(h) + d).
func adagrad(c *vec.Step, g float64, h []float64) float64 {
	h[0] += g * g
	return float64(c.Rate) * g / (math.Sqrt(h[0]) + float64(c.Delta))
}

// rmsprop (Tieleman and Hinton 2012): h = b*h + (1-b)*g^2; update r*g / (sqrt(h) + d).
func rmsprop(c *vec.Step, g float64, h []float64) float64 {
	b := float64(c.Beta)
	h[0] = b*h[0] + (1-b)*g*g
	return float64(c.Rate) * g / (math.Sqrt(h[0]) + float64(c.Delta))
}

// adadelta (Zeiler 2012): h0 = m*h0 + (1-m)*g^2; u = g * sqrt((h1+d)/(h0+d)); h1 = m*h1 + (1-m)*u^2; update r*u.
func adadelta(c *vec.Step, g float64, h []float64) float64 {
	m, d := float64(c.Momentum), float64(c.Delta)
	h[0] = m*h[0] + (1-m)*g*g
	u := g * math.Sqrt((h[1]+d)/(h[0]+d))
	h[1] = m*h[1] + (1-m)*u*u
	return float64(c.Rate) * u
}

// adam (Kingma and Ba 2015): h0 = m*h0 + (1-m)*g; h1 = b*h1 + (1-b)*g^2; update r * correction * h0 / (sqrt(h1) + d).
func adam(c *vec.Step, g float64, h []float64) float64 {
	m, b := float64(c.Momentum), float64(c.Beta)
	h[0] = m*h[0] + (1-m)*g
	h[1] = b*h[1] + (1-b)*g*g
	return float64(c.Rate) * float64(c.Correct) * h[0] / (math.Sqrt(h[1]) + float64(c.Delta))
}
