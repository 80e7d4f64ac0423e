package stream

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

func TestStreamsCostOnly(t *testing.T) {
	kerneltest.ChargesTheSame(t, "stream", func(m *cpe.Machine) error {
		k, err := New(m, Pass{Name: "scale", Dims: [3]int{4, 100, 700}, Ins: []Array{Full, Row}, Outs: []Array{Full}, Cost: Work{2, 1}, Op: func(*Tile) {}})
		if err != nil {
			return err
		}
		x := kerneltest.Array(m, 280000)
		return k.Run([][]float32{x, kerneltest.Array(m, 100)}, [][]float32{x})
	})
}

// TestPiecesCostOnly: a pass whose mids do not fit LDM loads its arrays as often as it sweeps over them, and stores them once.
func TestPiecesCostOnly(t *testing.T) {
	dims := [3]int{3, 20000, 200}
	run := func(m *cpe.Machine) error {
		k, err := New(m, Pass{Name: "softmax", Dims: dims, WholeMid: true, Sweeps: 2, Ins: []Array{Full, Row, Plane}, Outs: []Array{Full}, Scratch: 1, Cost: Work{2, 1}, Op: func(*Tile) {}})
		if err != nil {
			return err
		}
		x := kerneltest.Array(m, 3*20000*200)
		return k.Run([][]float32{x, kerneltest.Array(m, 20000), kerneltest.Array(m, 600)}, [][]float32{x})
	}
	kerneltest.ChargesTheSame(t, "pieces", run)
	m := kerneltest.Machine(t, "sw26010", true)
	if err := run(m); err != nil {
		t.Fatal(err)
	}
	l, values := m.Ledger(), int64(3*20000*200)
	tiles := int64(3 * 2) // runs of 128 and of 72 values; each reads the row
	if want := 4 * 2 * (values + tiles*20000 + 600); l.GetBytes != want {
		t.Errorf("%d bytes loaded, want %d", l.GetBytes, want)
	}
	if l.PutBytes != 4*values || l.Flops != 2*3*float64(values) {
		t.Errorf("%d bytes stored, want %d; %g operations", l.PutBytes, 4*values, l.Flops)
	}
}

func TestCopyCostOnly(t *testing.T) {
	kerneltest.ChargesTheSame(t, "copy", func(m *cpe.Machine) error {
		c, err := NewCopy(m, CopyShape{Outer: 3, Rows: 70, Cols: 130, SrcOuter: 9100, SrcRow: 130, DstOuter: 20000, DstRow: 200, Add: true})
		if err != nil {
			return err
		}
		return c.Run(kerneltest.Array(m, 70000), kerneltest.Array(m, 70000))
	})
}

func TestLDMErrorNamesBytes(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", false).Spec()
	spec.LDMBytes = 8
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(m, Pass{Name: "softmax", Dims: [3]int{1, 100000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}})
	if !kerneltest.IsLDM(err) {
		t.Fatalf("error %v, want an LDM error", err)
	}
	if want := fmt.Sprintf("softmax needs %d bytes of LDM on a CPE, there are 8", 2*4*100000); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
