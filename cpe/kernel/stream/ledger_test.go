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
	m := kerneltest.Machine(t, "sw26010", false)
	_, err := New(m, Pass{Name: "softmax", Dims: [3]int{1, 100000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}})
	if !kerneltest.IsLDM(err) {
		t.Fatalf("error %v, want an LDM error", err)
	}
	if want := fmt.Sprintf("softmax needs %d bytes of LDM on a CPE, there are 65536", 2*4*100000); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
