package simd

import (
	"fmt"
	"math"
	"testing"
)

// lengths are around whole vectors of both widths.
var lengths = []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 250}

func TestNormal(t *testing.T) {
	p := &Normal{Mean: 0.4, Scale: 1.3, Gamma: -0.7, Beta: 0.2, Slope: 0.1, A: 0.9, B: -0.3, C: 0.6}
	each(t, func(t *testing.T) {
		for _, n := range lengths {
			allX, x := banded(n, 3)
			allDy, dy := banded(n, 1)
			allY, y := banded(n, 2)
			allDx, dx := banded(n, 5)
			Normalise(y, x, p)
			NormaliseGrad(dx, dy, x, p)
			products, sums := NormaliseSums(dy, x, p)
			sum, squares := Moments(x, p.Mean)
			var want [4]float64
			for i, v := range x {
				xn := (float64(v) - 0.4) * 1.3
				out, g := xn*-0.7+0.2, float64(dy[i])
				if out < 0 {
					out, g = 0.1*out, 0.1*g
				}
				want[0], want[1] = want[0]+g*xn, want[1]+g
				want[2], want[3] = want[2]+float64(v), want[3]+(float64(v)-0.4)*(float64(v)-0.4)
				if !near(y[i], out, 10, 1e-6) || !near(dx[i], 0.9*g-0.3+0.6*xn, 10, 1e-6) {
					t.Fatalf("n=%d: value %d is %g, want %g; gradient %g, want %g", n, i, y[i], out, dx[i], 0.9*g-0.3+0.6*xn)
				}
			}
			for i, got := range []float64{products, sums, sum, squares} {
				if math.Abs(got-want[i]) > 1e-5*float64(n+1) {
					t.Fatalf("n=%d: sum %d is %g, want %g", n, i, got, want[i])
				}
			}
			checkGuard(t, allX, n, 3)
			checkGuard(t, allDy, n, 1)
			checkGuard(t, allY, n, 2)
			checkGuard(t, allDx, n, 5)
		}
	})
}

// TestNormalEqualsItsParts: the fused pass gives the bits of the operations one by one.
func TestNormalEqualsItsParts(t *testing.T) {
	p := &Normal{Mean: 1.37, Scale: 0.61, Gamma: 1.9, Beta: -0.77, Slope: 0.25}
	each(t, func(t *testing.T) {
		for _, n := range []int{16, 33, 250} {
			_, x := banded(n, 1)
			got, want := make([]float32, n), make([]float32, n)
			Normalise(got, x, p)
			AddScalar(want, x, -p.Mean)
			Scale(want, want, p.Scale)
			Affine(want, want, p.Gamma, p.Beta)
			ReLU(want, want, p.Slope)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("n=%d: value %d is %g, its parts give %g", n, i, got[i], want[i])
				}
			}
		}
	})
}

func TestLRN(t *testing.T) {
	const a, k, ld = 0.3, 1.5, 260
	each(t, func(t *testing.T) {
		for _, n := range lengths[1:] {
			for _, rows := range []int{1, 2, 5} {
				t.Run(fmt.Sprintf("%d values, %d rows", n, rows), func(t *testing.T) {
					_, values := banded((rows-1)*ld+n, 0) // ends with the last value
					_, x := banded(n, 2)
					_, dy := banded(n, 2)
					allY, y := banded(n, 1)
					allQ, q := banded(n, 3)
					allR, r := banded(n, 5)
					allDx, dx := banded(n, 4)
					before := append([]float32(nil), dx...)
					w := Column{values, rows, ld}
					LRN(y, x, w, a, k)
					LRNRatio(q, r, dy, x, w, a, k)
					LRNGrad(dx, x, w, -0.7)
					for i := range n {
						squares, sum := 0.0, 0.0
						for row := range rows {
							v := float64(values[row*ld+i])
							squares, sum = squares+v*v, sum+v
						}
						s := k + a*squares
						p := math.Pow(s, -0.75)
						for _, c := range []struct {
							name string
							got  float32
							want float64
						}{
							{"y", y[i], float64(x[i]) * p}, {"q", q[i], float64(dy[i]) * p},
							{"r", r[i], float64(dy[i]) * p * float64(x[i]) / s},
							{"dx", dx[i], float64(before[i]) - 0.7*float64(x[i])*sum},
						} {
							if !near(c.got, c.want, 10+math.Abs(c.want), 1e-6) {
								t.Fatalf("%s %d is %g, want %g", c.name, i, c.got, c.want)
							}
						}
					}
					checkGuard(t, allY, n, 1)
					checkGuard(t, allQ, n, 3)
					checkGuard(t, allR, n, 5)
					checkGuard(t, allDx, n, 4)
				})
			}
		}
	})
}

// TestLarger: of equals the first, NaN above all.
func TestLarger(t *testing.T) {
	nan := float32(math.NaN())
	each(t, func(t *testing.T) {
		for _, n := range lengths {
			first, second := make([]float32, n), make([]float32, n)
			from := make([]int32, n)
			for i := range n {
				first[i], second[i], from[i] = float32(i%3), float32(i%4), int32(10*i)
				if i%7 == 3 {
					first[i] = nan
				}
				if i%5 == 2 {
					second[i] = nan
				}
			}
			value, code := append([]float32(nil), first...), make([]int32, n)
			Larger(value, code, second, from)
			for i := range n {
				want, wantCode := first[i], int32(0)
				if second[i] > want || second[i] != second[i] && want == want {
					want, wantCode = second[i], from[i]
				}
				if math.Float32bits(value[i]) != math.Float32bits(want) || code[i] != wantCode {
					t.Fatalf("n=%d: value %d is %g with code %d, want %g with %d", n, i, value[i], code[i], want, wantCode)
				}
			}
		}
	})
}

// TestEvens reads nothing behind the last value it copies, in place as well.
func TestEvens(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, n := range lengths {
			_, src := banded(max(0, 2*n-1), 0)
			src = src[:len(src):len(src)]
			all, dst := banded(n, 3)
			before := append([]float32(nil), src...)
			Evens(dst, src)
			Evens(src[:n], src)
			for i := range n {
				if dst[i] != before[2*i] || src[i] != before[2*i] {
					t.Fatalf("n=%d: value %d is %g, in place %g, want %g", n, i, dst[i], src[i], before[2*i])
				}
			}
			checkGuard(t, all, n, 3)
		}
	})
}
