package kernel

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []shape.Conv{conv2(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), conv2(32, 96, 256, 2, 27, 27, 5, 5, 1, 2, 1), conv2(1, 4, 4, 4, 8, 8, 3, 3, 2, 1, 1)} {
			found, err := chooseStrategies(&spec, s, shape.Auto)
			if err != nil {
				t.Fatal(err)
			}
			add(s, planConv(&spec, s, found.chosen), nil)
		}
	})
}

// TestGemmPlans compares plans for the SW26010 with a file.
func TestGemmPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/gemm_plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []GemmShape{{M: 1024, N: 1024, K: 1024}, {M: 1, N: 1, K: 1}, {M: 64, N: 500, K: 800, TransB: true}, {M: 20, N: 36864, K: 25}, {M: 512, N: 4608, K: 196}} {
			p, err := PlanGemm(&spec, s)
			add(s, p, err)
		}
	})
}

// TestStreamPlans compares plans for the SW26010 with a file.
func TestStreamPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/stream_plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []Stream{
			{Name: "relu", Dims: [3]int{1, 1, 1 << 20}, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "scale", Dims: [3]int{64, 96, 3025}, Ins: []Array{Full, Row, Row}, Outs: []Array{Full}},
			{Name: "softmax", Dims: [3]int{128, 1000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "too much", Dims: [3]int{1, 20000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "nothing", Dims: [3]int{0, 5, 5}, Ins: []Array{Full}},
		} {
			p, err := PlanStream(&spec, &s)
			add(s.Name, p, err)
		}
	})
}

// TestPoolPlans compares plans for the SW26010 with a file.
func TestPoolPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/pool_plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range poolShapes {
			p, err := PlanPool(&spec, s)
			add(fmt.Sprintf("pool %+v", s), p, err)
		}
	})
}

// TestHostPlansFitCaches: with any caches, blocks of B fit L2, blocks of A a part of L3, and blocks even out.
func TestHostPlansFitCaches(t *testing.T) {
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	for _, l2 := range []int{256 << 10, 1 << 20, 2 << 20} {
		spec.LDMBytes = l2
		for _, n := range []int{1, 100, 1000, 5000} {
			p, err := PlanGemm(&spec, GemmShape{M: n, N: n, K: n})
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

// TestNearTilesAreLong: on the host a stream that goes along mid has one tile an outer, but for even cuts of a long inner.
func TestNearTilesAreLong(t *testing.T) {
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dims, want [3]int }{
		{[3]int{32, 256, 729}, [3]int{1, 256, 729}},
		{[3]int{32, 96, 4096}, [3]int{1, 96, 4096}},
		{[3]int{32, 96, 4097}, [3]int{1, 96, 2080}},
		{[3]int{1, 3, 12545}, [3]int{1, 3, 3168}},
		{[3]int{2, 5, 1}, [3]int{1, 5, 1}},
		{[3]int{0, 5, 0}, [3]int{0, 5, 0}},
	} {
		p, err := PlanStream(&spec, &Stream{Name: "near", Dims: c.dims, WholeMid: true, Near: 5, Ins: []Array{Full}, Outs: []Array{Full}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Tile != c.want {
			t.Errorf("%v: tiles of %v, want %v", c.dims, p.Tile, c.want)
		}
	}
}

// TestImplicitChunks: sums are cut where the weights are few and the positions many, by the shape alone.
func TestImplicitChunks(t *testing.T) {
	for _, c := range []struct {
		s    shape.Conv
		want int
	}{
		{conv2(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 16},   // 500 weights, 36864 positions
		{conv2(1, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 1},     // 576 positions
		{conv2(16, 512, 512, 1, 14, 14, 3, 3, 1, 1, 1), 1}, // weights enough
		{conv2(8, 64, 64, 64, 16, 16, 3, 3, 1, 1, 1), 2},   // depthwise: 2048 positions
	} {
		if got := implicitChunks(c.s); got != c.want {
			t.Errorf("%v: %d partial sums, want %d", c.s, got, c.want)
		}
	}
}
