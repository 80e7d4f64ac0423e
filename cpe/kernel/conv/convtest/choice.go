package convtest

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// StrategiesOf returns the families of a convolution's algorithms, by direction.
func StrategiesOf(c *plan.Conv) (st [3]shape.Strategy) {
	for d := range st {
		st[d] = c.Strategy(shape.Direction(d))
	}
	return st
}

// New plans a convolution of a valid shape.
func New(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy) *plan.Conv {
	t.Helper()
	c, err := plan.New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// StrategiesFor returns the families of the algorithms chosen for a shape, by direction.
func StrategiesFor(t *testing.T, spec *cpe.Spec, s shape.Conv, asked shape.Strategy) (st [3]shape.Strategy) {
	t.Helper()
	for d := range st {
		name, err := chosen(&conv.Problem{Shape: s, Direction: shape.Direction(d), Spec: spec}, op.Force{Family: asked})
		if err != nil {
			t.Fatal(err)
		}
		st[d] = familyOf(name)
	}
	return st
}

// chosen returns the name of the algorithm chosen for a problem.
func chosen(p *conv.Problem, f op.Force) (string, error) {
	e, err := plan.Explain(p, f)
	if err != nil {
		return "", err
	}
	return string(e.Runs), nil
}

// Has reports whether a strategy has an algorithm for a direction of a shape.
func Has(spec *cpe.Spec, s shape.Conv, st shape.Strategy, d shape.Direction) bool {
	p := &conv.Problem{Shape: s, Direction: d, Spec: spec}
	for _, name := range plan.Algorithms() {
		if a, err := plan.FindAlgorithm(name); err == nil && (a.Family == st || a.Family == shape.Auto) && a.Refuses(p) == nil {
			return true
		}
	}
	return false
}

// familyOf returns the family of a named algorithm.
func familyOf(name string) shape.Strategy {
	a, err := plan.FindAlgorithm(name)
	if err != nil {
		panic(err)
	}
	return a.Family
}
