package plan_test

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestExplainText compares the tables for a convolution on the SW26010 with a file. Algorithms for other machines or directions are left out,
// so that the file does not list all algorithms.
func TestExplainText(t *testing.T) {
	m, s := kerneltest.Machine(t, "sw26010", true), convtest.Shape2D(8, 64, 128, 1, 14, 14, 3, 3, 1, 1, 1)
	c := convtest.New(t, m, s, shape.Auto)
	var text strings.Builder
	for d := range shape.Direction(3) {
		e, err := c.Explain(d, false)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(e.String() + "\n") {
			if !strings.Contains(line, "cannot: it runs only on this computer") && !strings.Contains(line, "cannot: it does not compute this direction") {
				text.WriteString(line)
			}
		}
	}
	kerneltest.Golden(t, "testdata/explained.txt", text.String())
}

// TestExplain: every algorithm is weighed once; the chosen one is marked and comes first; the least cost on the host is 1; a reason stands with
// what cannot be or is left out, and nothing else.
func TestExplain(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	for _, s := range append([]shape.Conv{convtest.Shape2D(0, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1)}, convtest.Shapes...) {
		for d := range shape.Direction(3) {
			for _, f := range []op.Force{{}, {Family: shape.Explicit}, {Family: shape.Winograd4}, {Name: "implicit-padded"}, {Name: "explicit-gemm"}} {
				p := &conv.Problem{Shape: s, Direction: d, Spec: &spec}
				e, err := plan.Explain(p, f)
				if err != nil {
					t.Fatal(err)
				}
				name, err := plan.Choose(p, f)
				if err != nil {
					t.Fatal(err)
				}
				checkExplanation(t, p, e, name, f)
			}
		}
	}
}

func checkExplanation(t *testing.T, p *conv.Problem, e *op.Explanation, name string, f op.Force) {
	t.Helper()
	seen, least := map[string]bool{}, 0.0
	for i, w := range e.Algorithms {
		if seen[w.Name] || w.Chosen != (i == 0 && w.Name == name) || i == 0 && !w.Chosen && w.Declined == nil {
			t.Errorf("%v, %v: %d is %+v, chosen is %s", p, f, i, w, name)
		}
		if seen[w.Name] = true; w.Refused == nil && (least == 0 || w.Cost < least) {
			least = w.Cost
		}
		if a, err := plan.FindAlgorithm(w.Name); err != nil || (w.Refused == nil) != (a.Refuses(p) == nil) {
			t.Errorf("%v: %s: %v, %v", p, w.Name, w.Refused, err)
		}
		if w.Refused != nil && (w.Declined != nil || w.Cost != 0) {
			t.Errorf("%v: %+v is refused and more", p, w)
		}
	}
	if len(seen) != len(plan.List()) || tiling.Size(p.Shape.OutSize())*p.Shape.N > 0 && least != 1 {
		t.Errorf("%v: %d algorithms of %d, the least cost is %g", p, len(seen), len(plan.List()), least)
	}
}

// TestExplainMeasured: measured times stand beside the costs of all algorithms that support the problem, and only of these.
func TestExplainMeasured(t *testing.T) {
	for _, s := range []shape.Conv{convtest.Shape2D(1, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), convtest.Shape2D(1, 32, 16, 1, 8, 7, 3, 3, 1, 1, 1)} {
		c, err := plan.New(kerneltest.HostMachine(t, 1), s, shape.Auto)
		if err != nil {
			t.Fatal(err)
		}
		for _, blocks := range []bool{false, s.C%shape.BlockLanes == 0} {
			if err := c.SetLayouts(shape.InBlocks(blocks), shape.InBlocks(blocks)); err != nil {
				t.Fatal(err)
			}
			for d := range shape.Direction(3) {
				e, err := c.Explain(d, true)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range e.Algorithms {
					if (w.Measured > 0) != (w.Refused == nil) {
						t.Errorf("%v: %+v", d, w)
					}
				}
			}
		}
	}
}

// TestExplainPlans: every algorithm whose kernel is a task prints its plan on one line.
func TestExplainPlans(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range []*cpe.Machine{kerneltest.HostMachine(t, 2), kerneltest.Machine(t, "sw26010", true)} {
		spec := m.Spec()
		for _, s := range append([]shape.Conv{convtest.Shape2D(16, 16, 32, 1, 7, 6, 5, 5, 1, 2, 1)}, convtest.Shapes...) {
			for d := range shape.Direction(3) {
				p := &conv.Problem{Shape: s, Direction: d, Spec: &spec}
				for _, a := range plan.List() {
					if a.Refuses(p) != nil || seen[a.Name+d.String()] {
						continue
					}
					seen[a.Name+d.String()] = true
					k, err := a.Kernel(m, p)
					if err != nil {
						t.Fatal(err)
					}
					text, ok := k.(interface{ Blocking() string })
					if _, task := k.(*conv.Task); task && !ok || ok && (text.Blocking() == "" || strings.Contains(text.Blocking(), "%!") || strings.Contains(text.Blocking(), "\n")) {
						t.Errorf("%s: plan %q", a.Name, text.Blocking())
					}
					if ok {
						t.Logf("%s, %v: %s", a.Name, d, text.Blocking())
					}
				}
			}
		}
	}
}
