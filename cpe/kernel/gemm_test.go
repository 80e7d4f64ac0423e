package kernel

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// multiply is the definition of a GemmShape.
func multiply(s GemmShape, a, b, c []float32) []float64 {
	out := make([]float64, s.M*s.N)
	for i := range s.M {
		for j := range s.N {
			var sum float64
			for k := range s.K {
				x, y := i*s.K+k, k*s.N+j
				if s.TransA {
					x = k*s.M + i
				}
				if s.TransB {
					y = j*s.K + k
				}
				sum += float64(a[x]) * float64(b[y])
			}
			if s.Accumulate {
				sum += float64(c[i*s.N+j])
			}
			out[i*s.N+j] = sum
		}
	}
	return out
}

func TestGemm(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, size := range [][3]int{{1, 1, 1}, {1, 1, 0}, {3, 5, 7}, {8, 8, 8}, {1, 40, 70}, {64, 10, 500}, {33, 65, 129}, {100, 130, 600}} {
			for flags := range 8 {
				s := GemmShape{size[0], size[1], size[2], flags&1 != 0, flags&2 != 0, flags&4 != 0}
				a, b, c := values(s.M*s.K, 1), values(s.K*s.N, 2), values(s.M*s.N, 3)
				want := multiply(s, a, b, c)
				g, err := NewGemm(m, s)
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
				near(t, s.String(), c, want, s.K)
			}
		}
	})
}

func TestGemmBias(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		s := GemmShape{M: 9, N: 50, K: 700, TransB: true}
		a, b, bias, c := values(s.M*s.K, 1), values(s.K*s.N, 2), values(s.N, 4), make([]float32, s.M*s.N)
		want := multiply(s, a, b, c)
		for i := range want {
			want[i] += float64(bias[i%s.N])
		}
		g, err := NewGemm(m, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Run(a, b, bias, c); err != nil {
			t.Fatal(err)
		}
		near(t, "c", c, want, s.K)
	})
}
