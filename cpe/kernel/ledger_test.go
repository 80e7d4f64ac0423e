package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

func TestGemmCostOnly(t *testing.T) {
	for _, s := range []GemmShape{{M: 100, N: 130, K: 70}, {M: 20, N: 500, K: 1200, TransB: true, Accumulate: true}, {M: 3, N: 3, K: 3, TransA: true}} {
		kerneltest.ChargesTheSame(t, s.String(), func(m *cpe.Machine) error {
			g, err := NewGemm(m, s)
			if err != nil {
				return err
			}
			return g.Run(kerneltest.Array(m, s.M*s.K), kerneltest.Array(m, s.K*s.N), nil, kerneltest.Array(m, s.M*s.N))
		})
	}
}

// TestDataParallelGemm: core groups that share sums compute and charge the same as others do, in both modes.
func TestDataParallelGemm(t *testing.T) {
	for _, s := range []GemmShape{{M: 20, N: 30, K: 9, TransA: true, Accumulate: true}, {M: 9, N: 30, K: 20}, {M: 3, N: 5, K: 2, TransA: true, Accumulate: true}} {
		kerneltest.ChargesTheSameOn(t, kerneltest.Published(t, "swcaffe-2018"), s.String(), func(m *cpe.Machine) error {
			g, err := NewGemm(m, s)
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
	for _, ldm := range []int{1 << 10, 3 << 10, 16 << 10} {
		for _, overlaps := range []bool{false, true} {
			for _, s := range []GemmShape{
				{M: 200, N: 700, K: 150}, {M: 64, N: 1280, K: 320, Accumulate: true}, {M: 333, N: 260, K: 95, TransA: true}, {M: 260, N: 130, K: 8, TransB: true},
			} {
				spec := kerneltest.Machine(t, "sw26010", true).Spec()
				spec.LDMBytes, spec.DMA.OverlapsBuses = ldm, overlaps
				kerneltest.ChargesTheSameOn(t, spec, fmt.Sprintf("%v in %d bytes", s, ldm), func(m *cpe.Machine) error {
					g, err := NewGemm(m, s)
					if err != nil {
						return err
					}
					return g.Run(kerneltest.Array(m, s.M*s.K), kerneltest.Array(m, s.K*s.N), nil, kerneltest.Array(m, s.M*s.N))
				})
			}
		}
	}
}

func TestConvCostOnly(t *testing.T) {
	shapes := convShapes
	if testing.Short() {
		shapes = fewConvShapes
	}
	for _, s := range append(slices.Clone(shapes), conv2(70, 3, 5, 1, 7, 7, 3, 3, 1, 1, 1), conv2(3, 4, 9, 1, 13, 70, 5, 5, 1, 2, 1)) {
		for _, st := range []shape.Strategy{shape.Auto, shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5} {
			if st.IsWinograd() && !winogradable(&s, st) {
				continue
			}
			kerneltest.ChargesTheSame(t, st.String()+" "+s.String(), func(m *cpe.Machine) error {
				c, err := NewConv(m, s, st)
				if err != nil {
					return err
				}
				x, w, y := kerneltest.Array(m, 64000), kerneltest.Array(m, 64000), kerneltest.Array(m, 64000)
				if err := c.Forward(x, w, nil, y); err != nil {
					return err
				}
				if err := c.WeightGrad(x, y, w); err != nil {
					return err
				}
				return c.InputGrad(y, w, x)
			})
		}
	}
}

// TestPublishedConvCostOnly: so it is with the kernels of the original.
func TestPublishedConvCostOnly(t *testing.T) {
	for _, software := range []string{"swcaffe-2018", "swcaffe-2019"} {
		spec := kerneltest.Published(t, software)
		for _, s := range append(slices.Clone(fewConvShapes), conv2(40, 130, 64, 1, 3, 5, 3, 3, 1, 1, 1)) {
			for _, st := range []shape.Strategy{shape.Auto, shape.Explicit, shape.Implicit} {
				kerneltest.ChargesTheSameOn(t, spec, software+" "+st.String()+" "+s.String(), func(m *cpe.Machine) error {
					c, err := NewConv(m, s, st)
					if err != nil {
						return err
					}
					x, w, y := kerneltest.Array(m, 140000), kerneltest.Array(m, 80000), kerneltest.Array(m, 140000)
					if err := c.Forward(x, w, nil, y); err != nil {
						return err
					}
					if err := c.WeightGrad(x, y, w); err != nil {
						return err
					}
					return c.InputGrad(y, w, x)
				})
			}
		}
	}
}

func TestStreamsCostOnly(t *testing.T) {
	kerneltest.ChargesTheSame(t, "stream", func(m *cpe.Machine) error {
		k, err := NewStream(m, Stream{Name: "scale", Dims: [3]int{4, 100, 700}, Ins: []Array{Full, Row}, Outs: []Array{Full}, Cost: Work{2, 1}, Op: func(*Tile) {}})
		if err != nil {
			return err
		}
		x := kerneltest.Array(m, 280000)
		return k.Run([][]float32{x, kerneltest.Array(m, 100)}, [][]float32{x})
	})
}

func TestPoolCostOnly(t *testing.T) {
	for _, s := range poolShapes {
		kerneltest.ChargesTheSame(t, "pool", func(m *cpe.Machine) error {
			p, err := NewPool(m, s)
			if err != nil {
				return err
			}
			x, y := kerneltest.Array(m, s.N*s.C*s.H*s.W), kerneltest.Array(m, s.N*s.C*s.OH*s.OW)
			var mask []int32
			if m.Values() {
				mask = make([]int32, len(y))
			}
			if err := p.Forward(x, y, mask, 0); err != nil {
				return err
			}
			return p.Backward(y, mask, x)
		})
	}
}

func TestCopyCostOnly(t *testing.T) {
	kerneltest.ChargesTheSame(t, "copy", func(m *cpe.Machine) error {
		c, err := NewCopy(m, CopyShape{Outer: 3, Rows: 70, Cols: 130, SrcOuter: 9100, SrcRow: 130, DstOuter: 20000, DstRow: 200, Add: true})
		if err != nil {
			return err
		}
		return c.Run(kerneltest.Array(m, 70000), kerneltest.Array(m, 70000))
	})
}

// TestLedgersAreRepeatable: the same program charges the same again.
func TestLedgersAreRepeatable(t *testing.T) {
	m := kerneltest.Machine(t, "sw26010", true)
	c, err := NewConv(m, conv2(5, 16, 24, 2, 15, 17, 3, 3, 2, 1, 1), shape.Auto)
	if err != nil {
		t.Fatal(err)
	}
	var first cpe.Ledger
	for i := range 3 {
		m.ResetLedger()
		if err := c.Forward(nil, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = m.Ledger()
		} else if l := m.Ledger(); l != first {
			t.Errorf("run %d: %+v, run 0: %+v", i, l, first)
		}
	}
}

func TestLDMErrorNamesBytes(t *testing.T) {
	m := kerneltest.Machine(t, "sw26010", false)
	_, err := NewStream(m, Stream{Name: "softmax", Dims: [3]int{1, 100000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}})
	if !kerneltest.IsLDM(err) {
		t.Fatalf("error %v, want an LDM error", err)
	}
	if want := fmt.Sprintf("softmax needs %d bytes of LDM on a CPE, there are 65536", 2*4*100000); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
