package judge

import (
	"fmt"
	"math"
	"slices"
)

// tolerance is the permitted difference between values.
type tolerance struct{ relative, absolute float64 }

func (e *Expected) tolerance() tolerance {
	t := tolerance{1e-3, 1e-5}
	if e.RTol != nil {
		t.relative = *e.RTol
	}
	if e.ATol != nil {
		t.absolute = *e.ATol
	}
	return t
}

func (t tolerance) agree(got, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= t.absolute+t.relative*math.Abs(want)
}

func (t tolerance) list(what string, got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d values, expected %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !t.agree(got[i], w) {
			return fmt.Errorf("%s[%d] = %.7g, expected %.7g", what, i, got[i], w)
		}
	}
	return nil
}

// step compares the changes of values since the start of training, so that a wrong gradient cannot hide behind large values. A
// change may differ by 2 % of the largest change, or more if the case's tolerance is wide.
func (t tolerance) step(what string, from, got, want []float64) error {
	moved, large := 0.0, 0.0
	for i, w := range want {
		moved, large = max(moved, math.Abs(w-from[i])), max(large, math.Abs(w))
	}
	if math.IsNaN(moved) || math.IsInf(moved, 0) {
		return nil // list has already compared these
	}
	off := max(0.02*moved, 4e-6*large, 1e-7) * max(1, t.relative/1e-3)
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= off) {
			return fmt.Errorf("%s[%d] moved from %.7g to %.7g, expected %.7g", what, i, from[i], got[i], w)
		}
	}
	return nil
}

// blobCheck is the expectation for a weight: its values or their statistics.
type blobCheck struct {
	Layer   string
	Blob    int
	Shape   []int64
	Values  []float64
	Stats   map[string][2]float64 // lower and upper bounds
	UnitSum *float64              `json:"unit_sum"` // expected sum of the weights of each output
}

func (c *blobCheck) judge(blobs map[blobKey]stored) error {
	key := blobKey{c.Layer, c.Blob}
	b, ok := blobs[key]
	if !ok {
		return fmt.Errorf("%v is missing", key)
	}
	if c.Shape != nil && !slices.Equal(trim(b.shape), trim(c.Shape)) {
		return fmt.Errorf("%v has shape %v, expected %v", key, b.shape, c.Shape)
	}
	if c.Values != nil {
		if err := (tolerance{1e-5, 1e-6}).list(key.String(), b.values, c.Values); err != nil {
			return err
		}
	}
	found := statistics(b.values)
	for name, bounds := range c.Stats {
		if v, known := found[name]; !known || !(bounds[0] <= v && v <= bounds[1]) {
			return fmt.Errorf("%v: %s is %.6g, expected from %.6g to %.6g", key, name, v, bounds[0], bounds[1])
		}
	}
	if c.UnitSum != nil {
		each := len(b.values) / int(b.shape[0])
		for unit := range int(b.shape[0]) {
			sum := 0.0
			for _, v := range b.values[unit*each : (unit+1)*each] {
				sum += v
			}
			if !(math.Abs(sum-*c.UnitSum) <= 1e-4) {
				return fmt.Errorf("%v: unit %d sums to %.6g, expected %.6g", key, unit, sum, *c.UnitSum)
			}
		}
	}
	return nil
}

func statistics(values []float64) map[string]float64 {
	n, sum, squares, zeros := float64(len(values)), 0.0, 0.0, 0.0
	for _, v := range values {
		sum += v
		if v == 0 {
			zeros++
		}
	}
	for _, v := range values {
		squares += (v - sum/n) * (v - sum/n)
	}
	return map[string]float64{"n": n, "mean": sum / n, "std": math.Sqrt(squares / n), "min": slices.Min(values), "max": slices.Max(values), "zero": zeros / n}
}

// trim drops leading dimensions of 1, in which old and new forms of a blob differ.
func trim(shape []int64) []int64 {
	for len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	return shape
}
