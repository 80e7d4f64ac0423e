package vec

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

func TestElementwise(t *testing.T) {
	const s, u = float32(0.3), float32(-1.7)
	tests := []struct {
		name string
		run  func(d, x, y []float32)
		want func(d, x, y float64) float64
		tol  float64
	}{
		{"Fill", func(d, x, y []float32) { Fill(d, s) }, func(d, x, y float64) float64 { return float64(s) }, 0},
		{"Add", Add, func(d, x, y float64) float64 { return x + y }, 1e-7},
		{"Sub", Sub, func(d, x, y float64) float64 { return x - y }, 1e-7},
		{"Mul", Mul, func(d, x, y float64) float64 { return x * y }, 1e-7},
		{"Div", Div, func(d, x, y float64) float64 { return x / y }, 1e-7},
		{"Max", Max, func(d, x, y float64) float64 { return max(x, y) }, 0},
		{"Min", Min, func(d, x, y float64) float64 { return min(x, y) }, 0},
		{"MulAdd", MulAdd, func(d, x, y float64) float64 { return d + x*y }, 2e-7},
		{"AddScalar", func(d, x, y []float32) { AddScalar(d, x, s) }, func(d, x, y float64) float64 { return x + float64(s) }, 1e-7},
		{"Scale", func(d, x, y []float32) { Scale(d, x, s) }, func(d, x, y float64) float64 { return x * float64(s) }, 1e-7},
		{"Axpy", func(d, x, y []float32) { Axpy(d, x, s) }, func(d, x, y float64) float64 { return d + x*float64(s) }, 2e-7},
		{"Affine", func(d, x, y []float32) { Affine(d, x, s, u) }, func(d, x, y float64) float64 { return x*float64(s) + float64(u) }, 2e-7},
		{"Square", func(d, x, y []float32) { Square(d, x) }, func(d, x, y float64) float64 { return x * x }, 1e-7},
		{"Sqrt", func(d, x, y []float32) { Sqrt(d, x) }, func(d, x, y float64) float64 { return math.Sqrt(x) }, 1e-7},
		{"Abs", func(d, x, y []float32) { Abs(d, x) }, func(d, x, y float64) float64 { return math.Abs(x) }, 0},
		{"ReLU", func(d, x, y []float32) { ReLU(d, x, s) }, func(d, x, y float64) float64 {
			if x < 0 {
				return x * float64(s)
			}
			return x
		}, 1e-7},
		{"ReLUGrad", func(d, x, y []float32) { ReLUGrad(d, x, y, s) }, func(d, x, y float64) float64 {
			if y > 0 {
				return x
			}
			return x * float64(s)
		}, 1e-7},
		{"MulSign", MulSign, func(d, x, y float64) float64 {
			switch {
			case y > 0:
				return x
			case y < 0:
				return -x
			}
			return 0 * x
		}, 0},
		{"Clamp", func(d, x, y []float32) { Clamp(d, x, u, s) }, func(d, x, y float64) float64 {
			if x != x {
				return float64(u)
			}
			return min(max(x, float64(u)), float64(s))
		}, 0},
		{"ClampGrad", func(d, x, y []float32) { ClampGrad(d, x, y, u, s) }, func(d, x, y float64) float64 {
			if y >= float64(u) && y <= float64(s) {
				return x
			}
			return 0 * x
		}, 0},
		{"Above", func(d, x, y []float32) { Above(d, x, s) }, func(d, x, y float64) float64 {
			if x > float64(s) {
				return 1
			}
			return 0
		}, 0},
		{"ELUSlope", func(d, x, y []float32) { ELUSlope(d, x, y, s) }, func(d, x, y float64) float64 {
			slope := y + float64(s)
			if x <= 0 {
				return slope
			}
			return 1 + 0*slope
		}, 1e-7},
		{"SigmoidGrad", SigmoidGrad, func(d, x, y float64) float64 { return x * y * (1 - y) }, 3e-7},
		{"TanhGrad", TanhGrad, func(d, x, y float64) float64 { return x * (1 - y*y) }, 4e-7},
		{"PReLU", PReLU, func(d, x, y float64) float64 { return max(x, 0) + y*min(x, 0) }, 1e-7},
		{"PReLUGrad", func(d, x, y []float32) {
			slopes := append([]float32(nil), d...)
			copy(d, x)
			PReLUGrad(d, d, y, slopes)
		}, func(d, x, y float64) float64 {
			if y > 0 {
				return x
			}
			return x * d
		}, 1e-7},
		{"Take", func(d, x, y []float32) { Take(d, x, y, s) }, func(d, x, y float64) float64 {
			if x > y {
				return float64(s)
			}
			return d
		}, 0},
		{"Larger", Larger, func(d, x, y float64) float64 {
			if x > y {
				return x
			}
			return y
		}, 0},
		{"Where", func(d, x, y []float32) { Where(d, x, y, 1) }, func(d, x, y float64) float64 {
			if y == 1 {
				return x
			}
			return 0
		}, 0},
		{"Exp", func(d, x, y []float32) { Exp(d, x) }, func(d, x, y float64) float64 { return math.Exp(x) }, 2e-7},
		{"Log", func(d, x, y []float32) { Log(d, x) }, func(d, x, y float64) float64 { return math.Log(x) }, 2e-7},
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			simdtest.Each(t, func(t *testing.T) {
				for n := range 150 {
					off := n % 7
					all, d := simdtest.Banded(n, off)
					_, x := simdtest.Banded(n, (n+3)%5)
					_, y := simdtest.Banded(n, n%3)
					for i, v := range []float32{0, nan, inf, -inf, 1, -1} {
						if 3*i+2 < n {
							x[3*i+1], y[3*i+2] = v, v
						}
					}
					before := append([]float32(nil), d...)
					c.run(d, x, y)
					simdtest.CheckGuard(t, all, n, off)
					same := append([]float32(nil), x...)
					for i := range d {
						a, b, e := float64(x[i]), float64(y[i]), float64(before[i])
						w := c.want(e, a, b)
						scale := math.Abs(w) + math.Abs(a*float64(s)) + math.Abs(e*float64(u))
						if c.name == "MulAdd" {
							scale += math.Abs(a * b)
						}
						if c.name == "Exp" || c.name == "Log" {
							scale = math.Abs(w)
						}
						if !simdtest.Near(d[i], w, scale, c.tol) {
							t.Fatalf("n=%d i=%d x=%v y=%v: %v, want %v", n, i, x[i], y[i], d[i], w)
						}
					}
					if c.name == "Add" {
						c.run(same, same, y)
						for i := range same {
							if same[i] != d[i] && d[i] == d[i] {
								t.Fatalf("in place: %v, want %v", same[i], d[i])
							}
						}
					}
				}
			})
		})
	}
}

func TestTranscendental(t *testing.T) {
	sig := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	pow := func(p float32) func(d, x []float32) { return func(d, x []float32) { Pow(d, x, p) } }
	tests := []struct {
		name string
		run  func(d, x []float32)
		want func(float64) float64
		tol  float64
	}{
		{"Exp", Exp, math.Exp, 2e-7}, {"Log", Log, math.Log, 2e-7}, {"Sigmoid", Sigmoid, sig, 3e-7}, {"Tanh", Tanh, math.Tanh, 4e-7},
	}
	for _, p := range []float32{-4, -3, -2, -1.3, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 1.3, 17, 0.01, 2e9} {
		tests = append(tests, struct {
			name string
			run  func(d, x []float32)
			want func(float64) float64
			tol  float64
		}{fmt.Sprint("Pow", p), pow(p), func(x float64) float64 { return math.Pow(x, float64(p)) }, 4e-7})
	}
	var x []float32
	for v := -120.0; v < 120; v += 0.00371 {
		x = append(x, float32(v))
	}
	r := simdtest.Seeded(1)
	for range 20000 {
		x = append(x, math.Float32frombits(r.Uint32()), float32(math.Exp(r.NormFloat64()*9)), float32(r.NormFloat64()))
	}
	for _, v := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, -1e-45, 1, -1, math.MaxFloat32, 0x1p-126, 88.72, 88.73, -87.4, -103.9, -104.1} {
		x = append(x, float32(v))
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			simdtest.Each(t, func(t *testing.T) {
				d := make([]float32, len(x))
				c.run(d, x)
				worst, at, bad := 0.0, float32(0), 0
				for i, v := range x {
					w := c.want(float64(v))
					f := float32(w)
					if d[i] == f || d[i] != d[i] && f != f {
						continue
					}
					e := math.Abs(float64(d[i])-w) / math.Max(math.Abs(w), 0x1p-126)
					if math.IsInf(w, 0) || math.IsNaN(e) || e > c.tol {
						if bad++; bad < 6 {
							t.Errorf("x=%v: %v, want %v (%.3g)", v, d[i], w, e)
						}
					}
					if e > worst {
						worst, at = e, v
					}
				}
				t.Logf("worst relative error %.3g at %v", worst, at)
			})
		})
	}
}

func TestReduce(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for n := range 300 {
			_, x := simdtest.Banded(n, n%5)
			_, y := simdtest.Banded(n, n%3)
			var w [4]float64
			m := float32(math.Inf(-1))
			for i, v := range x {
				a := float64(v)
				w[0] += a
				w[1] += a * float64(y[i])
				w[2] += a * a
				w[3] += math.Abs(a)
				m = max(m, v)
			}
			got := [4]float64{Sum(x), Dot(x, y), SumSq(x), AbsSum(x)}
			for i := range w {
				if math.Abs(got[i]-w[i]) > 1e-12*float64(n+1)*10 {
					t.Fatalf("n=%d reduction %d: %v, want %v", n, i, got[i], w[i])
				}
			}
			if n > 0 {
				if MaxOf(x) != m {
					t.Fatalf("n=%d MaxOf %v, want %v", n, MaxOf(x), m)
				}
				x[n/3] = float32(math.NaN())
				if v := MaxOf(x); v == v {
					t.Fatalf("n=%d MaxOf lost a NaN", n)
				}
			}
		}
	})
}

func BenchmarkExp(b *testing.B)  { benchUnary(b, Exp) }
func BenchmarkLog(b *testing.B)  { benchUnary(b, Log) }
func BenchmarkTanh(b *testing.B) { benchUnary(b, Tanh) }
func BenchmarkPow(b *testing.B)  { benchUnary(b, func(d, x []float32) { Pow(d, x, -0.75) }) }

func benchUnary(b *testing.B, f func(d, x []float32)) {
	d, x := make([]float32, 4096), make([]float32, 4096)
	for i := range x {
		x[i] = 1 + float32(i)/512
	}
	b.SetBytes(4 * 4096)
	for b.Loop() {
		f(d, x)
	}
}
