package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// constants returns the constants of a row of channel m.
func (l *normChain) constants(t *stream.Tile, m int) vnorm.Row {
	p := vnorm.Row{Mean: t.In[1][m], Scale: t.In[2][m], Gamma: t.In[3][m], Slope: 1}
	if l.scale.biased {
		p.Beta = t.In[4][m]
	}
	if l.rectified {
		p.Slope = l.slope
	}
	return p
}

func (l *normChain) forwardRow(t *stream.Tile, at, n, m int) {
	y, x := t.Out[0][at:at+n], t.In[0][at:at+n]
	if t.I > 1 {
		p := l.constants(t, m)
		vnorm.Normalise(y, x, &p)
	} else {
		normalise(y, x, t.In[1], t.In[2], 1, 0)
		l.scaled(y, y, t)
		if l.rectified {
			vec.ReLU(y, y, l.slope)
		}
	}
	if l.sum != nil {
		l.add(t, at, n)
	}
}

// sumRow adds g*xn to sum 0 and g to sum 1.
func (l *normChain) sumRow(t *stream.Tile, at, n, m int) {
	if t.I == 1 {
		xn, g := l.columns(t, at, n, l.mask(t, at, n))
		sumProducts(t, g, xn, 0)
		return
	}
	p := l.constants(t, m)
	products, sums := vnorm.NormaliseSums(l.mask(t, at, n), t.In[0][at:at+n], &p)
	t.Sum[m] += products
	t.Sum[t.M+m] += sums
}

func (l *normChain) backwardRow(t *stream.Tile, at, n, m int) {
	dx, factors := t.Out[0][at:at+n], t.In[l.gradient()+1:]
	if t.I == 1 {
		xn, g := l.columns(t, at, n, l.masked(t, at, n))
		vec.Mul(dx, g, factors[0])
		vec.Add(dx, dx, factors[1])
		vec.MulAdd(dx, xn, factors[2])
		return
	}
	p := l.constants(t, m)
	p.A, p.B, p.C = factors[0][m], factors[1][m], factors[2][m]
	vnorm.NormaliseGrad(dx, l.masked(t, at, n), t.In[0][at:at+n], &p)
}

// columns returns xn and g of a row with one value per channel.
func (l *normChain) columns(t *stream.Tile, at, n int, dy []float32) (xn, g []float32) {
	xn, g = t.Scratch[0][:n], t.Scratch[1][:n]
	normalise(xn, t.In[0][at:at+n], t.In[1], t.In[2], 1, 0)
	if !l.rectified {
		return xn, dy
	}
	l.scaled(g, xn, t)
	vec.ReLUGrad(g, dy, g, l.slope)
	return xn, g
}

// scaled writes gamma * xn + beta of a row with one value per channel.
func (l *normChain) scaled(y, xn []float32, t *stream.Tile) {
	var beta []float32
	if l.scale.biased {
		beta = t.In[4]
	}
	scaleShift(y, xn, t.In[3], beta, 1, 0)
}

// momentsRow sums a row's values and their squared distances from the pivot. The pivot comes from the normaliser, not from the tile's
// inputs.
func (l *normChain) momentsRow(t *stream.Tile, at, n, m int) {
	sum, squares := vnorm.Moments(t.In[0][at:at+n], l.norm.normaliser.pivot[t.M0+m])
	t.Sum[m] += sum
	t.Sum[t.M+m] += squares
}
