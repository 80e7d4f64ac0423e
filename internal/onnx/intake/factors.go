package intake

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// maxTerms bounds the products that a product of two computed matrices keeps in a blob.
const maxTerms = 1 << 25

// swapped exchanges the last two axes.
func (c chain) swapped(v *value) *value {
	n := len(v.shape)
	return c.permuted(v, moved(n, n-1, n-2)...)
}

// factors multiplies matrices in the last two axes; the others are repeated. No layer of Caffe multiplies two bottoms as matrices, so all rows of a
// meet all columns of b in Tile layers, and a Reduction sums their products.
func (c chain) factors(a, b *value) *value {
	axes := max(len(a.shape), len(b.shape))
	batch := must(spreadShape(a.shape[:len(a.shape)-2], b.shape[:len(b.shape)-2]))
	rows, inner, columns := a.shape[len(a.shape)-2], a.shape[len(a.shape)-1], b.shape[len(b.shape)-1]
	if b.shape[len(b.shape)-2] != inner {
		c.refuse("factors of shapes %v and %v", a.shape, b.shape)
	}
	if terms := float64(count(batch)) * float64(rows) * float64(inner) * float64(columns); terms > maxTerms {
		c.refuse("factors of shapes %v and %v, both computed: no layer of Caffe multiplies them, and a sum of products would keep %.0f values, more than %d", a.shape, b.shape, terms, maxTerms)
	}
	a = c.spread(a, slices.Concat(batch, []int{rows, inner}))
	b = c.spread(c.swapped(b), slices.Concat(batch, []int{columns, inner}))
	a = c.tiled(c.shaped(a, slices.Concat(batch, []int{rows, 1, inner})...), axes-1, columns)
	b = c.tiled(c.shaped(b, slices.Concat(batch, []int{1, columns, inner})...), axes-2, rows)
	return c.reduction(caffepb.ReductionParameter_SUM, c.product(a, b), axes, 1)
}

// matMul is an InnerProduct if one factor is a constant matrix. A factor of one axis is a row or a column, whose axis the result has not.
var matMul = composed(func(c chain) *value {
	first, second := must(c.operand(0)), must(c.operand(1))
	left, right := first.dims(), second.dims()
	if len(left) == 0 || len(right) == 0 {
		c.refuse("factors of shapes %v and %v", left, right)
	}
	out := must(spreadShape(left[:max(0, len(left)-2)], right[:max(0, len(right)-2)]))
	if len(left) > 1 {
		out = append(out, left[len(left)-2])
	}
	if len(right) > 1 {
		out = append(out, right[len(right)-1])
	}
	matrix := func(v *value) bool { return v.constant != nil && v.constant.Floats != nil && len(v.constant.Dims) == 2 }
	switch {
	case matrix(second) && len(left) > 1:
		v := must(c.plain(0))
		if right[0] != left[len(left)-1] {
			c.refuse("factors of shapes %v and %v", left, right)
		}
		must(0, c.innerProduct(v, second.constant, nil, len(left)-1, true))
		return c.values[c.GetOutput()[0]]
	case matrix(first) && len(right) > 1:
		if left[1] != right[len(right)-2] {
			c.refuse("factors of shapes %v and %v", left, right)
		}
		return c.swapped(c.matrix(c.swapped(must(c.plain(1))), first.constant))
	}
	a, b := must(c.plain(0)), must(c.plain(1))
	if len(left) == 1 {
		a = c.shaped(a, 1, left[0])
	}
	if len(right) == 1 {
		b = c.shaped(b, right[0], 1)
	}
	return c.shaped(c.factors(a, b), out...)
})

// computedGemm is a Gemm that no InnerProduct says: its second factor or its bias is computed, its first is transposed, or its bias has rows.
var computedGemm = composed(func(c chain) *value {
	a, b := must(c.plain(0)), must(c.plain(1))
	if len(a.shape) != 2 || len(b.shape) != 2 {
		c.refuse("factors of shapes %v and %v", a.shape, b.shape)
	}
	if c.int("transA", 0) != 0 {
		a = c.swapped(a)
	}
	var y *value
	if t := must(c.operand(1)).constant; t != nil {
		if c.int("transB", 0) == 0 {
			t = transposed(t, []int{1, 0})
		}
		if t.Dims[1] != a.shape[1] {
			c.refuse("factors of shapes %v and %v", a.shape, b.shape)
		}
		y = c.matrix(a, t)
	} else if c.int("transB", 0) != 0 {
		y = c.factors(a, c.swapped(b))
	} else {
		y = c.factors(a, b)
	}
	if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.power(y, 1, alpha, 0)
	}
	beta := c.float("beta", 1)
	if len(c.GetInput()) < 3 || c.GetInput()[2] == "" {
		return y
	}
	bias := must(c.plain(2))
	if dims, err := spreadShape(bias.shape, y.shape); err != nil || !slices.Equal(dims, y.shape) {
		c.refuse("a bias of shape %v for outputs of shape %v", bias.shape, y.shape)
	}
	return c.total([]float32{1, beta}, y, c.spread(bias, y.shape))
})

// isComputed reports whether a Gemm needs computedGemm.
func (n *node) isComputed() bool {
	constant := func(k int) *onnx.Tensor {
		if k < len(n.GetInput()) && n.values[n.GetInput()[k]] != nil {
			return n.values[n.GetInput()[k]].constant
		}
		return nil
	}
	given := len(n.GetInput()) > 2 && n.GetInput()[2] != ""
	bias := constant(2)
	rows := bias != nil && bias.Count() > 1 && (len(bias.Dims) == 2 && bias.Dims[0] > 1 || len(bias.Dims) > 2)
	return constant(1) == nil || n.int("transA", 0) != 0 || given && (bias == nil || rows)
}
