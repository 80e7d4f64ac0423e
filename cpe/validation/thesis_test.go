package validation_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// TestThesisOperators compares convolutions of the whole chip with [TH] chapter 5 (J. Fang's thesis, Tsinghua University, 2019), in GFLOP/s of direct
// operations: the explicit one that it has is within 10 %; what entries 18 and 19 of DEVIATIONS.md say of the others is so.
func TestThesisOperators(t *testing.T) {
	for _, c := range []struct {
		software      string
		strategy      kernel.Strategy
		ni, no, size  int
		least, atMost float64
	}{
		{in2019, kernel.Explicit, 512, 128, 28, 0.9 * 731, 1.1 * 731},
		{in2019, kernel.Winograd2, 64, 64, 112, 180, 240},
		{in2019, kernel.Winograd2, 256, 256, 56, 1500, 1850},
		{in2019, kernel.Winograd2, 512, 512, 28, 2400, 2800},
		{in2019, kernel.Implicit, 64, 64, 64, 120, 140},
		{in2019, kernel.Implicit, 384, 384, 64, 320, 360},
		{ours, kernel.Implicit, 64, 64, 64, 1000, 1150},
		{ours, kernel.Implicit, 384, 384, 64, 1850, 2050},
	} {
		shape := kernel.ConvShape{
			N: 128, C: c.ni, Out: c.no, Group: 1, In: []int{c.size, c.size}, Kernel: []int{3, 3},
			Stride: []int{1, 1}, Pad: []int{1, 1}, Dilation: []int{1, 1},
		}
		work := 2 * 128 * float64(c.ni*c.no*9) * math.Pow(float64(c.size), 2)
		got := work / convSeconds(t, sw26010(t, 4, c.software), shape, c.strategy, kernel.Forward) / 1e9
		t.Logf("%s %v, %d to %d channels, %dx%d: %.0f GFLOP/s", c.software, c.strategy, c.ni, c.no, c.size, c.size, got)
		if got < c.least || got > c.atMost {
			t.Errorf("%s %v, %d to %d channels, %dx%d: %.0f GFLOP/s, want %.0f to %.0f", c.software, c.strategy, c.ni, c.no, c.size, c.size, got, c.least, c.atMost)
		}
	}
}
