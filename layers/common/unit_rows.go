package common

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// unitRows divides the rows of a layer's first weight by their lengths, the roots of the sums of squares plus eps. In phase TRAIN it writes to
// the weight itself, as the forks for faces do. In phase TEST, where the weight may be that of a training net, it writes to a blob of its own.
type unitRows struct {
	weight, unit *blob.Blob
	k            int // values of a row
	eps          float64
	shared       bool // core groups share the weight, which the solver has prepared for them

	kernel   *stream.Units // nil on the MPE path
	to, from []float32
}

// newUnitRows prepares for the first weight of a layer, rows x k.
func newUnitRows(b *layers.Base, eps float64) *unitRows {
	u := &unitRows{weight: b.Weights[0], unit: b.Weights[0], k: b.Weights[0].Dim(1), eps: eps}
	if u.shared = b.Train() && b.Device.Share.Groups > 1; !b.Train() {
		u.unit = b.Device.NewBlob(0)
		u.unit.ReshapeLike(u.weight)
	}
	if b.MPE() {
		return u
	}
	machine, typ := b.Device.Machine, b.Param.GetType()
	u.kernel = stream.NewUnits(machine, typ+" weights", u.weight.Dim(0), u.weight.Count(), func(w *stream.UnitWorker, row int) {
		from, _ := w.Load(stream.Span(u.from, row*u.k, u.k))
		to, _ := w.Place(stream.Span(u.to, row*u.k, u.k))
		if w.Cost(3*u.k, 2); w.Values() {
			direction(to[:u.k], from, u.eps)
		}
	})
	return u
}

// run computes the rows before a pass, unless the solver has done so for all core groups.
func (u *unitRows) run() error {
	if u.shared {
		return nil
	}
	return u.divide()
}

// divide computes the rows.
func (u *unitRows) divide() error {
	u.from, u.to = u.weight.Values(), u.unit.Data()
	return each(u.kernel, u.weight.Dim(0), func(row int) { direction(u.to[row*u.k:][:u.k], u.from[row*u.k:], u.eps) })
}

// direction writes a vector divided by its length; a vector of zeros stays one.
func direction(to, from []float32, eps float64) {
	factor := 0.0
	if n := sumSquares(from[:len(to)]); n > 0 {
		factor = 1 / math.Sqrt(n+eps)
	}
	for i := range to {
		to[i] = float32(float64(from[i]) * factor)
	}
}

func sumSquares(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// each runs a kernel, or on the MPE path calls do for every row.
func each(kernel *stream.Units, rows int, do func(row int)) error {
	if kernel != nil {
		return kernel.Run()
	}
	for i := range rows {
		do(i)
	}
	return nil
}
