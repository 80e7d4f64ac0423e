package plan_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWithoutSoftware: leaving out what the original did makes kernels faster, but for the lines that im2col and col2im take together, which
// made them faster.
func TestWithoutSoftware(t *testing.T) {
	layer := func(s shape.Conv, st shape.Strategy, d shape.Direction) func(m *cpe.Machine) error {
		return func(m *cpe.Machine) error {
			c, err := plan.New(m, s, st)
			if err != nil {
				return err
			}
			return c.Run(d, conv.Arrays{})
		}
	}
	small, few := convtest.Shape2D(128, 64, 64, 1, 14, 14, 3, 3, 1, 1, 1), convtest.Shape2D(4, 3, 64, 1, 30, 30, 3, 3, 1, 1, 1)
	wide := convtest.Shape2D(256, 8, 64, 1, 160, 160, 3, 3, 1, 1, 1) // a line of 64 images does not fit LDM
	for name, c := range map[string]struct {
		run    func(m *cpe.Machine) error
		slower bool
	}{
		"awaiting":   {run: layer(wide, shape.Explicit, shape.Forward)},
		"grouping":   {run: layer(small, shape.Explicit, shape.InputGradient), slower: true},
		"batching":   {run: layer(small, shape.Explicit, shape.Forward), slower: true},
		"mpe":        {run: layer(few, shape.Explicit, shape.Forward)},
		"unbuffered": {run: layer(small, shape.Implicit, shape.Forward)},
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
			spec := kerneltest.Published(t, "swcaffe-source") // as swcaffe-2018, with grouping
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
