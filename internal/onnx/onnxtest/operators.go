package onnxtest

import (
	"math"
	"slices"
)

var operators map[string]func(c *call)

func init() {
	operators = map[string]func(c *call){
		"Relu": unary(func(x float64) float64 { return max(x, 0) }), "Sigmoid": unary(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
		"Tanh": unary(math.Tanh), "Erf": unary(math.Erf), "Abs": unary(math.Abs), "Exp": unary(math.Exp), "Log": unary(math.Log), "Sqrt": unary(math.Sqrt),
		"Neg": unary(func(x float64) float64 { return -x }), "Softplus": unary(func(x float64) float64 { return math.Log1p(math.Exp(x)) }),
		"Sign": unary(func(x float64) float64 { return truth(x > 0) - truth(x < 0) }), "Floor": unary(math.Floor), "Ceil": unary(math.Ceil), "CumSum": cumSum,
		"Identity": unary(func(x float64) float64 { return x }), "Reciprocal": unary(func(x float64) float64 { return 1 / x }),
		"HardSigmoid": func(c *call) {
			a, b := c.float("alpha", 0.2), c.float("beta", 0.5)
			unary(func(x float64) float64 { return max(0, min(1, a*x+b)) })(c)
		},
		"HardSwish": unary(func(x float64) float64 { return x * max(0, min(1, x/6+0.5)) }),
		"Add":       ofTwo(func(x, y float64) float64 { return x + y }), "Sub": ofTwo(func(x, y float64) float64 { return x - y }),
		"Mul": ofTwo(func(x, y float64) float64 { return x * y }), "Div": ofTwo(func(x, y float64) float64 { return x / y }),
		"Pow": ofTwo(math.Pow), "Mod": ofTwo(math.Mod), "Greater": ofTwo(func(x, y float64) float64 { return truth(x > y) }),
		"Equal":          ofTwo(func(x, y float64) float64 { return truth(x == y) }),
		"GreaterOrEqual": ofTwo(func(x, y float64) float64 { return truth(x >= y) }),
		"GatherND":       gatherND, "ScatterND": scatterND, "NonZero": nonZero, "NonMaxSuppression": nonMaxSuppression,
		"Max": fold(math.Max), "Min": fold(math.Min), "Sum": fold(func(x, y float64) float64 { return x + y }),
		"LeakyRelu": leaky, "Elu": elu, "PRelu": ofTwo(func(x, slope float64) float64 { return max(x, 0) + slope*min(x, 0) }),
		"Clip": clip, "Cast": cast, "Dropout": func(c *call) { c.out[0] = c.in[0] }, "Where": where,
		"Conv": conv, "ConvTranspose": convTranspose, "MaxPool": maxPool, "AveragePool": averagePool,
		"GlobalAveragePool": global(mean), "GlobalMaxPool": global(largest), "LRN": lrn, "BatchNormalization": batchNormalization,
		"Softmax": softmax, "Gemm": gemm, "MatMul": matMul, "Flatten": flatten, "Reshape": reshape, "Transpose": transpose, "Concat": concat,
		"Split": split, "Slice": slice, "Gather": gather, "Unsqueeze": unsqueeze, "Squeeze": squeeze, "Tile": tile, "Shape": shape, "Pad": pad,
		"ConstantOfShape": constantOfShape, "Constant": constant, "ArgMax": argMax, "TopK": topK, "Scan": scan,
		"Resize": resize, "ScatterElements": scatterElements, "MaxRoiPool": maxRoiPool, "RoiAlign": roiAlign,
		"ReduceSum": reduce(func(xs []float64) float64 { return mean(xs) * float64(len(xs)) }), "ReduceMean": reduce(mean), "ReduceMax": reduce(largest),
		"ReduceL1":        reduce(func(xs []float64) float64 { return total(xs, math.Abs) }),
		"ReduceSumSquare": reduce(squares), "ReduceL2": reduce(func(xs []float64) float64 { return math.Sqrt(squares(xs)) }),
		"ReduceMin": reduce(slices.Min[[]float64]),
		"ReduceProd": reduce(func(xs []float64) float64 {
			y := 1.0
			for _, x := range xs {
				y *= x
			}
			return y
		}),
		"ReduceLogSum":    reduce(func(xs []float64) float64 { return math.Log(mean(xs) * float64(len(xs))) }),
		"ReduceLogSumExp": reduce(func(xs []float64) float64 { return math.Log(total(xs, math.Exp)) }),
		"Mean": func(c *call) {
			fold(func(x, y float64) float64 { return x + y })(c)
			for i := range c.out[0].Data {
				c.out[0].Data[i] /= float64(len(c.in))
			}
		},
		"LogSoftmax": func(c *call) {
			softmax(c)
			for i, y := range c.out[0].Data {
				c.out[0].Data[i] = math.Log(y)
			}
		},
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func total(xs []float64, f func(x float64) float64) (sum float64) {
	for _, x := range xs {
		sum += f(x)
	}
	return sum
}

func squares(xs []float64) float64 {
	return total(xs, func(x float64) float64 { return x * x })
}

func mean(xs []float64) float64 {
	return total(xs, func(x float64) float64 { return x }) / float64(len(xs))
}

func largest(xs []float64) float64 {
	m := math.Inf(-1)
	for _, x := range xs {
		m = math.Max(m, x)
	}
	return m
}

func unary(f func(x float64) float64) func(c *call) {
	return func(c *call) {
		y := New(c.in[0].Dims...)
		for i, x := range c.in[0].Data {
			y.Data[i] = f(x)
		}
		c.out[0] = y
	}
}

// broadcast returns the common shape of two: aligned at the end, extents of 1 stretch.
func broadcast(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := append([]int(nil), a...)
	for i, d := range b {
		switch k := len(a) - len(b) + i; {
		case out[k] == 1:
			out[k] = d
		case d != 1 && d != out[k]:
			panic("shapes do not broadcast")
		}
	}
	return out
}

// at returns the value of t at an index of the broadcast shape.
func (t *Tensor) at(index []int) float64 {
	at := 0
	for i, d := range t.Dims {
		at *= d
		if d > 1 {
			at += index[len(index)-len(t.Dims)+i]
		}
	}
	return t.Data[at]
}

// each calls visit for every index of a shape, in order.
func each(dims []int, visit func(n int, index []int)) {
	index := make([]int, len(dims))
	for n := range count(dims) {
		visit(n, index)
		for i := len(dims) - 1; i >= 0; i-- {
			if index[i]++; index[i] < dims[i] {
				break
			}
			index[i] = 0
		}
	}
}

func pair(a, b *Tensor, f func(x, y float64) float64) *Tensor {
	out := New(broadcast(a.Dims, b.Dims)...)
	each(out.Dims, func(n int, index []int) { out.Data[n] = f(a.at(index), b.at(index)) })
	return out
}

func ofTwo(f func(x, y float64) float64) func(c *call) {
	return func(c *call) { c.out[0] = pair(c.in[0], c.in[1], f) }
}

func fold(f func(x, y float64) float64) func(c *call) {
	return func(c *call) {
		y := c.in[0]
		for _, x := range c.in[1:] {
			y = pair(y, x, f)
		}
		c.out[0] = y
	}
}

func leaky(c *call) {
	a := c.float("alpha", 0.01)
	unary(func(x float64) float64 { return max(x, 0) + a*min(x, 0) })(c)
}

func elu(c *call) {
	a := c.float("alpha", 1)
	unary(func(x float64) float64 { return max(x, 0) + a*math.Expm1(min(x, 0)) })(c)
}

func clip(c *call) {
	lo, hi := math.Inf(-1), math.Inf(1)
	if t := c.input(1); t != nil {
		lo = t.Data[0]
	}
	if t := c.input(2); t != nil {
		hi = t.Data[0]
	}
	unary(func(x float64) float64 { return min(max(x, lo), hi) })(c)
}

// cast rounds towards zero for integer types.
func cast(c *call) {
	f := func(x float64) float64 { return x }
	switch c.int("to", 0) {
	case 6, 7:
		f = math.Trunc
	case 9:
		f = func(x float64) float64 { return truth(x != 0) }
	}
	unary(f)(c)
}

// cumSum adds up the values along an axis.
func cumSum(c *call) {
	x := c.in[0]
	axis := axisOf(c.numbers(1)[0], len(x.Dims))
	stride := 1
	for _, d := range x.Dims[axis+1:] {
		stride *= d
	}
	y := New(x.Dims...)
	for i, v := range x.Data {
		if y.Data[i] = v; i/stride%x.Dims[axis] > 0 {
			y.Data[i] += y.Data[i-stride]
		}
	}
	c.out[0] = y
}

func where(c *call) {
	cond, x, y := c.in[0], c.in[1], c.in[2]
	out := New(broadcast(cond.Dims, broadcast(x.Dims, y.Dims))...)
	each(out.Dims, func(n int, index []int) {
		out.Data[n] = y.at(index)
		if cond.at(index) != 0 {
			out.Data[n] = x.at(index)
		}
	})
	c.out[0] = out
}

func softmax(c *call) {
	x := c.in[0]
	axis := axisOf(c.int("axis", -1), len(x.Dims))
	y := New(x.Dims...)
	inner, n := count(x.Dims[axis+1:]), x.Dims[axis]
	for o := range count(x.Dims[:axis]) {
		for i := range inner {
			place := func(k int) int { return (o*n+k)*inner + i }
			m, sum := math.Inf(-1), 0.0
			for k := range n {
				m = math.Max(m, x.Data[place(k)])
			}
			for k := range n {
				y.Data[place(k)] = math.Exp(x.Data[place(k)] - m)
				sum += y.Data[place(k)]
			}
			for k := range n {
				y.Data[place(k)] /= sum
			}
		}
	}
	c.out[0] = y
}

func batchNormalization(c *call) {
	x, y := c.in[0], New(c.in[0].Dims...)
	eps := c.float("epsilon", 1e-5)
	each(x.Dims, func(n int, index []int) {
		k := index[1]
		y.Data[n] = (x.Data[n]-c.in[3].Data[k])/math.Sqrt(c.in[4].Data[k]+eps)*c.in[1].Data[k] + c.in[2].Data[k]
	})
	c.out[0] = y
}

func lrn(c *call) {
	x, y := c.in[0], New(c.in[0].Dims...)
	size, alpha, beta, bias := c.int("size", 0), c.float("alpha", 1e-4), c.float("beta", 0.75), c.float("bias", 1)
	inner := count(x.Dims[2:])
	each(x.Dims, func(n int, index []int) {
		sum := 0.0
		for k := max(0, index[1]-(size-1)/2); k <= min(x.Dims[1]-1, index[1]+size/2); k++ {
			v := x.Data[n+(k-index[1])*inner]
			sum += v * v
		}
		y.Data[n] = x.Data[n] / math.Pow(bias+alpha/float64(size)*sum, beta)
	})
	c.out[0] = y
}

func gemm(c *call) {
	a, b := c.in[0], c.in[1]
	if len(a.Dims) != 2 || len(b.Dims) != 2 {
		panic("Gemm needs two axes")
	}
	if c.int("transA", 0) != 0 {
		a = permute(a, []int{1, 0})
	}
	if c.int("transB", 0) != 0 {
		b = permute(b, []int{1, 0})
	}
	y := product(a, b)
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	for i := range y.Data {
		y.Data[i] *= alpha
	}
	if t := c.input(2); t != nil {
		y = pair(y, t, func(x, t float64) float64 { return x + beta*t })
	}
	c.out[0] = y
}

func product(a, b *Tensor) *Tensor {
	m, k, n := a.Dims[0], a.Dims[1], b.Dims[1]
	if b.Dims[0] != k {
		panic("inner extents differ")
	}
	y := New(m, n)
	for i := range m {
		for j := range n {
			for l := range k {
				y.Data[i*n+j] += a.Data[i*k+l] * b.Data[l*n+j]
			}
		}
	}
	return y
}

// matMul multiplies with a matrix, whatever axes the first factor has before its last, and otherwise matrices in the last two axes.
func matMul(c *call) {
	a, b := c.in[0], c.in[1]
	if len(b.Dims) != 2 {
		c.out[0] = matrices(a, b)
		return
	}
	last := len(a.Dims) - 1
	y := product(&Tensor{[]int{count(a.Dims[:last]), a.Dims[last]}, a.Data}, b)
	y.Dims = append(append([]int(nil), a.Dims[:last]...), b.Dims[1])
	c.out[0] = y
}

// matrices multiplies matrices in the last two axes. A factor of one axis is a row or a column, whose axis the product has not.
func matrices(a, b *Tensor) *Tensor {
	var gone []int
	if len(a.Dims) == 1 {
		a, gone = &Tensor{[]int{1, a.Dims[0]}, a.Data}, append(gone, -2)
	}
	if len(b.Dims) == 1 {
		b, gone = &Tensor{[]int{b.Dims[0], 1}, b.Data}, append(gone, -1)
	}
	m, k, n := a.Dims[len(a.Dims)-2], a.Dims[len(a.Dims)-1], b.Dims[len(b.Dims)-1]
	y := New(append(broadcast(a.Dims[:len(a.Dims)-2], b.Dims[:len(b.Dims)-2]), m, n)...)
	each(y.Dims, func(i int, index []int) {
		row, column := slices.Clone(index), slices.Clone(index)
		for l := range k {
			row[len(row)-1], column[len(column)-2] = l, l
			y.Data[i] += a.at(row) * b.at(column)
		}
	})
	for _, axis := range gone {
		at := len(y.Dims) + axis
		y.Dims = slices.Delete(y.Dims, at, at+1)
	}
	return y
}
