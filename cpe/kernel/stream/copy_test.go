package stream

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestCopyWhere: rows that move have zeros where others are not above 0, in several pieces.
func TestCopyWhere(t *testing.T) {
	s := CopyShape{Outer: 1, Rows: 3, Cols: 5*tiling.HostTile + 7, SrcRow: 5*tiling.HostTile + 20, DstRow: 5*tiling.HostTile + 9}
	src, above := kerneltest.Values(3*s.SrcRow, 1), kerneltest.Values(3*s.DstRow, 2)
	dst := kerneltest.Values(3*s.DstRow, 3)
	want := append([]float32(nil), dst...)
	for r := range s.Rows {
		for c := range s.Cols {
			at := r*s.DstRow + c
			if want[at] = 0; above[at] > 0 {
				want[at] = src[r*s.SrcRow+c]
			}
		}
	}
	c, err := NewCopy(kerneltest.HostMachine(t, 2), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RunWhere(dst, src, above); err != nil {
		t.Fatal(err)
	}
	for i := range dst {
		if dst[i] != want[i] {
			t.Fatalf("dst[%d] = %g, want %g", i, dst[i], want[i])
		}
	}
}

func TestCopy(t *testing.T) {
	shapes := []CopyShape{
		{Outer: 1, Rows: 1, Cols: 100000},
		{Outer: 3, Rows: 5, Cols: 7, SrcOuter: 50, SrcRow: 9, DstOuter: 40, DstRow: 8},
		{Outer: 4, Rows: 1, Cols: 6, SrcOuter: 6, DstOuter: 11},
		{Outer: 2, Rows: 3, Cols: 10, SrcOuter: 30, SrcRow: 10, DstOuter: 30, DstRow: 10},
		{Outer: 2, Rows: 2, Cols: 9000, SrcOuter: 20000, SrcRow: 9001, DstOuter: 19000, DstRow: 9500},
		{Outer: 3, Rows: 5000, Cols: 14, SrcOuter: 80000, SrcRow: 15, DstOuter: 90000, DstRow: 17},
		{Outer: 0, Rows: 3, Cols: 4},
	}
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range shapes {
			for _, s.Add = range []bool{false, true} {
				src, dst := kerneltest.Values(40000+100000*s.Outer, 1), kerneltest.Values(40000+100000*s.Outer, 2)
				want := append([]float32(nil), dst...)
				for o := range s.Outer {
					for r := range s.Rows {
						for c := range s.Cols {
							v := src[o*s.SrcOuter+r*s.SrcRow+c]
							if at := o*s.DstOuter + r*s.DstRow + c; s.Add {
								want[at] += v
							} else {
								want[at] = v
							}
						}
					}
				}
				c, err := NewCopy(m, s)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Run(dst, src); err != nil {
					t.Fatal(err)
				}
				for i := range dst {
					if dst[i] != want[i] {
						t.Fatalf("%+v: dst[%d] = %g, want %g", s, i, dst[i], want[i])
					}
				}
			}
		}
	})
}
