package modeltime

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// TestWorth: a mechanism's worth is the difference to a run without it, others present. What does not move is zero, what moves against the
// mechanism's purpose says why, and nothing else does.
func TestWorth(t *testing.T) {
	o := options(t)
	o.Batch = 8
	net := readNet(t, small)
	list, err := WorthOf(net, o, cpe.Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(cpe.Mechanisms()) {
		t.Fatalf("%d of %d mechanisms", len(list), len(cpe.Mechanisms()))
	}
	whole, moved := run(t, small, o).Total.IterationMs, 0
	for _, w := range list {
		m, err := cpe.FindMechanism(w.Mechanism)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(w.Doc, "then ") || w.Doc != m.Doc {
			t.Errorf("%s: it says %q", w.Mechanism, w.Doc)
		}
		one := o
		if one.Spec, err = o.Spec.Without(w.Mechanism); err != nil {
			t.Fatal(err)
		}
		total := run(t, small, one).Total
		if w.IterationRange != total.IterationRange || !w.IterationRange.Known() {
			t.Errorf("%s: range %v, want %v", w.Mechanism, w.IterationRange, total.IterationRange)
		}
		if want := total.IterationMs - whole; math.Abs(w.ChangeMs-want) > 1e-9*whole || math.Abs(w.Change*whole-want) > 1e-9*whole {
			t.Errorf("%s: %g ms, %g of the iteration, want %g ms", w.Mechanism, w.ChangeMs, w.Change, want)
		}
		if w.ChangeMs != 0 {
			moved++
		}
		if against := w.Change > leastChange && !m.Helps || w.Change < -leastChange && m.Helps; against != (w.Unexpected != "") {
			t.Errorf("%s changes %+.3f%%, and it says %q", w.Mechanism, 100*w.Change, w.Unexpected)
		}
	}
	if moved < 4 {
		t.Errorf("only %d mechanisms change anything", moved)
	}
	if _, err := WorthOf(net, o, []string{"overlp"}); err == nil || !strings.Contains(err.Error(), `"overlap"`) {
		t.Errorf("an unknown mechanism: %v", err)
	}
}
