package nets

import (
	"fmt"
	"math"
	"strings"
)

// sameBits compares two runs bit by bit; all NaN are equal.
func sameBits(got, want *run) error {
	for i, name := range want.names {
		g, w := got.values[i], want.values[i]
		if len(g) != len(w) {
			return fmt.Errorf("%s has %d values, %d expected", name, len(g), len(w))
		}
		for k := range w {
			if math.Float32bits(g[k]) != math.Float32bits(w[k]) && !(g[k] != g[k] && w[k] != w[k]) {
				return fmt.Errorf("%s: value %d of %d is %g, not %g: other bits", name, k, len(w), g[k], w[k])
			}
		}
	}
	return nil
}

// envelope is the largest change of each value of a run, among runs of slightly perturbed nets.
type envelope [][]float32

func newEnvelope(r *run) envelope {
	e := make(envelope, len(r.values))
	for i, v := range r.values {
		e[i] = make([]float32, len(v))
	}
	return e
}

// widen adds the changes between two runs. An array whose length changes too, as that of detections does, keeps its envelope.
func (e envelope) widen(a, b *run) {
	for i := range e {
		if len(a.values[i]) != len(b.values[i]) {
			continue
		}
		for k := range e[i] {
			if d := math.Abs(float64(a.values[i][k]) - float64(b.values[i][k])); d > float64(e[i][k]) {
				e[i][k] = float32(d)
			}
		}
	}
}

// near compares values. A value may differ by a part of the largest one in its array, and by a multiple of its own and the
// array's changes in the envelope. Gradients that cancel out may also differ by a part of the largest gradients of the run, and
// by least.
func near(got, want *run, moved envelope, part, least float64) error {
	var scale float64
	for i, name := range want.names {
		if size := rms(want.values[i]); strings.HasPrefix(name, "gradient") && size > scale && !math.IsInf(size, 0) {
			scale = size
		}
	}
	for i, name := range want.names {
		if strings.HasPrefix(name, stepped) {
			continue // compared layer by layer instead, with equal bottoms
		}
		floor := 0.0
		switch {
		case name == "the loss" || strings.HasPrefix(name, "output") && len(want.values[i]) == 1:
			floor = 1e-4 // a sum over a whole blob, whose terms may cancel
		case strings.HasPrefix(name, "gradient"):
			floor = max(1e-5*scale, least)
		}
		if err := nearValues(name, got.values[i], want.values[i], moved[i], part, floor); err != nil {
			return err
		}
	}
	return nil
}

func nearValues(name string, got, want, moved []float32, part, floor float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d values, %d expected", name, len(got), len(want))
	}
	var largest float64
	for _, w := range want {
		if v := math.Abs(float64(w)); v > largest {
			largest = v
		}
	}
	if math.IsInf(largest, 0) || largest > 1e15 {
		return nil // values have left the range in which a comparison is meaningful
	}
	if largest == 0 {
		// Sums that cancel: after a BatchNorm over one value, whose epsilon amplifies them by 300, or after a softmax over one
		// class.
		floor = max(100*floor, 1e-3)
	}
	bound := part*largest + 3*rms(moved) + floor + 1e-30
	for k := range want {
		w, g := float64(want[k]), float64(got[k])
		if math.IsNaN(w) {
			continue
		}
		if d := math.Abs(g - w); !(d <= bound+10*float64(moved[k])) {
			return fmt.Errorf("%s: value %d of %d is %g, not %g; the largest is %g, allowed are %.3g", name, k, len(want), g, w, largest, bound+10*float64(moved[k]))
		}
	}
	return nil
}
