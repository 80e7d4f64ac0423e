package caffelog

import (
	"math"
	"testing"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0.1234567: "0.123457", 1e6: "1e+06", 123456: "123456", -2.5e-7: "-2.5e-07", 3: "3", math.Inf(1): "inf", math.Inf(-1): "-inf", math.NaN(): "nan",
	} {
		if got := Figure(v); got != want {
			t.Errorf("%v is printed as %q, want %q", v, got, want)
		}
	}
}

func TestLossNote(t *testing.T) {
	if got, want := LossNote(0.5, 3), " (* 0.5 = 1.5 loss)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := LossNote(0, 3); got != "" {
		t.Errorf("an output without weight has the note %q", got)
	}
}
