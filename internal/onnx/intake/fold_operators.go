package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
)

// maxProducts bounds the multiplications of a product of constant matrices, which takes a few seconds.
const maxProducts = 1 << 32

// matMulConstant multiplies matrices in the last two axes; the others are repeated. A factor of one axis is a row or a column, whose axis the result
// has not.
func matMulConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 2 || in[0].Ints != nil || in[1].Ints != nil || len(in[0].Dims) == 0 || len(in[1].Dims) == 0 {
		return nil, nil
	}
	left, right := in[0].Dims, in[1].Dims
	if len(left) == 1 {
		left = []int{1, left[0]}
	}
	if len(right) == 1 {
		right = []int{right[0], 1}
	}
	rows, inner, columns := left[len(left)-2], left[len(left)-1], right[len(right)-1]
	if right[len(right)-2] != inner {
		return nil, nil // the operator's rule refuses it
	}
	batch, err := spreadShape(left[:len(left)-2], right[:len(right)-2])
	if err != nil {
		return nil, err
	}
	size, err := foldedSize(slices.Concat(batch, []int{rows, columns}))
	if err != nil {
		return nil, err
	}
	if float64(size)*float64(inner) > maxProducts {
		return nil, nil
	}
	out := &onnx.Tensor{Dims: batch, Floats: make([]float32, size)}
	for k := range count(batch) {
		a := in[0].Floats[factor(k, batch, left)*rows*inner:][:rows*inner]
		b := in[1].Floats[factor(k, batch, right)*inner*columns:][:inner*columns]
		multiply(out.Floats[k*rows*columns:][:rows*columns], a, b, inner, columns)
	}
	if len(in[0].Dims) > 1 {
		out.Dims = append(out.Dims, rows)
	}
	if len(in[1].Dims) > 1 {
		out.Dims = append(out.Dims, columns)
	}
	return out, nil
}

// factor is the matrix of shape dims that takes part in product k of a batch.
func factor(k int, batch, dims []int) (at int) {
	own, step := dims[:len(dims)-2], 1
	for axis := len(batch) - 1; axis >= 0; axis-- {
		i := k % batch[axis]
		k /= batch[axis]
		if j := axis - len(batch) + len(own); j >= 0 {
			at += min(i, own[j]-1) * step
			step *= own[j]
		}
	}
	return at
}

// multiply sets y to the product of a, whose rows have inner values, and b. It sums in double precision.
func multiply(y, a, b []float32, inner, columns int) {
	sums := make([]float64, columns)
	for first := 0; first < len(y); first += columns {
		clear(sums)
		row := a[first/columns*inner:][:inner]
		for l, x := range row {
			for j, v := range b[l*columns:][:columns] {
				sums[j] += float64(x) * float64(v)
			}
		}
		copy(y[first:], narrow(sums))
	}
}

// foldSplit cuts a constant into parts.
func (n *node) foldSplit(t *onnx.Tensor) error {
	axis, sizes, err := n.splitSizes(t.Dims)
	if err != nil {
		return err
	}
	first := 0
	for k, size := range sizes {
		dims := slices.Clone(t.Dims)
		dims[axis] = size
		source := make([]int, len(dims))
		part, err := withPlaces(t, dims, func(at []int) int {
			copy(source, at)
			source[axis] += first
			return offset(t.Dims, source)
		})
		if err != nil {
			return err
		}
		n.set(k, &value{constant: part})
		first += size
	}
	return nil
}

// clipConstant bounds values by attributes or by inputs 1 and 2, which are nil if they are left out. Of crossed bounds the maximum holds.
func clipConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	bounds := [2]*onnx.Tensor{floats([]float32{n.float("min", float32(math.Inf(-1)))}), floats([]float32{n.float("max", float32(math.Inf(1)))})}
	if in[0].Ints != nil {
		bounds = [2]*onnx.Tensor{{Ints: []int64{math.MinInt64}}, {Ints: []int64{math.MaxInt64}}}
	}
	for k, bound := range in[1:] {
		switch {
		case k > 1 || bound != nil && (bound.Count() != 1 || (bound.Ints == nil) != (in[0].Ints == nil)):
			return nil, nil
		case bound != nil:
			bounds[k] = bound
		}
	}
	lo, hi := bounds[0], bounds[1]
	return unary(func(v int64) int64 { return min(max(v, lo.Ints[0]), hi.Ints[0]) },
		func(v float64) float64 { return min(max(v, float64(lo.Floats[0])), float64(hi.Floats[0])) })(n, in[:1])
}

// belowZero computes negative values by an attribute alpha. Others stay.
func belowZero(alpha float32, f func(v, alpha float64) float64) folding {
	return func(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
		a := float64(n.float("alpha", alpha))
		return unary(nil, func(v float64) float64 {
			if v < 0 {
				return f(v, a)
			}
			return v
		})(n, in)
	}
}

func flattenConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := in[0]
	axis, err := n.flatAxis(len(t.Dims))
	if err != nil {
		return nil, err
	}
	return &onnx.Tensor{Dims: []int{count(t.Dims[:axis]), count(t.Dims[axis:])}, Floats: t.Floats, Ints: t.Ints}, nil
}

// gemmConstant is a product of matrices, and a constant that is repeated to its shape.
func gemmConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	alpha, beta := float64(n.float("alpha", 1)), float64(n.float("beta", 1))
	if len(in) < 2 || len(in[0].Dims) != 2 || len(in[1].Dims) != 2 {
		return nil, nil
	}
	factors := slices.Clone(in[:2])
	for k, name := range []string{"transA", "transB"} {
		if n.int(name, 0) != 0 {
			factors[k] = transposed(in[k], []int{1, 0})
		}
	}
	t, err := matMulConstant(n, factors)
	if t == nil || err != nil {
		return nil, err
	}
	times := func(t *onnx.Tensor, by float64) (*onnx.Tensor, error) {
		return unary(nil, func(v float64) float64 { return v * by })(n, []*onnx.Tensor{t})
	}
	if t, err = times(t, alpha); err != nil || len(in) < 3 || in[2] == nil {
		return t, err
	}
	c, err := times(in[2], beta)
	if c == nil || err != nil {
		return nil, err
	}
	if dims, err := spreadShape(t.Dims, c.Dims); err != nil || !slices.Equal(dims, t.Dims) {
		return nil, err
	}
	return binary(nil, func(a, b float32) float32 { return a + b })(n, []*onnx.Tensor{t, c})
}

// padConstant puts a value, or values of the constant by the mode, around a constant, or cuts off.
func padConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t, mode, axes := in[0], n.text("mode", "constant"), len(in[0].Dims)
	pads, err := n.padding(axes)
	if err != nil {
		return nil, err
	}
	if len(pads) != 2*axes {
		return nil, fmt.Errorf("pads %v for a constant of shape %v", pads, t.Dims)
	}
	all := &onnx.Tensor{Floats: append(slices.Clone(t.Floats), n.float("value", 0))}
	if t.Ints != nil {
		all = &onnx.Tensor{Ints: append(slices.Clone(t.Ints), 0)}
	}
	if len(in) > 2 && in[2] != nil {
		fill := in[2]
		if fill.Count() != 1 || (fill.Ints == nil) != (t.Ints == nil) {
			return nil, fmt.Errorf("a value of shape %v", fill.Dims)
		}
		if t.Ints != nil {
			all.Ints[t.Count()] = fill.Ints[0]
		} else {
			all.Floats[t.Count()] = fill.Floats[0]
		}
	}
	dims, source := slices.Clone(t.Dims), make([]int, axes)
	for i, size := range t.Dims {
		before, behind := pads[i], pads[axes+i]
		most := map[string]int{"constant": maxFolded, "edge": maxFolded, "reflect": size - 1, "wrap": size}[mode]
		if mode != "constant" && min(before, behind) < 0 || max(before, behind) > most || size == 0 {
			return nil, nil // the operator's rule cuts, or refuses it
		}
		dims[i] += before + behind
	}
	return withPlaces(all, dims, func(at []int) int {
		for i, size := range t.Dims {
			k := at[i] - pads[i]
			switch {
			case k >= 0 && k < size:
			case mode == "edge":
				k = min(max(k, 0), size-1)
			case mode == "reflect" && k < 0:
				k = -k
			case mode == "reflect":
				k = 2*(size-1) - k
			case mode == "wrap":
				k = (k + size) % size
			default:
				return t.Count()
			}
			source[i] = k
		}
		return offset(t.Dims, source)
	})
}

// variadic joins any number of constants by a folding of two.
func variadic(two folding) folding {
	return func(n *node, in []*onnx.Tensor) (t *onnx.Tensor, err error) {
		t = in[0]
		for _, next := range in[1:] {
			if t, err = two(n, []*onnx.Tensor{t, next}); t == nil || err != nil {
				return nil, err
			}
		}
		return t, nil
	}
}

// meanConstant is the mean of constants of floats, element by element.
func meanConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t, err := variadic(binary(nil, func(a, b float32) float32 { return a + b }))(n, in)
	if t == nil || err != nil {
		return nil, err
	}
	return unary(nil, func(sum float64) float64 { return sum / float64(len(in)) })(n, []*onnx.Tensor{t})
}

// batchNormalizationConstant normalises channels, which are axis 1, by constant means and variances.
func batchNormalizationConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := in[0]
	if len(in) != 5 || len(t.Dims) < 2 || n.int("training_mode", 0) != 0 || n.int("spatial", 1) != 1 {
		return nil, nil
	}
	for k, c := range in {
		if c.Ints != nil || k > 0 && c.Count() != t.Dims[1] {
			return nil, nil
		}
	}
	eps := float64(n.float("epsilon", 1e-5))
	out := &onnx.Tensor{Dims: t.Dims, Floats: make([]float32, len(t.Floats))}
	inner := count(t.Dims[2:])
	for i, x := range t.Floats {
		c := i / inner % t.Dims[1]
		scale := float64(in[1].Floats[c]) / math.Sqrt(float64(in[4].Floats[c])+eps)
		out.Floats[i] = float32((float64(x)-float64(in[3].Floats[c]))*scale + float64(in[2].Floats[c]))
	}
	return out, nil
}

// softplus is log(1 + exp x), also where exp x is infinite.
func softplus(x float64) float64 { return logOfSum(0, x) }

// signum is NaN for NaN.
func signum(x float64) float64 {
	if x == 0 || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}
