package vconv

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestFactors: on every level, results have the bits of each number type's definition, for every number of pixels of one to three tiles, with whole blocks of
// factors and others.
func TestFactors(t *testing.T) {
	types := map[string]Factors{"pairs": Pairs(), "bytes": Bytes(Step{1 / float32(0.013), 0}), "bytes with signs": Bytes(Step{1 / float32(0.011), 117})}
	simdtest.EachTarget(t, func(t *testing.T) {
		for name, f := range types {
			for rows := 1; rows <= 3*PixelRows(); rows++ {
				for n := 1; n <= 2; n++ {
					for _, blocks := range []int{1, 2, 3, 5, 36} {
						if blocks > 5 && rows%9 != 5 {
							continue
						}
						t.Run(fmt.Sprintf("%s, %d pixels, %d blocks of %d", name, rows, n, blocks), func(t *testing.T) { testFactors(t, f, rows, n, blocks) })
					}
				}
			}
		}
	})
}

func testFactors(t *testing.T, f Factors, rows, n, blocks int) {
	const lanes = isa.BlockLanes
	jump, per := rows*lanes+5, f.Block()/lanes
	deep := (blocks + per - 1) / per
	jumpC, jumpA := rows*lanes+3, f.Places(f.Block()*rows)
	_, x := simdtest.Banded((blocks-1)*jump+rows*lanes, 1)
	x[len(x)/2] = float32(math.NaN())
	if f.kind == pairs {
		x[len(x)/2] = 0
	}
	_, w := simdtest.Banded(deep*f.Block()*32, 2)
	if f.kind == integers {
		for i, v := range w {
			w[i] = float32(int(v*100) % 128)
		}
	}
	for p := blocks * lanes; p < deep*f.Block(); p++ {
		clear(w[p*32 : (p+1)*32])
	}
	_, bias := simdtest.Banded(32, 3)
	allA, a := simdtest.Banded(deep*jumpA, 5)
	allB, b := simdtest.Banded(f.Weights(len(w)), 6)
	head := make([]float32, f.Head())
	if f.kind == integers {
		copy(head[32:], bias)
		f.AddToHead(head, w, deep*f.Block())
	}
	f.Pixels(a, x, jump, blocks, rows)
	f.Panel(b, w, deep*f.Block())
	simdtest.CheckGuard(t, allA, len(a), 5)
	simdtest.CheckGuard(t, allB, len(b), 6)
	size := (n-1)*jumpC + rows*lanes
	all, c := simdtest.Banded(size, 4)
	for way := range 8 {
		tile := Tile{JumpA: jumpA, Head: head, Bias: bias, C: c, JumpC: jumpC, Rows: rows, N: n, Add: way%2 > 0 && f.kind == pairs, Floor: way/2%2 > 0}
		old := append([]float32(nil), c...)
		passes := []int{deep} // blocks of each pass
		if way > 3 && deep > 1 {
			passes = []int{deep / 2, deep - deep/2}
		}
		for k, i := 0, 0; k < deep; i++ {
			tile.A, tile.B, tile.Blocks, tile.First, tile.Last = a[k*jumpA:], b[f.Weights(k*f.Block()*32):], passes[i], k == 0, i == len(passes)-1
			f.Multiply(&tile)
			k += passes[i]
		}
		simdtest.CheckGuard(t, all, size, 4)
		for at, got := range c {
			j, i, want := at/jumpC*lanes+at%jumpC%lanes, at%jumpC/lanes, old[at]
			if i < rows {
				value := func(p int) float32 {
					if p < blocks*lanes {
						return x[p/lanes*jump+i*lanes+p%lanes]
					}
					return 0
				}
				weight := func(p int) float32 { return w[p*32+j] }
				if f.kind == integers {
					want = bytesByDefinition(f.step, blocks*lanes, value, weight, bias[j], bias[j])
				} else {
					want = pairsByDefinition(passes, value, weight, bias[j], old[at], tile.Add)
				}
				if tile.Floor {
					want = max(want, 0)
				}
			}
			if got != want {
				t.Fatalf("passes %v, add %v, floor %v: %g at pixel %d, column %d, want %g", passes, tile.Add, tile.Floor, got, i, j, want)
			}
		}
	}
}

// pairsByDefinition adds the products of bfloat16 values, which are exact in float32.
func pairsByDefinition(passes []int, x, w func(p int) float32, bias, old float32, add bool) float32 {
	sum := bias
	for i, first := 0, 0; i < len(passes); i++ {
		last := first + passes[i]*PairBlock
		for p := first; p < last; p += 2 {
			sum += vec.BFloat16(x(p+1)) * vec.BFloat16(w(p+1))
			sum += vec.BFloat16(x(p)) * vec.BFloat16(w(p))
		}
		if add || i > 0 {
			sum += old
		}
		old, sum, add, first = sum, 0, false, last
	}
	return old
}

// bytesByDefinition adds the products of integers. The steps of pixels and weights have a product of scale.
func bytesByDefinition(s Step, k int, x, w func(p int) float32, scale, bias float32) float32 {
	sum := 0
	for p := range k {
		b := 0.0
		if v := float64(float32(x(p) * s.Reciprocal)); v == v {
			b = min(max(math.RoundToEven(v)+float64(s.Zero), 0), 255)
		}
		sum += (int(b) - int(s.Zero)) * int(w(p))
	}
	return float32(float32(sum)*scale) + bias
}

// BenchmarkMultiply multiplies operands that lie in L1.
func BenchmarkMultiply(b *testing.B) {
	for name, f := range map[string]Factors{"float32": {}, "pairs": Pairs(), "bytes": Bytes(Step{1, 0})} {
		b.Run(name, func(b *testing.B) {
			blocks, rows := 256/f.Block(), PixelRows()
			x, w, y := make([]float32, 256*rows), make([]float32, 256*32+f.Head()), make([]float32, 32*rows)
			tile := Tile{Blocks: blocks, A: x, JumpA: f.Places(f.Block() * rows), Head: w, B: w[f.Head():], Bias: nothing[:], C: y, JumpC: 16 * rows, Rows: rows, N: 2, First: true, Last: true}
			for b.Loop() {
				f.Multiply(&tile)
			}
			b.ReportMetric(float64(b.N)*2*256*32*float64(rows)/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}
