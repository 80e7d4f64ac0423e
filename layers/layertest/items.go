package layertest

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/layers"
)

// Apart computes a case for all items together and for two parts of them, as two workers do. It returns why the results differ, or nil: every
// top is made of the tops of the parts, or is their mean weighted by items, as a loss is. declared is what the type says. ok is false if the case has
// no items to divide: its bottoms have no common extent of axis 0 that is at least 2.
func Apart(d *layers.Device, c Case) (declared layers.Coupling, why error, ok bool) {
	f, err := New(d, &c)
	if err != nil || len(c.Bottoms) == 0 {
		return declared, err, false
	}
	n := 0
	var shapes [][]int
	for i, b := range f.Bottom {
		if b.NumAxes() == 0 || i > 0 && b.Dim(0) != n || b.Dim(0) < 2 {
			return declared, nil, false
		}
		n, shapes = b.Dim(0), append(shapes, slices.Clone(b.Shape()))
	}
	return f.Type.Coupling(f.Param, shapes), f.apart(n), true
}

// apart compares a run of n items with runs of two parts of them.
func (whole *Fixture) apart(n int) error {
	if err := whole.run(); err != nil {
		return err
	}
	tops, shapes := whole.values(), whole.shapes()
	inputs := slices.Clone(whole.inputs)
	means := make([]float64, len(tops))
	for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} {
		lo, hi := part[0], part[1]
		if err := whole.divide(inputs, n, lo, hi); err != nil {
			return err
		}
		if err := whole.run(); err != nil {
			return err
		}
		for i, got := range whole.values() {
			if len(shapes[i]) > 0 && shapes[i][0] == n && whole.Top[i].NumAxes() > 0 && whole.Top[i].Dim(0) == hi-lo {
				size := len(tops[i]) / n
				if err := sameItems(got, tops[i][lo*size:hi*size]); err != nil {
					return fmt.Errorf("top %d of items %d to %d: %w", i, lo, hi-1, err)
				}
				continue
			}
			if len(got) != 1 || len(tops[i]) != 1 {
				return fmt.Errorf("top %d is %v for %d items and %s for %d", i, shapes[i], n, whole.Top[i].ShapeString(), hi-lo)
			}
			means[i] += float64(got[0]) * float64(hi-lo) / float64(n)
			if hi == n {
				if err := sameItems([]float32{float32(means[i])}, tops[i]); err != nil {
					return fmt.Errorf("top %d, the mean over the parts: %w", i, err)
				}
			}
		}
	}
	return nil
}

// values returns copies of the tops' values.
func (f *Fixture) values() (list [][]float32) {
	for _, t := range f.Top {
		list = append(list, slices.Clone(t.Data()))
	}
	return list
}

func (f *Fixture) shapes() (list [][]int) {
	for _, t := range f.Top {
		list = append(list, slices.Clone(t.Shape()))
	}
	return list
}

// divide gives the bottoms items lo to hi of n.
func (f *Fixture) divide(inputs [][]float32, n, lo, hi int) error {
	for i, b := range f.Bottom {
		size := len(inputs[i]) / n
		b.Reshape(append([]int{hi - lo}, b.Shape()[1:]...)...)
		f.inputs[i] = inputs[i][lo*size : hi*size]
		copy(b.Data(), f.inputs[i])
	}
	return f.Layer.Reshape(f.Bottom, f.Top)
}

// sameItems compares values that may be summed in another order.
func sameItems(got, want []float32) error {
	for i, v := range got {
		w := float64(want[i])
		if d := math.Abs(float64(v) - w); d > 1e-4*(1+math.Abs(w)) || math.IsNaN(d) && !(math.IsNaN(float64(v)) && math.IsNaN(w)) && float64(v) != w {
			return fmt.Errorf("value %d is %g, with all items %g", i, v, w)
		}
	}
	return nil
}
