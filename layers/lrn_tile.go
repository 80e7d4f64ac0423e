package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// usual is the exponent that networks use, for which there are kernels of one pass.
const usual = 0.75

// scratches returns how many scratch arrays a kernel for other exponents needs more.
func (l *lrnAcross) scratches(n int) int {
	if l.beta == usual {
		return 0
	}
	return n
}

// window returns the rows within half of mid m, of an array with rows ld apart.
func (l *lrnAcross) window(values []float32, m, ld int) simd.Column {
	first, last := max(0, m-l.size/2), min(l.dims[1]-1, m+l.size/2)
	return simd.Column{Values: values[first*ld:], Rows: last - first + 1, Ld: ld}
}

func (l *lrnAcross) forwardTile(t *kernel.Tile) {
	for o := range t.O {
		x, y := t.In[0][o*t.OStride:], t.Out[0][o*t.OStride:]
		for m := range t.M {
			yRow, xRow := y[m*t.MStride:][:t.I], x[m*t.MStride:]
			if l.beta == usual {
				simd.LRN(yRow, xRow, l.window(x, m, t.MStride), l.alpha/float32(l.size), l.k)
				continue
			}
			s := t.Scratch[0][:t.I]
			l.scales(s, x, m, t.MStride)
			simd.Pow(s, s, -l.beta)
			simd.Mul(yRow, xRow, s)
		}
	}
}

// scales writes s of a row for any exponent.
func (l *lrnAcross) scales(s, x []float32, m, ld int) {
	w := l.window(x, m, ld)
	clear(s)
	for r := range w.Rows {
		row := w.Values[r*ld:]
		simd.MulAdd(s, row, row)
	}
	simd.Affine(s, s, l.alpha/float32(l.size), l.k)
}

// backwardTile works in two steps: dx = dy*s^-beta and ratio = dy*y/s; then, as soon as all ratios in the window of a row are there,
// what they take from dx.
func (l *lrnAcross) backwardTile(t *kernel.Tile) {
	ratio := t.Scratch[0][:t.M*t.I]
	for o := range t.O {
		dy, x, dx := t.In[0][o*t.OStride:], t.In[1][o*t.OStride:], t.Out[0][o*t.OStride:]
		next := 0
		for m := range t.M {
			for ; next < min(t.M, m+l.size/2+1); next++ {
				at := next * t.MStride
				l.ratioRow(t, dx[at:][:t.I], ratio[next*t.I:][:t.I], dy[at:], x, next)
			}
			at := m * t.MStride
			simd.LRNGrad(dx[at:][:t.I], x[at:], l.window(ratio, m, t.I), -2*l.alpha*l.beta/float32(l.size))
		}
	}
}

func (l *lrnAcross) ratioRow(t *kernel.Tile, dx, ratio, dy, x []float32, m int) {
	row := x[m*t.MStride:]
	if l.beta == usual {
		simd.LRNRatio(dx, ratio, dy, row, l.window(x, m, t.MStride), l.alpha/float32(l.size), l.k)
		return
	}
	s, power := t.Scratch[1][:t.I], t.Scratch[2][:t.I]
	l.scales(s, x, m, t.MStride)
	simd.Pow(power, s, -l.beta)
	simd.Mul(dx, dy, power)
	simd.Mul(ratio, dx, row)
	simd.Div(ratio, ratio, s)
}
