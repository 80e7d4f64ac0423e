package stream

import (
	"errors"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestUnits: each unit reads a block of rows and a contiguous piece, writes the block's transpose, and adds to a third array.
func TestUnits(t *testing.T) {
	const units, rows, cols, stride = 300, 3, 5, 11
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		src, extra := kerneltest.Values(units*rows*stride, 1), kerneltest.Values(units*cols, 2)
		dst, sum := make([]float32, units*rows*cols), kerneltest.Values(units, 3)
		want := append([]float32(nil), sum...)
		u := NewUnits(m, "test", units, len(src), func(w *UnitWorker, unit int) {
			x, ldx := w.Load(Piece{src, unit * rows * stride, rows, stride, cols})
			e, _ := w.Load(Span(extra, unit*cols, cols))
			y, ldy := w.Place(Piece{dst, unit * rows * cols, cols, rows, rows})
			s, _ := w.Update(Span(sum, unit, 1))
			w.Cost(rows*cols, 0)
			if !w.Values() {
				return
			}
			for r := range rows {
				for c := range cols {
					y[c*ldy+r] = x[r*ldx+c] + e[c]
				}
			}
			s[0]++
		})
		if err := u.Run(); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst {
			unit, c, r := i/(rows*cols), i/rows%cols, i%rows
			if x := src[unit*rows*stride+r*stride+c] + extra[unit*cols+c]; v != x {
				t.Fatalf("dst[%d] = %g, want %g", i, v, x)
			}
		}
		for i, v := range sum {
			if v != want[i]+1 {
				t.Fatalf("sum %d is %g, want %g", i, v, want[i]+1)
			}
		}
	})
}

// TestUnitsErrors: a unit that fails ends the kernel with its error, once; a block that exceeds LDM is refused.
func TestUnitsErrors(t *testing.T) {
	wrong, fails := errors.New("wrong"), true
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		u := NewUnits(m, "test", 100, 100, func(w *UnitWorker, unit int) {
			if fails && unit == 37 {
				w.Fail(wrong)
			}
		})
		if fails = true; u.Run() != wrong {
			t.Error("the error is lost")
		}
		if fails = false; u.Run() != nil {
			t.Error("the error stayed")
		}
	})
}

// TestLargeUnits: blocks for which LDM has no room pass through it. They are charged all the same, once for each time that they are loaded or
// stored, in requests that fit, and in cost-only mode as in functional mode.
func TestLargeUnits(t *testing.T) {
	const large = 40000
	run := func(m *cpe.Machine) error {
		x, y := kerneltest.Array(m, 3*large), kerneltest.Array(m, 3*large)
		return NewUnits(m, "large", 3, large, func(w *UnitWorker, unit int) {
			small, _ := w.Load(Span(x, unit*large, 100))
			in, stride := w.Load(Rect(x, unit*large, 4, large/4, large/4))
			out, _ := w.Place(Span(y, unit*large, large))
			changed, _ := w.Update(Span(y, unit*large, 1))
			room := w.Scratch(large)
			if w.Cost(large, 0); w.Values() {
				copy(room, in[:large])
				copy(out, room)
				changed[0] = small[99] + float32(stride)
			}
		}).Run()
	}
	kerneltest.ChargesTheSame(t, "large units", run)
	m := kerneltest.Machine(t, "sw26010", true)
	if err := run(m); err != nil {
		t.Fatal(err)
	}
	l := m.Ledger()
	if want := int64(3 * 4 * (100 + large + 1 + large)); l.GetBytes != want {
		t.Errorf("%d bytes loaded, want %d", l.GetBytes, want)
	}
	if want := int64(3 * 4 * (large + 1 + large)); l.PutBytes != want {
		t.Errorf("%d bytes stored, want %d", l.PutBytes, want)
	}
	if l.LDMPeak > m.Spec().LDMBytes || l.DMARequests < 3*4*4 {
		t.Errorf("%d bytes of LDM, %d requests", l.LDMPeak, l.DMARequests)
	}
}

func TestUnitsCostOnly(t *testing.T) {
	kerneltest.ChargesTheSame(t, "units", func(m *cpe.Machine) error {
		x := kerneltest.Array(m, 10000)
		return NewUnits(m, "units", 100, 10000, func(w *UnitWorker, unit int) {
			w.Load(Span(x, unit*100, 100))
			w.Place(Span(x, unit*100, 100))
			w.Cost(1000, 10)
		}).Run()
	})
}
