package winograd_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWinogradMachines: machines whose core groups do not divide the points share parts of products, and those whose cores have caches
// compute the same.
func TestWinogradMachines(t *testing.T) {
	for _, name := range []string{"sw26010_pro", "k40m"} {
		m := kerneltest.Machine(t, name, false)
		for _, s := range []shape.Conv{
			convtest.Shape2D(3, 40, 26, 2, 7, 7, 3, 3, 1, 1, 1), convtest.Shape2D(1, 2, 3, 1, 9, 131, 3, 3, 1, 1, 1), convtest.Shape2D(2, 3, 4, 1, 6, 5, 5, 5, 1, 0, 1),
		} {
			want := convtest.NewCase(s, convtest.Normal)
			convtest.EachWinograd(s, func(st shape.Strategy) {
				t.Run(name+" "+st.String()+" "+s.String(), func(t *testing.T) { convtest.CompareWinograd(t, m, s, st, want) })
			})
		}
	}
}

// TestWinogradBlocks: images whose points are more than this computer should hold are convolved in blocks, whose weights' gradients add up.
// The values are those of small images with fewer points to a block.
func TestWinogradBlocks(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	spec.CoreGroups = 1
	m, err := cpe.New(spec, cpe.Functional)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	spec = m.Spec()
	check := func(s shape.Conv, points, blocks int) (list kernels) {
		t.Helper()
		for d := range list {
			k, err := winograd.MeshInBlocks(m, &conv.Problem{Shape: s, Direction: shape.Direction(d), Spec: &spec}, points)
			if err != nil {
				t.Fatal(err)
			}
			want := 1 + blocks*3
			if shape.Direction(d) == shape.WeightGradient {
				want = blocks * 3
			}
			if len(k.Stages) != want {
				t.Errorf("%v in %d stages, want %d: %d blocks", shape.Direction(d), len(k.Stages), want, blocks)
			}
			list[d] = k
		}
		return list
	}
	check(convtest.Shape2D(2, 1, 1, 1, 1100, 1100, 3, 3, 1, 1, 1), winograd.MostMeshPoints, 2)
	s := convtest.Shape2D(3, 1, 1, 1, 50, 50, 3, 3, 1, 1, 1)
	check(s, winograd.MostMeshPoints, 1)
	convtest.CheckWinograd(t, m, s, shape.Winograd2, check(s, 1<<14, 4), convtest.NewCase(s, convtest.Normal))
}

// TestWinogradBlocksStartOnce: blocks are this computer's, so that the modelled machine starts as many threads for four as for one.
func TestWinogradBlocksStartOnce(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	s := convtest.Shape2D(3, 1, 1, 1, 50, 50, 3, 3, 1, 1, 1)
	for d := range len(kernels{}) {
		for _, points := range []int{winograd.MostMeshPoints, 1 << 12} {
			var times [2]cpe.VTime
			for i := range times {
				spec := spec
				if i == 0 {
					spec.MPE.StartUs = 0
				}
				m, err := cpe.New(spec, cpe.CostOnly)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				k, err := winograd.MeshInBlocks(m, &conv.Problem{Shape: s, Direction: shape.Direction(d), Spec: &spec}, points)
				if err != nil {
					t.Fatal(err)
				}
				if blocks := len(k.Stages) / 3; (points < winograd.MostMeshPoints) != (blocks > 1) {
					t.Errorf("%v, %d values: %d blocks", shape.Direction(d), points, blocks)
				}
				if err := k.Run(conv.Arrays{}); err != nil {
					t.Fatal(err)
				}
				times[i] = m.Ledger().Time
			}
			want := 4 * spec.StartTime()
			if shape.Direction(d) == shape.WeightGradient {
				want = 3 * spec.StartTime()
			}
			if got := times[1] - times[0]; got != want {
				t.Errorf("%v, blocks of %d values: starting takes %v, want %v", shape.Direction(d), points, got, want)
			}
		}
	}
}

// kernels are those of three directions.
type kernels [3]conv.Kernel

func (k kernels) Run(d shape.Direction, a conv.Arrays) error { return k[d].Run(a) }

// TestWinogradRequests: points and images come and go in blocks so long that bandwidth is near its peak, 26.6 GB/s a core group; blocks of 64
// bytes would have 7.2 (swCaffe, figure 2).
func TestWinogradRequests(t *testing.T) {
	m := kerneltest.Machine(t, "sw26010", true)
	for _, s := range []shape.Conv{convtest.Shape2D(128, 64, 64, 1, 56, 56, 3, 3, 1, 1, 1), convtest.Shape2D(128, 512, 512, 1, 14, 14, 3, 3, 1, 1, 1)} {
		c, err := plan.New(m, s, shape.Winograd2)
		if err != nil {
			t.Fatal(err)
		}
		for d, run := range []func() error{
			func() error { return c.Run(shape.Forward, conv.Arrays{}) },
			func() error { return c.Run(shape.WeightGradient, conv.Arrays{Add: true}) },
			func() error { return c.Run(shape.InputGradient, conv.Arrays{}) },
		} {
			m.ResetLedger()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			l := m.Ledger()
			rate := float64(l.GetBytes+l.PutBytes) / float64(m.Spec().CoreGroups) / l.DMA.Seconds() / 1e9
			t.Logf("%v %v: %.1f GB/s a core group", s, shape.Direction(d), rate)
			if rate < 18 {
				t.Errorf("%v %v: %.1f GB/s a core group, want 18", s, shape.Direction(d), rate)
			}
		}
	}
}
