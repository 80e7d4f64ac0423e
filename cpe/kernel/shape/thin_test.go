package shape_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestThinPlanes: any run of pixels is gathered, and spread between zeros as far as the next pixel that is left.
func TestThinPlanes(t *testing.T) {
	for _, p := range []shape.Thin{{H: 7, W: 9, StrideH: 2, StrideW: 2}, {H: 8, W: 8, StrideH: 2, StrideW: 2}, {H: 5, W: 7, StrideH: 3, StrideW: 1}, {H: 1, W: 10, StrideH: 1, StrideW: 3}, {H: 4, W: 4, StrideH: 5, StrideW: 7}} {
		at, size := kerneltest.LeftBy(p.H, p.W, p.StrideH, p.StrideW), p.H*p.W
		if p.Pixels() != len(at) {
			t.Fatalf("%+v: %d pixels, want %d", p, p.Pixels(), len(at))
		}
		plane := kerneltest.Values(size*shape.BlockLanes, 3)
		for first := range at {
			for last := first + 1; last <= len(at); last++ {
				run := make([]float32, (last-first)*shape.BlockLanes)
				p.Gather(run, plane, first, last)
				spread, end := slices.Clone(plane), size
				if last < len(at) {
					end = at[last]
				}
				want := slices.Clone(plane)
				clear(want[at[first]*shape.BlockLanes : end*shape.BlockLanes])
				for i, place := range at[first:last] {
					if !slices.Equal(run[i*shape.BlockLanes:(i+1)*shape.BlockLanes], plane[place*shape.BlockLanes:(place+1)*shape.BlockLanes]) {
						t.Fatalf("%+v: pixel %d is gathered wrong", p, first+i)
					}
					copy(want[place*shape.BlockLanes:(place+1)*shape.BlockLanes], plane[place*shape.BlockLanes:])
				}
				if p.Spread(spread, run, first, last); !slices.Equal(spread, want) {
					t.Fatalf("%+v: pixels %d to %d are spread wrong", p, first, last)
				}
			}
		}
	}
}
