package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// valid returns what is wrong with a product.
func (s GemmShape) valid() error {
	return tiling.Check(s, tiling.Bound{Name: "M", N: s.M, Least: 0}, tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "K", N: s.K, Least: 0})
}

// pooled names a pooling in errors.
type pooled PoolShape

// String prints the shape.
func (s pooled) String() string {
	return fmt.Sprintf("pooling %dx%dx%dx%d -> %dx%d, window %dx%d stride %dx%d pad %dx%d", s.N, s.C, s.H, s.W, s.OH, s.OW, s.KH, s.KW, s.SH, s.SW, s.PH, s.PW)
}

// valid returns what is wrong with a pooling.
func (s PoolShape) valid() error {
	err := tiling.Check(pooled(s), tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "C", N: s.C, Least: 0}, tiling.Bound{Name: "H", N: s.H, Least: 1}, tiling.Bound{Name: "W", N: s.W, Least: 1}, tiling.Bound{Name: "KH", N: s.KH, Least: 1}, tiling.Bound{Name: "KW", N: s.KW, Least: 1},
		tiling.Bound{Name: "SH", N: s.SH, Least: 1}, tiling.Bound{Name: "SW", N: s.SW, Least: 1}, tiling.Bound{Name: "PH", N: s.PH, Least: 0}, tiling.Bound{Name: "PW", N: s.PW, Least: 0}, tiling.Bound{Name: "OH", N: s.OH, Least: 1}, tiling.Bound{Name: "OW", N: s.OW, Least: 1})
	if err == nil && (s.PH >= s.KH || s.PW >= s.KW) {
		err = fmt.Errorf("kernel: %v: padding must be smaller than windows", pooled(s))
	}
	return err
}
