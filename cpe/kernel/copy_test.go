package kernel

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

func TestCopy(t *testing.T) {
	shapes := []CopyShape{
		{Outer: 1, Rows: 1, Cols: 100000},
		{Outer: 3, Rows: 5, Cols: 7, SrcOuter: 50, SrcRow: 9, DstOuter: 40, DstRow: 8},
		{Outer: 4, Rows: 1, Cols: 6, SrcOuter: 6, DstOuter: 11},
		{Outer: 2, Rows: 3, Cols: 10, SrcOuter: 30, SrcRow: 10, DstOuter: 30, DstRow: 10},
		{Outer: 2, Rows: 2, Cols: 9000, SrcOuter: 20000, SrcRow: 9001, DstOuter: 19000, DstRow: 9500},
		{Outer: 0, Rows: 3, Cols: 4},
	}
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range shapes {
			for _, s.Add = range []bool{false, true} {
				src, dst := values(40000+100000*s.Outer, 1), values(40000+100000*s.Outer, 2)
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
