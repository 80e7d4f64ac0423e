package solver

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/simd"
	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// coefficients are what an update rule needs besides the arrays; one set per weight and iteration.
type coefficients struct {
	rate     float32 // learning rate * lr_mult
	momentum float32 // Adam's beta1, AdaDelta's decay
	beta2    float32 // Adam's momentum2, RMSProp's rms_decay
	delta    float32
	correct  float32 // Adam's sqrt(1-beta2^t)/(1-beta1^t)
}

// A rule turns the gradient g (clipped, normalised and regularised already) into the update that is subtracted from
// the weights, using and moving its histories h. It runs on a tile: all slices have the same length.
type rule struct {
	// histories is the number of history arrays a weight.
	histories int
	// refusesMomentum: the solver refuses a momentum other than 0, as Caffe's does.
	refusesMomentum bool
	// tile is the vectorised form; tmp is scratch of the tile's length.
	tile func(c *coefficients, g []float32, h [][]float32, tmp []float32)
	// element is the same for one value, the reference: it returns the update.
	element func(c *coefficients, g float64, h []float64) float64
}

// rules are Caffe's solver types. In their formulas, below, r is the rate, m the momentum, d delta.
var rules = map[string]rule{
	"SGD":      {histories: 1, tile: sgdTile, element: sgd},
	"Nesterov": {histories: 1, tile: nesterovTile, element: nesterov},
	"AdaGrad":  {histories: 1, refusesMomentum: true, tile: adagradTile, element: adagrad},
	"RMSProp":  {histories: 1, refusesMomentum: true, tile: rmspropTile, element: rmsprop},
	"AdaDelta": {histories: 2, tile: adadeltaTile, element: adadelta},
	"Adam":     {histories: 2, tile: adamTile, element: adam},
}

// ruleNames lists the solver types.
func ruleNames() []string { return slices.Sorted(maps.Keys(rules)) }

// findRule returns the rule of a solver, after checking the fields it uses.
func findRule(p *caffepb.SolverParameter) (rule, error) {
	r, ok := rules[p.GetType()]
	if !ok {
		return rule{}, suggest.Unknown("solver type", p.GetType(), "known solvers", ruleNames())
	}
	if r.refusesMomentum && p.GetMomentum() != 0 {
		return rule{}, fmt.Errorf("momentum cannot be used with %s: it is %g", p.GetType(), p.GetMomentum())
	}
	if p.GetType() == "RMSProp" && (p.GetRmsDecay() < 0 || p.GetRmsDecay() >= 1) {
		return rule{}, fmt.Errorf("rms_decay must lie between 0 and 1: it is %g", p.GetRmsDecay())
	}
	switch trust := p.GetLarsTrust(); {
	case !(trust >= 0):
		return rule{}, fmt.Errorf("lars_trust cannot be negative: it is %g", trust)
	case trust > 0 && p.GetType() != "SGD" && p.GetType() != "Nesterov":
		return rule{}, fmt.Errorf("lars_trust is for solver types SGD and Nesterov, not %s", p.GetType())
	}
	return r, nil
}

// sgd: h = m*h + r*g; update h.
func sgd(c *coefficients, g float64, h []float64) float64 {
	h[0] = float64(c.momentum)*h[0] + float64(c.rate)*g
	return h[0]
}

func sgdTile(c *coefficients, g []float32, h [][]float32, _ []float32) {
	simd.Axpby(h[0], g, c.rate, c.momentum)
	copy(g, h[0])
}

// nesterov (Sutskever et al. 2013): h' = m*h + r*g; update (1+m)*h' - m*h.
func nesterov(c *coefficients, g float64, h []float64) float64 {
	m, before := float64(c.momentum), h[0]
	h[0] = m*before + float64(c.rate)*g
	return (1+m)*h[0] - m*before
}

func nesterovTile(c *coefficients, g []float32, h [][]float32, before []float32) {
	copy(before, h[0])
	simd.Axpby(h[0], g, c.rate, c.momentum)
	simd.Scale(g, h[0], 1+c.momentum)
	simd.Axpy(g, before, -c.momentum)
}

// adagrad (Duchi et al. 2011): h += g^2; update r*g / (sqrt(h) + d).
func adagrad(c *coefficients, g float64, h []float64) float64 {
	h[0] += g * g
	return float64(c.rate) * g / (math.Sqrt(h[0]) + float64(c.delta))
}

func adagradTile(c *coefficients, g []float32, h [][]float32, root []float32) {
	simd.MulAdd(h[0], g, g)
	divideByRoot(g, h[0], root, c.rate, c.delta)
}

// divideByRoot: g = scale * g / (sqrt(h) + delta).
func divideByRoot(g, h, root []float32, scale, delta float32) {
	simd.Sqrt(root, h)
	simd.AddScalar(root, root, delta)
	simd.Div(g, g, root)
	simd.Scale(g, g, scale)
}

// rmsprop (Tieleman and Hinton 2012): h = b*h + (1-b)*g^2; update r*g / (sqrt(h) + d).
func rmsprop(c *coefficients, g float64, h []float64) float64 {
	b := float64(c.beta2)
	h[0] = b*h[0] + (1-b)*g*g
	return float64(c.rate) * g / (math.Sqrt(h[0]) + float64(c.delta))
}

func rmspropTile(c *coefficients, g []float32, h [][]float32, tmp []float32) {
	simd.Square(tmp, g)
	simd.Axpby(h[0], tmp, 1-c.beta2, c.beta2)
	divideByRoot(g, h[0], tmp, c.rate, c.delta)
}

// adadelta (Zeiler 2012): h0 = m*h0 + (1-m)*g^2; u = g * sqrt((h1+d)/(h0+d)); h1 = m*h1 + (1-m)*u^2; update r*u.
func adadelta(c *coefficients, g float64, h []float64) float64 {
	m, d := float64(c.momentum), float64(c.delta)
	h[0] = m*h[0] + (1-m)*g*g
	u := g * math.Sqrt((h[1]+d)/(h[0]+d))
	h[1] = m*h[1] + (1-m)*u*u
	return float64(c.rate) * u
}

func adadeltaTile(c *coefficients, g []float32, h [][]float32, tmp []float32) {
	simd.Square(tmp, g)
	simd.Axpby(h[0], tmp, 1-c.momentum, c.momentum)
	for i, v := range g {
		g[i] = v * float32(math.Sqrt(float64((h[1][i]+c.delta)/(h[0][i]+c.delta))))
	}
	simd.Square(tmp, g)
	simd.Axpby(h[1], tmp, 1-c.momentum, c.momentum)
	simd.Scale(g, g, c.rate)
}

// adam (Kingma and Ba 2015): h0 = m*h0 + (1-m)*g; h1 = b*h1 + (1-b)*g^2; update r * correction * h0 / (sqrt(h1) + d).
func adam(c *coefficients, g float64, h []float64) float64 {
	m, b := float64(c.momentum), float64(c.beta2)
	h[0] = m*h[0] + (1-m)*g
	h[1] = b*h[1] + (1-b)*g*g
	return float64(c.rate) * float64(c.correct) * h[0] / (math.Sqrt(h[1]) + float64(c.delta))
}

func adamTile(c *coefficients, g []float32, h [][]float32, tmp []float32) {
	simd.Square(tmp, g)
	simd.Axpby(h[0], g, 1-c.momentum, c.momentum)
	simd.Axpby(h[1], tmp, 1-c.beta2, c.beta2)
	copy(g, h[0])
	divideByRoot(g, h[1], tmp, c.rate*c.correct, c.delta)
}
