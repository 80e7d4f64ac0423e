package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// size is the shape of an operation for tests: a number.
type size int

func (s size) Empty() bool { return s == 0 }

func (s size) Describe(d shape.Direction, _, _ shape.Layout) string {
	return fmt.Sprintf("%v of %d", d, s)
}

type (
	problem   = op.Problem[size]
	algorithm = op.Algorithm[size, string]
)

// host is this computer.
func host(t *testing.T) (*cpe.Machine, *cpe.Spec) {
	t.Helper()
	m := kerneltest.HostMachine(t, 2)
	spec := m.Spec()
	return m, &spec
}

// row returns an algorithm for sizes of at least least, at a fixed cost.
func row(name string, family shape.Strategy, least size, cost float64) *algorithm {
	return &algorithm{
		Name: name, Family: family,
		Supports: func(p *problem) error { return op.Unless(p.Shape >= least, "%d is less than %d", p.Shape, least) },
		Cost:     func(*problem) float64 { return cost },
		Kernel:   func(*cpe.Machine, *problem) (string, error) { return name, nil },
	}
}

// TestChooseDrawn compares the choices of drawn lists with the rules, said in another way: of the algorithms that may run, the first of least cost.
func TestChooseDrawn(t *testing.T) {
	_, spec := host(t)
	r := rand.New(rand.NewPCG(1, 2))
	families := []shape.Strategy{shape.Auto, shape.Explicit, shape.Implicit, shape.Winograd4}
	for range 20000 {
		l := op.List[size, string]{}
		for i := range 1 + r.IntN(6) {
			a := row(fmt.Sprint("a", i), families[r.IntN(4)], size(r.IntN(4)), float64(r.IntN(4)))
			a.Special, a.General, a.Asked = r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(5) == 0
			if r.IntN(4) == 0 {
				a.Types.Factors = op.BFloat16
			}
			if r.IntN(4) == 0 {
				a.Declines = func(p *problem) error { return op.Unless(p.Shape != 2, "2 is for others") }
			}
			l.Algorithms = append(l.Algorithms, a)
		}
		p := &problem{Shape: size(1 + r.IntN(3)), Spec: spec}
		if r.IntN(4) == 0 {
			p.Types.Factors = op.BFloat16
		}
		f := op.Force{Family: families[r.IntN(4)]}
		if r.IntN(3) == 0 {
			f.Name = fmt.Sprint("a", r.IntN(6))
		}
		want := expected(l.Algorithms, p, f)
		found, err := l.Choose(p, f)
		switch {
		case err != nil && want != "":
			t.Fatalf("%v: %v, want %s", f, err, want)
		case err == nil && found.Algorithm.Name != want:
			t.Fatalf("%v of %v: %s, want %q", f, p, found.Algorithm.Name, want)
		case err != nil:
			continue
		}
		e, err := l.Explain(p, f)
		if err != nil || e.Algorithms[0].Name != want || !e.Algorithms[0].Chosen || len(e.Algorithms) != len(l.Algorithms) {
			t.Fatalf("%v, explained: %+v, want %q first", err, e, want)
		}
	}
}

// expected returns the name of the algorithm that the rules choose.
func expected(all []*algorithm, p *problem, f op.Force) string {
	able := map[*algorithm]bool{}
	for _, a := range all {
		able[a] = (a.Types == p.Types || a.Types == op.Types{}) && a.Supports(p) == nil
		if able[a] && a.Name == f.Name {
			return a.Name
		}
	}
	for _, family := range []shape.Strategy{f.Family, shape.Auto} {
		for _, reluctant := range []bool{false, true} {
			best := ""
			least := 0.0
			for _, a := range all {
				ok := able[a] && (family == shape.Auto && !a.Asked || family != shape.Auto && (a.Family == family || a.Family == shape.Auto))
				declines := a.Declines != nil && p.Shape == 2
				for _, b := range all {
					declines = declines || a.General && b != a && able[b] && b.Special && b.Family == a.Family
				}
				if cost := a.Cost(p); ok && (reluctant || !declines) && (best == "" || cost < least) {
					best, least = a.Name, cost
				}
			}
			if best != "" {
				return best
			}
		}
	}
	return ""
}

// TestWithoutCosts: the order of the list decides, and an explanation has no costs.
func TestWithoutCosts(t *testing.T) {
	m, spec := host(t)
	narrow, wide := row("narrow", shape.Auto, 5, 0), row("wide", shape.Auto, 0, 0)
	narrow.Cost, wide.Cost, wide.Supports = nil, nil, nil
	l := op.List[size, string]{Algorithms: []*algorithm{narrow, wide}}
	for n, want := range map[size]string{4: "wide", 5: "narrow"} {
		if c, err := l.Choose(&problem{Shape: n, Spec: spec}, op.Force{}); err != nil || c.Algorithm.Name != want {
			t.Errorf("%d: %v, %v, want %s", n, c, err, want)
		}
	}
	p := &problem{Shape: 5, Spec: spec}
	e, err := l.Explain(p, op.Force{})
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	err = l.Measure(m, p, e, func(k string) error {
		ran[k]++
		if k == "wide" {
			time.Sleep(2 * time.Millisecond)
		}
		return nil
	})
	if err != nil || ran["narrow"] < 4 || ran["wide"] != ran["narrow"] || e.Algorithms[1].Measured < 2*time.Millisecond || e.Algorithms[0].Measured >= e.Algorithms[1].Measured {
		t.Errorf("%v, ran %v, %+v", err, ran, e.Algorithms)
	}
	for _, want := range []string{"forward of 5: computed by narrow\n", "measured ms\n", "> narrow                              -"} {
		if text := e.String(); !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestReasons: every refusal has its reason.
func TestReasons(t *testing.T) {
	_, spec := host(t)
	left := spec.WithoutAlgorithms("left")
	a := row("left", shape.Auto, 3, 0)
	a.Directions = []shape.Direction{shape.Forward}
	for want, p := range map[string]*problem{
		"there are no images or no results":              {Spec: spec},
		"2 is less than 3":                               {Shape: 2, Spec: spec},
		"it does not compute this direction":             {Shape: 3, Spec: spec, Direction: shape.InputGradient},
		"it is left out (-without)":                      {Shape: 3, Spec: &left},
		"it runs only on the mesh of a modelled machine": {Shape: 3, Spec: spec, Direction: shape.WeightGradient},
	} {
		why := a.Refuses(p)
		if p.Direction == shape.WeightGradient {
			why = op.OnModel(p)
		}
		if why == nil || why.Error() != want {
			t.Errorf("%v: %v, want %s", p, why, want)
		}
	}
	// Problems that permit other types may be computed in float32, problems that do not only in float32.
	permits := &problem{Shape: 3, Spec: spec, Types: op.RoundedFactors}
	if why := a.Refuses(permits); why != nil {
		t.Error(why)
	}
	a.Types = op.RoundedFactors
	if why := a.Refuses(permits); why != nil {
		t.Error(why)
	}
	if why := a.Refuses(&problem{Shape: 3, Spec: spec}); why == nil || why.Error() != "it computes in bfloat16 summed in float32" {
		t.Error(why)
	}
	if text := (&problem{Shape: 3, Types: op.RoundedFactors}).String(); text != "forward of 3, in bfloat16 summed in float32" {
		t.Error(text)
	}
}
