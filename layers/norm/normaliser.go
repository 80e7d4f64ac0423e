package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// normaliser has the statistics and the gradient that BatchNorm and MVN share. It works on an outer x mid x inner array with one mean and
// one scale for each index of mid, the middle axis: the channel, or for MVN the image and perhaps the channel.
//
//	y = (x - mean) * scale,   dx = (dy - mean(dy) - mean(dy*y) * y) * scale,
//
// with means over outer and inner. This dx holds if mean and scale are computed from x.
type normaliser struct {
	dims        [3]int
	mpe         bool
	blocked     bool // x and y have channels in blocks
	copies      int  // number of copies of y that apply writes
	steps       part.Steps
	mean, scale []float32
	pivot       []float32 // a value near the mean, by mid
	dyMean      []float32 // mean(dy), by mid
	dyyMean     []float32 // mean(dy*y), by mid

	moments, gradSums, forward, backward, scaling *stream.Kernel

	ins  [5][]float32
	outs [2][]float32
}

// reshape prepares for arrays of shape dims. copies is the number of outputs that apply writes.
func (n *normaliser) reshape(b *layers.Base, dims [3]int, copies int) error {
	if dims == n.dims {
		return nil
	}
	mid := dims[1]
	n.dims, n.mpe, n.copies = dims, b.MPE(), copies
	n.mean, n.scale, n.dyMean, n.dyyMean = pages.Make[float32](mid), pages.Make[float32](mid), pages.Make[float32](mid), pages.Make[float32](mid)
	n.pivot = pages.Make[float32](mid)
	if n.mpe {
		return nil
	}
	return n.prepare(b)
}

// rows returns the row functions of the kernels for the present layout.
func (n *normaliser) rows() (moments, forward, sums, backward, scaling part.RowOp) {
	if n.blocked {
		return momentsBlock, normaliseBlock, sumBlock, gradientBlock, scaleBlock
	}
	return momentsRow, normaliseRow, sumRow, gradientRow, scaleFirst
}

// prepare makes the kernels of the CPE path.
func (n *normaliser) prepare(b *layers.Base) error {
	streams := part.StreamsOf(b)
	pass := func(what string, flops float64, sums int, ins, outs []stream.Array, visit part.RowOp) *stream.Kernel {
		return streams.Make(part.BlockedStream(stream.Pass{
			Name: b.Param.GetType() + what, Ins: ins, Outs: outs, Sums: sums, Cost: stream.Work{Flops: flops}, Op: part.ByRow(visit),
		}, n.dims, n.blocked))
	}
	row := stream.Row
	moments, forward, gradSums, backward, scaling := n.rows()
	n.moments = pass(" statistics", 4, 2, part.Arrays(1, row), nil, moments)
	n.forward = pass("", 2, 0, part.Arrays(1, row, row), part.Arrays(n.copies), n.steps.After(forward))
	n.gradSums = pass(" gradient sums", 3, 2, part.Arrays(2), nil, gradSums)
	n.backward = pass(" gradient", 4, 0, part.Arrays(2, row, row, row), part.Arrays(1), backward)
	n.scaling = pass(" gradient", 1, 0, part.Arrays(1, row), part.Arrays(1), scaling)
	return streams.Err
}

// momentsRow adds x to sum 0 and (x - pivot)^2 to sum 1.
func momentsRow(t *stream.Tile, at, n, m int) {
	x, pivot := t.In[0][at:at+n], t.In[1]
	if t.I > 1 {
		sum, squares := vnorm.Moments(x, pivot[m])
		t.Sum[m] += sum
		t.Sum[t.M+m] += squares
		return
	}
	vec.ColumnSums(t.Sum[:n], x)
	vec.ColumnSquares(t.Sum[t.M:t.M+n], x, pivot)
}

// normaliseRow: y = (x - mean) * scale, written to all outputs.
func normaliseRow(t *stream.Tile, at, n, m int) {
	y := t.Out[0][at : at+n]
	normalise(y, t.In[0][at:], t.In[1], t.In[2], t.I, m)
	for _, other := range t.Out[1:] {
		copy(other[at:], y)
	}
}

// normalise writes (x - mean) * scale of a row. If inner is 1, the row holds one value of each mid, with its own mean and scale.
func normalise(y, x, mean, scale []float32, inner, m int) {
	if inner == 1 {
		vec.Sub(y, x, mean)
		vec.Mul(y, y, scale)
		return
	}
	vec.AddScalar(y, x, -mean[m])
	vec.Scale(y, y, scale[m])
}

// gradientRow: dx = (dy - mean(dy) - mean(dy*y) * y) * scale.
func gradientRow(t *stream.Tile, at, n, m int) {
	dx, dy, y := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n]
	a, b, scale := t.In[2], t.In[3], t.In[4]
	if t.I == 1 {
		for k := range dx {
			dx[k] = (dy[k] - a[k] - b[k]*y[k]) * scale[k]
		}
		return
	}
	vec.AddScalar(dx, dy, -a[m])
	vec.Axpy(dx, y, -b[m])
	vec.Scale(dx, dx, scale[m])
}

// count returns how many values share a mean.
func (n *normaliser) count() float64 { return float64(n.dims[0] * n.dims[2]) }

// mid returns the middle index of element i.
func (n *normaliser) mid(i int) int { return i / n.dims[2] % n.dims[1] }

// statistics sets the means of x and returns its variances, both by mid.
func (n *normaliser) statistics(x []float32) ([]float64, error) {
	if n.mpe {
		return n.statisticsMPE(x), nil
	}
	return n.statisticsCPE(x)
}

// statisticsMPE takes two passes: the mean of squares less the squared mean would lose precision for large means.
func (n *normaliser) statisticsMPE(x []float32) []float64 {
	sums := pages.Make[float64](n.dims[1])
	for i, v := range x {
		sums[n.mid(i)] += float64(v)
	}
	for m, s := range sums {
		n.mean[m] = float32(s / n.count())
	}
	clear(sums)
	for i, v := range x {
		d := float64(v) - float64(n.mean[n.mid(i)])
		sums[n.mid(i)] += d * d
	}
	for m := range sums {
		sums[m] /= n.count()
	}
	return sums
}

// statisticsCPE takes one pass. It sums squared distances from a pivot, the first value of each mid, and so loses few digits (Chan, Golub
// and LeVeque 1983, Algorithms for computing the sample variance, section 3). As one of n values, the pivot has a squared distance from the
// mean of at most n times the variance.
func (n *normaliser) statisticsCPE(x []float32) ([]float64, error) {
	n.setPivots(x)
	n.ins[0], n.ins[1] = x, n.pivot
	if err := n.moments.Run(n.ins[:2], nil); err != nil {
		return nil, err
	}
	sums := n.moments.Sums()
	variances := sums[n.dims[1]:]
	for m, s := range sums[:n.dims[1]] {
		variances[m] = n.moment(m, s, variances[m])
	}
	return variances, nil
}

// setPivots sets the pivots to the first value of each mid.
func (n *normaliser) setPivots(x []float32) {
	k := part.Lanes(n.blocked)
	for m := range n.pivot {
		if at := m/k*k*n.dims[2] + m%k; at < len(x) {
			n.pivot[m] = x[at]
		}
	}
}

// moment sets the mean of index m and returns its variance, from the sums of values and of squared distances from the pivot.
func (n *normaliser) moment(m int, sum, squares float64) float64 {
	mean := sum / n.count()
	shift := mean - float64(n.pivot[m])
	n.mean[m] = float32(mean)
	return max(0, squares/n.count()-shift*shift)
}

// apply writes (x - mean) * scale to y, and to second if the normaliser was prepared for two outputs.
func (n *normaliser) apply(x, y, second []float32) error {
	if !n.mpe {
		n.steps.To(y)
		n.ins[0], n.ins[1], n.ins[2], n.outs = x, n.mean, n.scale, [2][]float32{y, second}
		if second == nil {
			return n.forward.Run(n.ins[:3], n.outs[:1])
		}
		return n.forward.Run(n.ins[:3], n.outs[:])
	}
	for i, v := range x {
		m := n.mid(i)
		y[i] = float32((float64(v) - float64(n.mean[m])) * float64(n.scale[m]))
	}
	copy(second, y)
	return nil
}

// gradient computes dx for a mean and scale that depend on x. With variance = false only the mean depends on x.
func (n *normaliser) gradient(dy, y, dx []float32, variance bool) error {
	if err := n.gradientMeans(dy, y); err != nil {
		return err
	}
	if !variance {
		clear(n.dyyMean)
	}
	return n.gradientFromMeans(dy, y, dx)
}

// gradientFromMeans computes dx from the means that gradientMeans has computed.
func (n *normaliser) gradientFromMeans(dy, y, dx []float32) error {
	if !n.mpe {
		n.ins, n.outs[0] = [5][]float32{dy, y, n.dyMean, n.dyyMean, n.scale}, dx
		return n.backward.Run(n.ins[:], n.outs[:1])
	}
	for i, g := range dy {
		m := n.mid(i)
		dx[i] = float32((float64(g) - float64(n.dyMean[m]) - float64(n.dyyMean[m])*float64(y[i])) * float64(n.scale[m]))
	}
	return nil
}

func (n *normaliser) gradientMeans(dy, y []float32) error {
	mid := n.dims[1]
	var sums []float64
	if n.mpe {
		sums = pages.Make[float64](2 * mid)
		for i, g := range dy {
			sums[n.mid(i)] += float64(g) * float64(y[i])
			sums[mid+n.mid(i)] += float64(g)
		}
	} else {
		n.ins[0], n.ins[1] = dy, y
		if err := n.gradSums.Run(n.ins[:2], nil); err != nil {
			return err
		}
		sums = n.gradSums.Sums()
	}
	for m := range mid {
		n.dyyMean[m], n.dyMean[m] = float32(sums[m]/n.count()), float32(sums[mid+m]/n.count())
	}
	return nil
}

// fixedGradient computes dx for a constant mean and scale: dx = dy * scale.
func (n *normaliser) fixedGradient(dy, dx []float32) error {
	if !n.mpe {
		n.ins[0], n.ins[1], n.outs[0] = dy, n.scale, dx
		return n.scaling.Run(n.ins[:2], n.outs[:1])
	}
	for i, g := range dy {
		dx[i] = g * n.scale[n.mid(i)]
	}
	return nil
}
