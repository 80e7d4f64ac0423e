package norm

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// normedShapes are channels, height and width: one block and more than rows that are turned at once, a band and many, planes that end in one.
var normedShapes = [][4]int{{2, 16, 7, 5}, {3, 80, 9, 11}, {1, 32, 61, 33}, {2, 48, 31, 55}, {1, 64, 3, 900}}

// normedPool is a pooling of images.
func normedPool(s [4]int, window [3]int) (pool.Shape, bool) {
	k, step, pad := window[0], window[1], window[2]
	p := pool.Shape{N: s[0], C: s[1], H: s[2], W: s[3], KH: k, KW: k, SH: step, SW: step, PH: pad, PW: pad}
	p.OH, p.OW = kerneltest.PooledSize(p.H, window, false), kerneltest.PooledSize(p.W, window, false)
	return p, p.OH > 0 && p.OW > 0
}

// normPooled computes both directions by the formulas, images lying by planes; relu is said of outputs, before of inputs' gradients.
func normPooled(n LRN, p pool.Shape, x, dy []float32, before bool) (y, dx []float64) {
	plane, half := p.H*p.W, n.Size/2
	s, normed, dn := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	window := func(i int, visit func(k int)) {
		for c, k := i/plane%p.C, -half; k <= half; k++ {
			if c+k >= 0 && c+k < p.C {
				visit(i + k*plane)
			}
		}
	}
	for i := range x {
		sum := 0.0
		window(i, func(k int) { sum += float64(x[k]) * float64(x[k]) })
		s[i] = float64(n.K) + float64(n.Alpha)/float64(n.Size)*sum
		normed[i] = float64(x[i]) * math.Pow(s[i], -float64(n.Beta))
	}
	y, dx = make([]float64, len(dy)), make([]float64, len(x))
	for i := range y {
		best, at, c := math.Inf(-1), -1, i/(p.OH*p.OW)
		if p.ReLU {
			best = 0
		}
		top, left := i/p.OW%p.OH*p.SH-p.PH, i%p.OW*p.SW-p.PW
		for r := max(0, top); r < min(p.H, top+p.KH); r++ {
			for q := max(0, left); q < min(p.W, left+p.KW); q++ {
				if k := c*plane + r*p.W + q; normed[k] > best {
					best, at = normed[k], k
				}
			}
		}
		if y[i] = best; at >= 0 {
			dn[at] += float64(dy[i])
		}
	}
	for i := range x {
		sum := 0.0
		window(i, func(k int) { sum += dn[k] * normed[k] / s[k] })
		dx[i] = dn[i]*math.Pow(s[i], -float64(n.Beta)) - 2*float64(n.Alpha)*float64(n.Beta)/float64(n.Size)*float64(x[i])*sum
		if before && x[i] <= 0 {
			dx[i] = 0
		}
	}
	return y, dx
}

// TestNormPool: values by the formulas, and the same bits in all layouts and on any number of core groups.
func TestNormPool(t *testing.T) {
	machines := kerneltest.CacheMachines(t, 1<<20)
	norms := []LRN{{Size: 5, Alpha: 0.5, Beta: 0.75, K: 1}, {Size: 3, Alpha: 2, Beta: 0.6, K: 2}}
	for i, s := range normedShapes {
		for j, window := range racing.Few(kerneltest.PoolWindows) {
			p, ok := normedPool(s, window)
			if !ok {
				continue
			}
			n, before := norms[(i+j)%2], j%3 == 0
			p.ReLU = j%2 == 1
			t.Run(fmt.Sprintf("%+v, %+v", n, p), func(t *testing.T) {
				x, dy := kerneltest.Values(p.N*p.C*p.H*p.W, 1), kerneltest.Values(p.N*p.C*p.OH*p.OW, 2)
				y, dx := normPooled(n, p, x, dy, before)
				var first [2][]float32
				for k, m := range []int{0, 1, 2, 1} {
					p.InBlocks, p.OutBlocks = k%2 == 0, k < 2
					v, err := NewPooled(machines[m%len(machines)], n, p)
					if err != nil || v == nil {
						t.Fatalf("no kernel: %v", err)
					}
					in, got := kerneltest.Lie(x, p.N*p.C, p.InBlocks, false), [2][]float32{make([]float32, len(dy)), make([]float32, len(x))}
					mask := make([]int32, v.MaskWords())
					if err := v.Forward(in, got[0], mask); err != nil {
						t.Fatal(err)
					}
					if err := v.Backward(in, kerneltest.Lie(dy, p.N*p.C, p.OutBlocks, false), mask, got[1], before); err != nil {
						t.Fatal(err)
					}
					got[0], got[1] = kerneltest.Lie(got[0], p.N*p.C, p.OutBlocks, true), kerneltest.Lie(got[1], p.N*p.C, p.InBlocks, true)
					if k == 0 {
						first = got
						kerneltest.Near(t, "y", got[0], y, n.Size)
						kerneltest.Near(t, "dx", got[1], dx, p.KH*p.KW*n.Size)
					}
					kerneltest.SameBits(t, "y", got[0], first[0])
					kerneltest.SameBits(t, "dx", got[1], first[1])
				}
			})
		}
	}
}

// TestNoNormPool: what there is no kernel for.
func TestNoNormPool(t *testing.T) {
	five, p := LRN{Size: 5, Alpha: 1, Beta: 0.75, K: 1}, pool.Shape{N: 1, C: 16, H: 8, W: 8, OH: 4, OW: 4, KH: 2, KW: 2, SH: 2, SW: 2}
	seven, half, mean := five, p, p
	seven.Size, half.C, mean.Method = 7, 8, pool.Ave
	host := kerneltest.HostMachine(t, 1)
	if v, err := NewPooled(host, five, p); v == nil || err != nil {
		t.Errorf("no kernel: %v", err)
	}
	for _, tt := range []struct {
		n LRN
		p pool.Shape
	}{{seven, p}, {five, half}, {five, mean}} {
		if v, err := NewPooled(host, tt.n, tt.p); v != nil || err != nil {
			t.Errorf("%+v, %+v: there is a kernel, error %v", tt.n, tt.p, err)
		}
	}
	if v, err := NewPooled(kerneltest.Machine(t, "sw26010", true), five, p); v != nil || err != nil {
		t.Errorf("a modelled machine has a kernel, error %v", err)
	}
}

// TestNormPoolAllocates: nothing, once it is prepared.
func TestNormPoolAllocates(t *testing.T) {
	p, _ := normedPool([4]int{2, 48, 31, 33}, [3]int{3, 2, 0})
	v, err := NewPooled(kerneltest.HostMachine(t, 2), LRN{Size: 5, Alpha: 1, Beta: 0.75, K: 1}, p)
	if err != nil {
		t.Fatal(err)
	}
	x, y, mask := kerneltest.Values(p.N*p.C*p.H*p.W, 1), make([]float32, p.N*p.C*p.OH*p.OW), make([]int32, v.MaskWords())
	dx := make([]float32, len(x))
	if n := alloctest.PerRun(3, func() {
		if err := v.Forward(x, y, mask); err != nil {
			t.Fatal(err)
		}
		if err := v.Backward(x, y, mask, dx, true); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%d allocations a run", n)
	}
}

// BenchmarkNormPool times both directions of AlexNet's norm1 and norm2 and GoogLeNet's second normalisation.
func BenchmarkNormPool(b *testing.B) {
	for _, s := range [][4]int{{32, 96, 55, 55}, {32, 256, 27, 27}, {16, 192, 56, 56}} {
		p, _ := normedPool(s, [3]int{3, 2, 0})
		p.InBlocks, p.OutBlocks = true, true
		v, err := NewPooled(kerneltest.BenchMachine(b, 2), LRN{Size: 5, Alpha: 1e-4, Beta: 0.75, K: 1}, p)
		if err != nil {
			b.Fatal(err)
		}
		x, y, mask := kerneltest.Values(p.N*p.C*p.H*p.W, 1), make([]float32, p.N*p.C*p.OH*p.OW), make([]int32, v.MaskWords())
		dx := make([]float32, len(x))
		b.Run(fmt.Sprint(s, "/forward"), func(b *testing.B) {
			for b.Loop() {
				if err := v.Forward(x, y, mask); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(s, "/backward"), func(b *testing.B) {
			for b.Loop() {
				if err := v.Backward(x, y, mask, dx, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
