package layertest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/layers"
)

// gradient compares Backward with central differences of an objective: the sum over the tops' elements of coefficient * element, in
// float64. The coefficients are random and differ from element to element. One Backward therefore gives all gradients, and a misplaced
// gradient shows.
type gradient struct {
	f         *Fixture
	step, tol float64
	coeff     [][]float32 // one slice per top
}

// input is a blob whose gradient is checked. Its values can be changed; grad holds Backward's result.
type input struct {
	name   string
	values []float32
	grad   func() []float32
	bottom bool
}

// CheckGradient checks the gradients of all bottoms and weights of a case. The error names the worst pair: the top element, and the blob
// element of the derivative.
func CheckGradient(d *layers.Device, c *Case) error {
	f, err := New(d, c)
	if err != nil {
		return err
	}
	g := &gradient{f: f, step: orElse(c.Step, 1e-2), tol: orElse(c.Tolerance, 1e-3)}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, t := range f.gradTops() {
		coeff := make([]float32, t.Count())
		for i := range coeff {
			coeff[i] = (0.5 + r.Float32()) * float32(1-2*r.IntN(2))
		}
		g.coeff = append(g.coeff, coeff)
	}
	if err := g.analytic(); err != nil {
		return err
	}
	inputs := g.inputs()
	var grads [][]float32
	for _, in := range inputs {
		grads = append(grads, in.grad())
	}
	for n, in := range inputs {
		for k := range in.values {
			if in.bottom && c.KinkWindow > 0 && math.Abs(float64(in.values[k])-c.Kink) <= c.KinkWindow {
				continue
			}
			numeric, err := g.numeric(in.values, k)
			if err != nil {
				return err
			}
			if g.off(float64(grads[n][k]), numeric) > 1 {
				return g.locate(in, k, float64(grads[n][k]), numeric)
			}
		}
	}
	return nil
}

func orElse(v, missing float64) float64 {
	if v == 0 {
		return missing
	}
	return v
}

func (g *gradient) inputs() []input {
	var list []input
	for i, b := range g.f.Bottom {
		if g.f.propagate[i] {
			grad := func() []float32 { return append([]float32(nil), b.Diff()...) }
			list = append(list, input{fmt.Sprintf("bottom %d", i), g.f.inputs[i], grad, true})
		}
	}
	for i := range g.f.Layer.Params() {
		if !g.f.fixed(i) {
			grad := func() []float32 { return g.f.weightGrads()[i] }
			list = append(list, input{fmt.Sprintf("weight %d", i), g.f.weights[i], grad, false})
		}
	}
	return list
}

// analytic computes the objective's gradients in the blobs.
func (g *gradient) analytic() error {
	if err := g.f.run(); err != nil {
		return err
	}
	return g.f.backward(g.coeff)
}

// numeric returns the central difference with respect to values[k].
func (g *gradient) numeric(values []float32, k int) (float64, error) {
	old := values[k]
	defer func() { values[k] = old }()
	above, below := old+float32(g.step), old-float32(g.step)
	values[k] = above
	plus, err := g.objective()
	if err != nil {
		return 0, err
	}
	values[k] = below
	minus, err := g.objective()
	return (plus - minus) / (float64(above) - float64(below)), err
}

func (g *gradient) objective() (float64, error) {
	if err := g.f.run(); err != nil {
		return 0, err
	}
	var sum float64
	for i, coeff := range g.coeff {
		for k, v := range g.f.Top[i].Data() {
			if coeff[k] != 0 {
				sum += float64(coeff[k]) * float64(v)
			}
		}
	}
	return sum, nil
}

// off returns the difference in units of the tolerance. NaN counts as infinite.
func (g *gradient) off(analytic, numeric float64) float64 {
	scale := max(1, math.Abs(analytic), math.Abs(numeric))
	d := math.Abs(analytic-numeric) / (g.tol * scale)
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return d
}

// locate finds the top element with the worst derivative, for the report.
func (g *gradient) locate(in input, k int, analytic, numeric float64) error {
	where, worst := "the sum over all tops", 0.0
	all := g.coeff
	g.coeff = nil
	for _, c := range all {
		g.coeff = append(g.coeff, make([]float32, len(c)))
	}
	for i, c := range g.coeff {
		for e := range c {
			c[e] = 1
			if err := g.analytic(); err != nil {
				return err
			}
			a := float64(in.grad()[k])
			n, err := g.numeric(in.values, k)
			if err != nil {
				return err
			}
			if d := g.off(a, n); d > 1 && d > worst {
				where, worst, analytic, numeric = fmt.Sprintf("top %d element %d", i, e), d, a, n
			}
			c[e] = 0
		}
	}
	return fmt.Errorf("gradient of %s by %s element %d (value %g): Backward gives %g, central difference %g (step %g, tolerance %g)",
		where, in.name, k, in.values[k], analytic, numeric, g.step, g.tol)
}
