package pages

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestBudget: values add up, times the parts of the program, and too many in all are an error with both sizes although each piece would fit.
func TestBudget(t *testing.T) {
	have := min(Memory(), most)
	for _, parts := range []int{0, 1, 4} {
		b := &Budget{Parts: parts}
		piece := have / 4 / 10 / float64(max(1, parts))
		for i := range 10 {
			if err := b.Take(piece * 0.99); err != nil {
				t.Fatalf("%d parts: piece %d: %v", parts, i, err)
			}
		}
		err := b.Take(piece)
		over := (*OverBudget)(nil)
		if !errors.As(err, &over) || over.Bytes <= have || !strings.Contains(err.Error(), size(over.Bytes)+" of memory are needed") {
			t.Errorf("%d parts: %v", parts, err)
		}
		if says := strings.Contains(err.Error(), "of 4 workers"); says != (parts == 4) {
			t.Errorf("%d parts: %v", parts, err)
		}
		if !math.IsInf(Available(), 1) && !strings.Contains(b.Doubt(), "are free now") {
			t.Errorf("%d parts: no doubt about more than there is", parts)
		}
	}
	if b := (&Budget{}); b.Take(1) != nil || b.Doubt() != "" {
		t.Errorf("a doubt about 4 bytes: %s", b.Doubt())
	}
}
