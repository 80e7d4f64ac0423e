package conv

import (
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestExplainText compares the tables for a convolution on the SW26010 with a file.
func TestExplainText(t *testing.T) {
	m, s := kerneltest.Machine(t, "sw26010", true), conv2(8, 64, 128, 1, 14, 14, 3, 3, 1, 1, 1)
	c := newConv(t, m, s, shape.Auto)
	var text strings.Builder
	for d := range shape.Direction(3) {
		text.WriteString(c.Explain(d).String() + "\n")
	}
	kerneltest.Golden(t, "testdata/explained.txt", text.String())
}

// TestExplain: every algorithm is weighed once; the chosen one is marked and comes first; the least cost on the host is 1; a reason stands with
// what cannot be or is left out, and nothing else.
func TestExplain(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	for _, s := range append([]shape.Conv{conv2(0, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1)}, convShapes...) {
		for d := range shape.Direction(3) {
			for _, f := range []Force{{}, {Family: shape.Explicit}, {Family: shape.Winograd4}, {Name: "implicit-padded"}, {Name: "explicit-gemm"}} {
				p := &Problem{Shape: s, Direction: d, Spec: &spec}
				e, err := Explain(p, f)
				if err != nil {
					t.Fatal(err)
				}
				found, err := choose(p, f)
				if err != nil {
					t.Fatal(err)
				}
				checkExplanation(t, e, found, f)
			}
		}
	}
}

func checkExplanation(t *testing.T, e *Explanation, found *choice, f Force) {
	t.Helper()
	seen, least := map[string]bool{}, 0.0
	for i, w := range e.Algorithms {
		if seen[w.Name] || w.Chosen != (i == 0 && w.Name == found.algorithm.Name) || i == 0 && !w.Chosen && w.Declined == nil {
			t.Errorf("%v, %v: %d is %+v, chosen is %s", &e.Problem, f, i, w, found.algorithm.Name)
		}
		if seen[w.Name] = true; w.Refused == nil && (least == 0 || w.Cost < least) {
			least = w.Cost
		}
		if a, err := FindAlgorithm(w.Name); err != nil || (w.Refused == nil) != (a.refuses(&e.Problem) == nil) {
			t.Errorf("%v: %s: %v, %v", &e.Problem, w.Name, w.Refused, err)
		}
		if w.Refused != nil && (w.Declined != nil || w.Cost != 0) {
			t.Errorf("%v: %+v is refused and more", &e.Problem, w)
		}
	}
	if len(seen) != len(algorithms) || !e.Problem.empty() && least != 1 {
		t.Errorf("%v: %d algorithms of %d, the least cost is %g", &e.Problem, len(seen), len(algorithms), least)
	}
}

// timed is a tuner that has measured.
type timed struct{ *scripted }

func (timed) Timings(Task) []Timing { return []Timing{{"explicit-gemm", 1500 * time.Microsecond}} }

// TestExplainMeasured: measured times stand beside the costs.
func TestExplainMeasured(t *testing.T) {
	c, err := NewTuned(kerneltest.HostMachine(t, 1), convShapes[0], timed{newScripted(shape.Explicit)})
	if err != nil {
		t.Fatal(err)
	}
	text := c.Explain(shape.Forward).String()
	for _, want := range []string{"measured ms\n", " 1.5000  left out: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
