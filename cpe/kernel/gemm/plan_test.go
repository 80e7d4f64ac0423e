package gemm

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []Shape{{M: 1024, N: 1024, K: 1024}, {M: 1, N: 1, K: 1}, {M: 64, N: 500, K: 800, TransB: true}, {M: 20, N: 36864, K: 25}, {M: 512, N: 4608, K: 196}} {
			p, err := NewPlan(&spec, s)
			add(s, p, err)
		}
	})
}

// TestHostPlansFitCaches: with any caches, blocks of B fit L2, blocks of A a part of L3, and blocks even out.
func TestHostPlansFitCaches(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	for _, l2 := range []int{256 << 10, 1 << 20, 2 << 20} {
		spec.LDMBytes = l2
		for _, n := range []int{1, 100, 1000, 5000} {
			p, err := NewPlan(&spec, Shape{M: n, N: n, K: n})
			if err != nil {
				t.Fatal(err)
			}
			if b := 4 * p.BN * p.BK; b > l2*4/5 {
				t.Errorf("n %d, L2 %d: a block of B takes %d bytes", n, l2, b)
			}
			if a := 4 * p.BM * p.BK; a > 7<<20 {
				t.Errorf("n %d: a block of A takes %d bytes", n, a)
			}
			if p.BK*tiling.Blocks(n, p.BK) >= n+tiling.Blocks(n, p.BK) {
				t.Errorf("n %d: K blocks of %d are uneven", n, p.BK)
			}
		}
	}
}
