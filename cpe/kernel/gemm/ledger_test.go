package gemm

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

func TestGemmCostOnly(t *testing.T) {
	for _, s := range []Shape{{M: 100, N: 130, K: 70}, {M: 20, N: 500, K: 1200, TransB: true, Accumulate: true}, {M: 3, N: 3, K: 3, TransA: true}} {
		kerneltest.ChargesTheSame(t, s.String(), func(m *cpe.Machine) error {
			g, err := NewBlocked(m, s)
			if err != nil {
				return err
			}
			return g.Run(kerneltest.Array(m, s.M*s.K), kerneltest.Array(m, s.K*s.N), nil, kerneltest.Array(m, s.M*s.N))
		})
	}
}

// TestDataParallelGemm: core groups that share sums compute and charge the same as others do, in both modes.
func TestDataParallelGemm(t *testing.T) {
	for _, s := range []Shape{{M: 20, N: 30, K: 9, TransA: true, Accumulate: true}, {M: 9, N: 30, K: 20}, {M: 3, N: 5, K: 2, TransA: true, Accumulate: true}} {
		kerneltest.ChargesTheSameOn(t, kerneltest.Published(t, "swcaffe-2018"), s.String(), func(m *cpe.Machine) error {
			g, err := NewBlocked(m, s)
			if err != nil {
				return err
			}
			a, b, c := kerneltest.Array(m, s.M*s.K), kerneltest.Array(m, s.K*s.N), kerneltest.Array(m, s.M*s.N)
			want := make([]float64, len(c))
			for i := range want {
				want[i] = float64(c[i])
				if !s.Accumulate {
					want[i] = 0
				}
				for k := range s.K {
					at := i/s.N*s.K + k
					if s.TransA {
						at = k*s.M + i/s.N
					}
					want[i] += float64(a[at]) * float64(b[k*s.N+i%s.N])
				}
			}
			if err := g.Run(a, b, nil, c); err != nil {
				return err
			}
			kerneltest.Near(t, s.String(), c, want, s.K)
			return nil
		})
	}
}

// TestManyBlocksCostOnly: with little LDM a product has many blocks along every extent, first, middle and last ones, of which
// cost-only runs charge only those that differ.
func TestManyBlocksCostOnly(t *testing.T) {
	racing.SkipSequential(t)
	for _, name := range []string{"sw26010", "sw39000"} {
		manyBlocks(t, name)
	}
}

// TestChaining: on machines with remote access to LDM, blocks of results are stored while others are multiplied; on others they are not.
func TestChaining(t *testing.T) {
	s := Shape{M: 2048, N: 2048, K: 512}
	for name, faster := range map[string]bool{"sw39000": true, "sw26010": false} {
		spec := kerneltest.Machine(t, name, true).Spec()
		without, err := spec.Without("chaining")
		if err != nil {
			t.Fatal(err)
		}
		var times [2]cpe.VTime
		for i, spec := range []cpe.Spec{spec, without} {
			m, err := cpe.New(spec, cpe.CostOnly)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			g, err := NewBlocked(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Run(nil, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			times[i] = m.Ledger().Time
		}
		if (times[0] < times[1]) != faster || !faster && times[0] != times[1] {
			t.Errorf("%s: %v, without chaining %v", name, times[0], times[1])
		}
	}
}

// manyBlocks compares both modes' ledgers of products on a machine.
func manyBlocks(t *testing.T, machine string) {
	t.Helper()
	for _, ldm := range []int{1 << 10, 3 << 10, 16 << 10} {
		for _, overlaps := range []bool{false, true} {
			for _, s := range []Shape{
				{M: 200, N: 700, K: 150}, {M: 64, N: 1280, K: 320, Accumulate: true}, {M: 333, N: 260, K: 95, TransA: true}, {M: 260, N: 130, K: 8, TransB: true},
			} {
				spec := kerneltest.Machine(t, machine, true).Spec()
				spec.LDMBytes, spec.DMA.OverlapsBuses = ldm, overlaps
				kerneltest.ChargesTheSameOn(t, spec, fmt.Sprintf("%s: %v in %d bytes", machine, s, ldm), func(m *cpe.Machine) error {
					g, err := NewBlocked(m, s)
					if err != nil {
						return err
					}
					return g.Run(kerneltest.Array(m, s.M*s.K), kerneltest.Array(m, s.K*s.N), nil, kerneltest.Array(m, s.M*s.N))
				})
			}
		}
	}
}
