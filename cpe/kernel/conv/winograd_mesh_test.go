package conv

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWinogradMachines: machines whose core groups do not divide the points share parts of products, and those whose cores have caches
// compute the same.
func TestWinogradMachines(t *testing.T) {
	for _, name := range []string{"sw26010_pro", "k40m"} {
		m := kerneltest.Machine(t, name, false)
		for _, s := range []shape.Conv{
			conv2(3, 40, 26, 2, 7, 7, 3, 3, 1, 1, 1), conv2(1, 2, 3, 1, 9, 131, 3, 3, 1, 1, 1), conv2(2, 3, 4, 1, 6, 5, 5, 5, 1, 0, 1),
		} {
			want := newConvCase(s, normal)
			eachWinograd(s, func(st shape.Strategy) {
				t.Run(name+" "+st.String()+" "+s.String(), func(t *testing.T) { testWinograd(t, m, s, st, want) })
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
	build := func(n, extent int) (shape.Conv, *Conv) {
		s := conv2(n, 1, 1, 1, extent, extent, 3, 3, 1, 1, 1)
		c, err := New(m, s, shape.Winograd2)
		if err != nil {
			t.Fatal(err)
		}
		return s, c
	}
	check := func(d shape.Direction, list []stage, blocks int) {
		t.Helper()
		want := 1 + blocks*3
		if d == shape.WeightGradient {
			want = blocks * 3
		}
		if len(list) != want {
			t.Errorf("%v in %d stages, want %d: %d blocks", d, len(list), want, blocks)
		}
	}
	_, large := build(2, 1100)
	s, c := build(3, 50)
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
		check(d, stagesOf(large, d), 2)
		check(d, stagesOf(c, d), 1)
		again := c.does[d].kernel.(*task)
		if err := newWinogradMesh(&winogradTask{task: again, form: winogradForm(&s, shape.Winograd2)}, 1<<14); err != nil {
			t.Fatal(err)
		}
		check(d, stagesOf(c, d), 4)
	}
	checkWinograd(t, m, s, shape.Winograd2, c, newConvCase(s, normal))
}

// TestWinogradRequests: points and images come and go in blocks so long that bandwidth is near its peak, 26.6 GB/s a core group; blocks of 64
// bytes would have 7.2 (swCaffe, figure 2).
func TestWinogradRequests(t *testing.T) {
	m := kerneltest.Machine(t, "sw26010", true)
	for _, s := range []shape.Conv{conv2(128, 64, 64, 1, 56, 56, 3, 3, 1, 1, 1), conv2(128, 512, 512, 1, 14, 14, 3, 3, 1, 1, 1)} {
		c, err := New(m, s, shape.Winograd2)
		if err != nil {
			t.Fatal(err)
		}
		for d, run := range []func() error{
			func() error { return c.Run(shape.Forward, Arrays{}) },
			func() error { return c.Run(shape.WeightGradient, Arrays{Add: true}) },
			func() error { return c.Run(shape.InputGradient, Arrays{}) },
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
