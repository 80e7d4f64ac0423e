package conv

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// strategiesOf are the strategies of all directions.
func strategiesOf(c *Conv) (st [3]shape.Strategy) {
	for d := range st {
		st[d] = c.Strategy(shape.Direction(d))
	}
	return st
}

// strategiesFor are the strategies of the algorithms that are chosen for all directions.
func strategiesFor(t *testing.T, spec *cpe.Spec, s shape.Conv, asked shape.Strategy) (st [3]shape.Strategy) {
	t.Helper()
	for d := range st {
		found, err := choose(&Problem{Shape: s, Direction: shape.Direction(d), Spec: spec}, Force{Family: asked})
		if err != nil {
			t.Fatal(err)
		}
		st[d] = found.algorithm.Family
	}
	return st
}

// has reports whether a strategy has an algorithm for a direction of a shape.
func has(spec *cpe.Spec, s shape.Conv, st shape.Strategy, d shape.Direction) bool {
	return len(candidates(&Problem{Shape: s, Direction: d, Spec: spec}, st)) > 0
}

// familyOf is the strategy of the algorithm of a name.
func familyOf(name string) shape.Strategy {
	a, err := FindAlgorithm(name)
	if err != nil {
		panic(err)
	}
	return a.Family
}

// stagesOf are the stages of a direction.
func stagesOf(c *Conv, d shape.Direction) []stage { return c.does[d].doing().kernel.(*task).stages }

// newConv is New for shapes that are valid.
func newConv(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy) *Conv {
	t.Helper()
	c, err := New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
