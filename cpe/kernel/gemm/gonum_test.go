package gemm

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// TestGemmAgainstGonum multiplies matrices that take several blocks in every extent, and compares with gonum's
// product in double precision.
func TestGemmAgainstGonum(t *testing.T) {
	op := map[bool]blas.Transpose{false: blas.NoTrans, true: blas.Trans}
	general := func(data []float64, rows, cols int, trans bool) blas64.General {
		if trans {
			rows, cols = cols, rows
		}
		return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range []Shape{
			{M: 257, N: 131, K: 1001},
			{M: 131, N: 1025, K: 300, TransB: true, Accumulate: true},
			{M: 300, N: 97, K: 513, TransA: true},
		} {
			a, b, c := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 3)
			want := doubles(c)
			beta := 0.0
			if s.Accumulate {
				beta = 1
			}
			blas64.Gemm(op[s.TransA], op[s.TransB], 1, general(doubles(a), s.M, s.K, s.TransA), general(doubles(b), s.K, s.N, s.TransB), beta, general(want, s.M, s.N, false))
			g, err := NewBlocked(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Run(a, b, nil, c); err != nil {
				t.Fatal(err)
			}
			kerneltest.Near(t, s.String(), c, want, s.K)
		}
	})
}

func doubles(v []float32) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}
