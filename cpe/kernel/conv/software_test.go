package conv

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWithoutSoftware: leaving out what the original did makes kernels faster, but for the lines that im2col takes together, which
// made it faster.
func TestWithoutSoftware(t *testing.T) {
	conv := func(s shape.Conv, st shape.Strategy, d shape.Direction) func(m *cpe.Machine) error {
		return func(m *cpe.Machine) error {
			c, err := New(m, s, st)
			if err != nil {
				return err
			}
			return c.Run(d, Arrays{})
		}
	}
	small, few := conv2(128, 64, 64, 1, 14, 14, 3, 3, 1, 1, 1), conv2(4, 3, 64, 1, 30, 30, 3, 3, 1, 1, 1)
	wide := conv2(256, 8, 64, 1, 160, 160, 3, 3, 1, 1, 1) // a line of 64 images does not fit LDM
	for name, c := range map[string]struct {
		run    func(m *cpe.Machine) error
		slower bool
	}{
		"awaiting":   {run: conv(wide, shape.Explicit, shape.Forward)},
		"batching":   {run: conv(small, shape.Explicit, shape.Forward), slower: true},
		"mpe":        {run: conv(few, shape.Explicit, shape.Forward)},
		"unbuffered": {run: conv(small, shape.Implicit, shape.Forward)},
		"scalar": {run: func(m *cpe.Machine) error {
			p, err := pool.New(m, pool.Shape{N: 4, C: 64, H: 28, W: 28, KH: 2, KW: 2, SH: 2, SW: 2, OH: 14, OW: 14})
			if err != nil {
				return err
			}
			return p.Forward(nil, nil, nil, 0)
		}},
		"data_parallel": {run: func(m *cpe.Machine) error {
			g, err := gemm.NewBlocked(m, gemm.Shape{M: 1024, N: 2048, K: 256, TransA: true, Accumulate: true})
			if err != nil {
				return err
			}
			return g.Run(nil, nil, nil, nil)
		}},
	} {
		var times [2]cpe.VTime
		for i := range times {
			spec := kerneltest.Published(t, "swcaffe-2018")
			if i == 1 {
				var err error
				if spec, err = spec.Without(name); err != nil {
					t.Fatal(err)
				}
			}
			m, err := cpe.New(spec, cpe.CostOnly)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if err := c.run(m); err != nil {
				t.Fatal(err)
			}
			times[i] = m.Ledger().Time
		}
		if (times[1] > times[0]) != c.slower || times[0] == times[1] {
			t.Errorf("with %s %v, without %v", name, times[0], times[1])
		}
	}
}

// TestTapColumns: the results that stay in LDM beside both operands, counted in double precision as the original does:
// (64*60*1024/8 - Ni*B - Ni*No) / (No*B).
func TestTapColumns(t *testing.T) {
	spec := kerneltest.Published(t, "swcaffe-2018")
	for _, c := range []struct{ m, n, k, want int }{
		{256, 128, 256, 12}, {128, 128, 128, 28}, {64, 128, 64, 58}, {512, 128, 256, 5}, {512, 128, 512, 2}, {1024, 128, 1024, 0},
	} {
		if got := tapColumns(&spec, c.m, c.n, c.k); got != c.want {
			t.Errorf("%d x %d x %d: %d columns, want %d", c.m, c.n, c.k, got, c.want)
		}
	}
}
