package gemm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// multiply is the definition of a Shape. It is not instrumented for the race detector, which would make it slow; only one goroutine calls it.
//
//go:norace
func multiply(s Shape, a, b, c []float32) []float64 {
	out := make([]float64, s.M*s.N)
	stepK, stepJ := s.N, 1
	if s.TransB {
		stepK, stepJ = 1, s.K
	}
	for i := range s.M {
		sums := out[i*s.N:][:s.N]
		for k := range s.K {
			at := i*s.K + k
			if s.TransA {
				at = k*s.M + i
			}
			x := float64(a[at])
			for j := range sums {
				sums[j] += x * float64(b[k*stepK+j*stepJ])
			}
		}
		if s.Accumulate {
			for j := range sums {
				sums[j] += float64(c[i*s.N+j])
			}
		}
	}
	return out
}

func TestGemm(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, size := range [][3]int{{1, 1, 1}, {1, 1, 0}, {3, 5, 7}, {8, 8, 8}, {1, 40, 70}, {64, 10, 500}, {33, 65, 129}, {100, 130, 600}, {25, 64, 40}, {90, 112, 9}, {299, 70, 30}, {2, 90, 130}, {40, 70, 2}} {
			for flags := range 8 {
				s := Shape{M: size[0], N: size[1], K: size[2], TransA: flags&1 != 0, TransB: flags&2 != 0, Accumulate: flags&4 != 0}
				a, b, c := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 3)
				want := multiply(s, a, b, c)
				g, err := NewBlocked(m, s)
				if err != nil {
					t.Fatal(err)
				}
				if !s.Accumulate {
					for i := range c {
						c[i] = float32(math.NaN()) // must be overwritten, not multiplied by zero
					}
				}
				if err := g.Run(a, b, nil, c); err != nil {
					t.Fatal(err)
				}
				kerneltest.Near(t, s.String(), c, want, s.K)
			}
		}
	})
}

// TestGemmSum: a sum that begins in memory that was not cleared is, bit by bit, the one that begins with zeros.
func TestGemmSum(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range []Shape{
			{M: 33, N: 65, K: 129, TransA: true}, {M: 33, N: 65, K: 129}, {M: 7, N: 30, K: 1000, TransB: true}, {M: 70, N: 300, K: 2, TransA: true},
			{M: 2, N: 90, K: 13, TransB: true}, {M: 70, N: 64, K: 40}, {M: 5, N: 6, TransA: true},
		} {
			s.Accumulate = true
			g, err := NewBlocked(m, s)
			if err != nil {
				t.Fatal(err)
			}
			a, b, got, want := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), make([]float32, s.M*s.N), make([]float32, s.M*s.N)
			for i := range got {
				got[i] = float32(math.NaN())
			}
			for _, add := range []bool{false, true} {
				once := multiply(s, a, b, want)
				if err := errors.Join(g.Sum(a, b, got, add), g.Run(a, b, nil, want)); err != nil {
					t.Fatal(err)
				}
				kerneltest.Near(t, s.String(), got, once, s.K)
				if !slices.Equal(got, want) {
					t.Errorf("%v, adding: %v: other bits than those of a sum that began with zeros", s, add)
				}
			}
		}
	})
}

func TestGemmBias(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range []Shape{{M: 9, N: 50, K: 700, TransB: true}, {M: 29, N: 50, K: 70}, {M: 29, N: 80, K: 70, TransA: true}} {
			testGemmBias(t, m, s)
		}
	})
}

// testGemmBias: values are added to every row.
func testGemmBias(t *testing.T, m *cpe.Machine, s Shape) {
	a, b, bias, c := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.N, 4), make([]float32, s.M*s.N)
	want := multiply(s, a, b, c)
	for i := range want {
		want[i] += float64(bias[i%s.N])
	}
	g, err := NewBlocked(m, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(a, b, bias, c); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, s.String(), c, want, s.K)
}

// TestMeshesOfAnyShape: products are right, and charged alike without values, on meshes that are not square, on one CPE, and
// with little LDM.
func TestMeshesOfAnyShape(t *testing.T) {
	for _, mesh := range [][2]int{{1, 1}, {4, 8}, {8, 4}, {1, 3}, {5, 2}} {
		spec, err := cpe.Load("sw26010")
		if err != nil {
			t.Fatal(err)
		}
		spec.Rows, spec.Cols, spec.LDMBytes, spec.CoreGroups = mesh[0], mesh[1], 8<<10, 3
		s := Shape{M: 61, N: 83, K: 107, TransA: true}
		a, b, c := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), make([]float32, s.M*s.N)
		var ledgers []cpe.Ledger
		for _, mode := range []cpe.Mode{cpe.Functional, cpe.CostOnly} {
			m, err := cpe.New(spec, mode)
			if err != nil {
				t.Fatal(err)
			}
			g, err := NewBlocked(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Run(a, b, nil, c); err != nil {
				t.Fatal(err)
			}
			ledgers = append(ledgers, m.Ledger())
		}
		kerneltest.Near(t, spec.String(), c, multiply(s, a, b, nil), s.K)
		if ledgers[0] != ledgers[1] {
			t.Errorf("%v: functional %+v, cost only %+v", spec, ledgers[0], ledgers[1])
		}
		if want := 2 * float64(s.M*s.N*s.K); ledgers[0].Flops != want {
			t.Errorf("%v: %g flops, want %g", spec, ledgers[0].Flops, want)
		}
	}
}

// TestGemmTraffic counts the bytes of a product that is one block: each operand comes once, C goes once, and every
// CPE receives seven eighths of what it multiplies over the buses (swCaffe, section IV-A).
func TestGemmTraffic(t *testing.T) {
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = 1
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewBlocked(m, Shape{M: 128, N: 256, K: 64})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	l := m.Ledger()
	if want := int64(4 * (128*64 + 64*256)); l.GetBytes != want {
		t.Errorf("%d bytes got, want %d (plan %v)", l.GetBytes, want, g.Plan())
	}
	if want := int64(4 * 128 * 256); l.PutBytes != want {
		t.Errorf("%d bytes put, want %d", l.PutBytes, want)
	}
	if want := int64(8 * 7 * (128*64 + 64*256)); l.BusBytes != want {
		t.Errorf("%d bytes over the buses, want %d", l.BusBytes, want)
	}
}
