package vwinograd

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestWinograd compares filtering through the maps of every level with filtering itself, in float64: outputs of a square, and
// the gradient of the weights, for several squares in a row and weights that are stored backwards.
func TestWinograd(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, f := range forms {
			for _, n := range []int{1, 3} {
				t.Run(fmt.Sprintf("%v, %d squares", f, n), func(t *testing.T) { checkWinograd(t, f, n) })
			}
		}
	})
}

// mapped applies a map to n squares of edge in that lie one behind another, rows first, the last value of each first if
// backward is set, and returns squares of edge out, to which InputGrad adds.
func mapped(f Form, kind Map, src []float32, in, out, n int, backward bool, bias *Bias) []float32 {
	dst := make([]float32, n*out*out*Lanes)
	if kind == InputGrad {
		copy(dst, simdtest.Pseudo(len(dst), 5))
	}
	s := Strides{in * Lanes, Lanes, in * in * Lanes, out * Lanes, Lanes, out * out * Lanes}
	at := 0
	if backward {
		s.SrcRow, s.SrcCol, at = -s.SrcRow, -s.SrcCol, (in*in-1)*Lanes
	}
	Apply(f, kind, dst, src, at, &s, n, bias, make([]float32, Scratch))
	return dst
}

// checkSums compares the value of each square's points grad at SumPoint with the sum of the square of y.
func checkSums(t *testing.T, f Form, grad, y []float32) {
	t.Helper()
	values, points := f.Tile*f.Tile*Lanes, f.Points()*Lanes
	for square := range len(y) / values {
		for lane := range Lanes {
			var want float64
			for i := lane; i < values; i += Lanes {
				want += float64(y[square*values+i])
			}
			if got := float64(grad[square*points+f.SumPoint()*Lanes+lane]); math.Abs(got-want) > 1e-4 {
				t.Fatalf("sum of lane %d of square %d is %g, want %g", lane, square, got, want)
			}
		}
	}
}

func checkWinograd(t *testing.T, f Form, n int) {
	m, r, edge := f.Tile, f.Kernel, f.Edge()
	d, w, y, bias := simdtest.Pseudo(n*edge*edge*Lanes, 1), simdtest.Pseudo(n*r*r*Lanes, 2), simdtest.Pseudo(n*m*m*Lanes, 3), NewBias()
	copy(bias.Add[:], simdtest.Pseudo(Lanes, 4))
	for lane := range Lanes / 4 {
		bias.Floor[4*lane] = 0.1 * float32(lane)
	}
	input := mapped(f, Input, d, edge, edge, n, false, nil)
	product := mapped(f, Weights, w, r, edge, n, true, nil)
	grad := mapped(f, OutputGrad, y, m, edge, n, false, nil)
	checkSums(t, f, grad, y)
	inputGrad := make([]float32, len(grad))
	for i, v := range input {
		inputGrad[i] = grad[i] * product[i]
		product[i] *= v
		grad[i] *= v
	}
	inputs := mapped(f, InputGrad, inputGrad, edge, edge, n, false, nil)
	held := simdtest.Pseudo(len(inputs), 5)
	outputs := mapped(f, Output, product, edge, m, n, false, bias)
	weights := mapped(f, WeightsGrad, grad, edge, r, n, false, nil)
	for square := range n {
		for lane := range Lanes {
			at := func(edge, i, j int) int { return ((square*edge+i)*edge+j)*Lanes + lane }
			want := filtered(m, func(i, j int) float32 { return d[at(edge, i, j)] }, r, func(i, j int) float32 { return w[at(r, r-1-i, r-1-j)] })
			for i, v := range want {
				closeTo(t, "output", outputs[at(m, i/m, i%m)], max(v+float64(bias.Add[lane]), float64(bias.Floor[lane])))
			}
			want = filtered(r, func(i, j int) float32 { return d[at(edge, i, j)] }, m, func(i, j int) float32 { return y[at(m, i, j)] })
			for i, v := range want {
				closeTo(t, "gradient", weights[at(r, i/r, i%r)], v)
			}
			want = scattered(m, func(i, j int) float32 { return y[at(m, i, j)] }, r, func(i, j int) float32 { return w[at(r, r-1-i, r-1-j)] })
			for i, v := range want {
				p := at(edge, i/edge, i%edge)
				closeTo(t, "input gradient", inputs[p], v+float64(held[p]))
			}
		}
	}
}

// filtered are the out x out sums of products of a square with a filter of an edge.
func filtered(out int, d func(i, j int) float32, edge int, w func(i, j int) float32) []float64 {
	sums := make([]float64, out*out)
	for p := range sums {
		for i := range edge {
			for j := range edge {
				sums[p] += float64(d(p/out+i, p%out+j)) * float64(w(i, j))
			}
		}
	}
	return sums
}

// scattered is a square of m x m values that are each given to the r x r places that a filter would have made them of.
func scattered(m int, y func(i, j int) float32, r int, w func(i, j int) float32) []float64 {
	edge := m + r - 1
	sums := make([]float64, edge*edge)
	for p := range m * m {
		for q := range r * r {
			sums[(p/m+q/r)*edge+p%m+q%r] += float64(y(p/m, p%m)) * float64(w(q/r, q%r))
		}
	}
	return sums
}

func closeTo(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) < 5e-5) {
		t.Fatalf("%s %g, want %g", what, got, want)
	}
}
