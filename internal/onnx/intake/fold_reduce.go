package intake

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/onnx"
)

// reduced is a reduction of constants: add takes a value to what is there, which is start at first; end finishes a sum of count values. addInts does the
// same with integers; nil: integers are not folded.
type reduced struct {
	start   float64
	add     func(sum, x float64) float64
	end     func(sum, count float64) float64
	first   int64
	addInts func(sum, x int64) int64
	// values says that there is no result of no values; alone, that one value is its own result.
	values, alone bool
}

// reductions are the reductions by operator.
var reductions = map[string]reduced{
	"ReduceSum": {add: sumOf, addInts: func(sum, x int64) int64 { return sum + x }, alone: true},
	"ReduceMean": {add: sumOf, end: func(sum, count float64) float64 { return sum / count },
		values: true, alone: true},
	"ReduceMax": {start: math.Inf(-1), add: math.Max, first: math.MinInt64, addInts: func(most, x int64) int64 { return max(most, x) },
		values: true, alone: true},
	"ReduceMin": {start: math.Inf(1), add: math.Min, first: math.MaxInt64, addInts: func(least, x int64) int64 { return min(least, x) },
		values: true, alone: true},
	"ReduceProd": {start: 1, add: func(product, x float64) float64 { return product * x }, first: 1, addInts: func(product, x int64) int64 { return product * x },
		alone: true},
	"ReduceL1":        {add: func(sum, x float64) float64 { return sum + math.Abs(x) }, addInts: func(sum, x int64) int64 { return sum + max(x, -x) }},
	"ReduceSumSquare": {add: sumOfSquares, addInts: func(sum, x int64) int64 { return sum + x*x }},
	"ReduceL2":        {add: sumOfSquares, end: func(sum, _ float64) float64 { return math.Sqrt(sum) }},
	"ReduceLogSum":    {add: sumOf, end: func(sum, _ float64) float64 { return math.Log(sum) }},
	"ReduceLogSumExp": {start: math.Inf(-1), add: logOfSum, alone: true},
}

func sumOf(sum, x float64) float64 { return sum + x }

func sumOfSquares(sum, x float64) float64 { return sum + x*x }

// logOfSum is log(exp a + exp b), also where exp of a or b is infinite.
func logOfSum(a, b float64) float64 {
	most := math.Max(a, b)
	if math.IsInf(most, 0) {
		return most
	}
	return most + math.Log1p(math.Exp(math.Min(a, b)-most))
}

// reduceConstant computes a reduction along the axes of an attribute or of input 1, along all if there are none.
func reduceConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	r, t := reductions[n.GetOpType()], in[0]
	if t.Ints != nil && r.addInts == nil || r.values && t.Count() == 0 {
		return nil, nil
	}
	axes, err := n.list("axes", 1)
	if err != nil {
		return nil, err
	}
	if noop := n.int("noop_with_empty_axes", 0) != 0; noop && len(axes) == 0 {
		if r.alone {
			return t, nil
		}
		return nil, nil // releases of ONNX differ about it
	}
	gone := make([]bool, len(t.Dims))
	for i := range gone {
		gone[i] = len(axes) == 0
	}
	for _, axis := range axes {
		if axis, err = axisOf(axis, len(gone)); err != nil {
			return nil, err
		}
		gone[axis] = true
	}
	g, err := grouped(t.Dims, gone)
	if err != nil {
		return nil, err
	}
	out := &onnx.Tensor{Dims: g.dims}
	if n.int("keepdims", 1) == 0 {
		out.Dims = g.kept
	}
	if t.Ints != nil {
		out.Ints = g.ofInts(t.Ints, r)
		for i, v := range out.Ints {
			out.Ints[i] = narrowed(v, n.types[n.GetInput()[0]])
		}
		return out, nil
	}
	out.Floats = narrow(g.reduce(t.Floats, r))
	return out, nil
}

// groups are the values of a constant that agree in their places along the axes that stay.
type groups struct {
	dims, kept  []int // the shape with an extent of 1 for axes that go, and without these
	from        []int // the constant's shape
	step        []int // from a group to the next along an axis; 0 if the axis goes
	count, size int   // groups, and values of each
}

func grouped(dims []int, gone []bool) (*groups, error) {
	g := &groups{from: dims, dims: make([]int, len(dims)), kept: []int{}, step: make([]int, len(dims)), size: 1}
	for axis, d := range dims {
		if g.dims[axis] = d; gone[axis] {
			g.dims[axis] = 1
			g.size *= d
		} else {
			g.kept = append(g.kept, d)
		}
	}
	var err error
	if g.count, err = foldedSize(g.dims); err != nil {
		return nil, err
	}
	for axis, step := len(dims)-1, 1; axis >= 0; axis-- {
		if !gone[axis] {
			g.step[axis] = step
			step *= dims[axis]
		}
	}
	return g, nil
}

// each calls visit for every value in order, with the number of its group.
func (g *groups) each(visit func(i, group int)) {
	at, group := make([]int, len(g.from)), 0
	for i := range count(g.from) {
		visit(i, group)
		for axis := len(at) - 1; axis >= 0; axis-- {
			group += g.step[axis]
			if at[axis]++; at[axis] < g.from[axis] {
				break
			}
			group -= g.step[axis] * at[axis]
			at[axis] = 0
		}
	}
}

// reduce returns a result for each group.
func (g *groups) reduce(values []float32, r reduced) []float64 {
	sums := make([]float64, g.count)
	for i := range sums {
		sums[i] = r.start
	}
	g.each(func(i, group int) { sums[group] = r.add(sums[group], float64(values[i])) })
	if r.end != nil {
		for i, sum := range sums {
			sums[i] = r.end(sum, float64(g.size))
		}
	}
	return sums
}

func (g *groups) ofInts(values []int64, r reduced) []int64 {
	sums := make([]int64, g.count)
	for i := range sums {
		sums[i] = r.first
	}
	g.each(func(i, group int) { sums[group] = r.addInts(sums[group], values[i]) })
	return sums
}

func narrow(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// softmaxConstant is Softmax and LogSoftmax: along one axis since opset 13, before along all from one on.
func softmaxConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t, missing := in[0], -1
	if n.opset < 13 {
		missing = 1
	}
	if t.Ints != nil || t.Count() == 0 {
		return nil, nil
	}
	axis, err := axisOf(n.int("axis", missing), len(t.Dims))
	if err != nil {
		return nil, err
	}
	gone := make([]bool, len(t.Dims))
	for i := range gone {
		gone[i] = i == axis || n.opset < 13 && i > axis
	}
	g, err := grouped(t.Dims, gone)
	if err != nil {
		return nil, fmt.Errorf("along axis %d: %w", axis, err)
	}
	logs := g.reduce(t.Floats, reductions["ReduceLogSumExp"])
	out := &onnx.Tensor{Dims: t.Dims, Floats: make([]float32, len(t.Floats))}
	g.each(func(i, group int) {
		y := float64(t.Floats[i]) - logs[group]
		if n.GetOpType() == "Softmax" {
			y = math.Exp(y)
		}
		out.Floats[i] = float32(y)
	})
	return out, nil
}
