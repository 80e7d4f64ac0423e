package cpe

import (
	"strings"
	"testing"
)

// TestInHalf: values have two bytes and products the rate of the file, however low; a machine without the rate is an error, as are values.
func TestInHalf(t *testing.T) {
	s := load(t, "sw39000")
	half, err := s.InHalf()
	if err != nil || half.Bytes(3) != 6 || half.LDMFloats() != 2*s.LDMFloats() || half.PeakGFlops() != 4*s.PeakGFlops() || half.Pipe.BlockCols != 4*s.Pipe.BlockCols {
		t.Errorf("%v, %+v", err, half)
	}
	s.HalfFlops = 0.1
	slow, err := s.InHalf()
	if got, full := slow.MultiplyNs(8, 8, 8, true), s.MultiplyNs(8, 8, 8, true); err != nil || got <= full {
		t.Errorf("%v: %g ns at a low rate, %g in single precision", err, got, full)
	}
	if _, err := New(half, Functional); err == nil || !strings.Contains(err.Error(), "models costs alone") {
		t.Errorf("error %v", err)
	}
	if _, err := load(t, "sw26010").InHalf(); err == nil || !strings.Contains(err.Error(), "half_flops_per_cycle") {
		t.Errorf("error %v", err)
	}
}
