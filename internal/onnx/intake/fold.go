package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// folding computes a node of constants. nil means that a case is not folded.
type folding func(n *node, in []*onnx.Tensor) (*onnx.Tensor, error)

// maxFolded bounds the values of a constant that is computed.
const maxFolded = 1 << 26

// foldedSize is the number of values of a shape, an error if they are more than maxFolded.
func foldedSize(dims []int) (int, error) {
	size := 1
	for _, d := range dims {
		if size *= d; d < 0 || size > maxFolded {
			return 0, fmt.Errorf("a constant of shape %v", dims)
		}
	}
	return size, nil
}

// withPlaces makes a constant of values of t: place gives the one for each place of the result.
func withPlaces(t *onnx.Tensor, dims []int, place func(at []int) int) (*onnx.Tensor, error) {
	size, err := foldedSize(dims)
	if err != nil {
		return nil, err
	}
	places, at := make([]int, size), make([]int, len(dims))
	for i := range places {
		rest := i
		for k := len(dims) - 1; k >= 0; k-- {
			at[k] = rest % dims[k]
			rest /= dims[k]
		}
		places[i] = place(at)
	}
	return pick(t, dims, places), nil
}

// offset is the place of a value in memory.
func offset(dims, at []int) (o int) {
	for k, d := range dims {
		o = o*d + at[k]
	}
	return o
}

func gatherConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 2 {
		return nil, nil
	}
	t, index := in[0], in[1]
	axis, err := axisOf(n.int("axis", 0), len(t.Dims))
	if err != nil {
		return nil, err
	}
	indices, err := places(index, t.Dims[axis])
	if err != nil {
		return nil, err
	}
	end := axis + len(index.Dims)
	return withPlaces(t, slices.Concat(t.Dims[:axis], index.Dims, t.Dims[axis+1:]), func(at []int) int {
		return offset(t.Dims, slices.Concat(at[:axis], []int{indices[offset(index.Dims, at[axis:end])]}, at[end:]))
	})
}

func sliceConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := in[0]
	cuts, err := n.cuts(t.Dims)
	if err != nil {
		return nil, err
	}
	dims, from, step := slices.Clone(t.Dims), make([]int, len(t.Dims)), slices.Repeat([]int{1}, len(t.Dims))
	for _, c := range cuts {
		dims[c.axis], from[c.axis], step[c.axis] = c.count, c.from, c.step
	}
	source := make([]int, len(dims))
	return withPlaces(t, dims, func(at []int) int {
		for i := range at {
			source[i] = from[i] + at[i]*step[i]
		}
		return offset(t.Dims, source)
	})
}

func concatConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	axis, err := axisOf(n.int("axis", 1), len(in[0].Dims))
	if err != nil {
		return nil, err
	}
	all, total := &onnx.Tensor{}, 0
	var ends []int
	for _, t := range in {
		if (t.Ints == nil) != (in[0].Ints == nil) || len(t.Dims) != len(in[0].Dims) {
			return nil, nil
		}
		for i, d := range t.Dims {
			if i != axis && d != in[0].Dims[i] {
				return nil, fmt.Errorf("constants of shapes %v and %v along axis %d", in[0].Dims, t.Dims, axis)
			}
		}
		all.Ints, all.Floats, total = append(all.Ints, t.Ints...), append(all.Floats, t.Floats...), total+t.Dims[axis]
		ends = append(ends, total)
	}
	if in[0].Ints != nil && all.Ints == nil {
		all.Ints = []int64{}
	}
	dims := slices.Clone(in[0].Dims)
	dims[axis] = total
	outer := count(dims[:axis])
	inner := count(dims[axis+1:])
	return withPlaces(all, dims, func(at []int) int {
		k, _ := slices.BinarySearch(ends, at[axis]+1)
		begin := ends[k] - in[k].Dims[axis]
		return outer*begin*inner + (offset(dims[:axis], at[:axis])*in[k].Dims[axis]+at[axis]-begin)*inner + offset(dims[axis+1:], at[axis+1:])
	})
}

func constantOfShape(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if in[0].Ints == nil || len(in[0].Dims) != 1 {
		return nil, nil
	}
	fill := &onnx.Tensor{Floats: []float32{0}}
	if a := n.attr("value"); a != nil {
		var err error
		if fill, err = onnx.Decode(a.GetT()); err != nil {
			return nil, err
		}
		if fill.Count() != 1 {
			return nil, fmt.Errorf("a value of shape %v", fill.Dims)
		}
	}
	return withPlaces(fill, whole(in[0].Ints), func([]int) int { return 0 })
}

// spreadConstant repeats extents of 1.
func spreadConstant(t *onnx.Tensor, dims []int) (*onnx.Tensor, error) {
	if slices.Equal(t.Dims, dims) {
		return t, nil
	}
	missing, source := len(dims)-len(t.Dims), make([]int, len(t.Dims))
	return withPlaces(t, dims, func(at []int) int {
		for i, d := range t.Dims {
			source[i] = min(at[missing+i], d-1)
		}
		return offset(t.Dims, source)
	})
}

func expandConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 2 || in[1].Ints == nil {
		return nil, nil
	}
	dims, err := spreadShape(in[0].Dims, whole(in[1].Ints))
	if err != nil {
		return nil, err
	}
	return spreadConstant(in[0], dims)
}

func tileConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 2 || len(in[1].Ints) != len(in[0].Dims) {
		return nil, nil
	}
	dims, source := slices.Clone(in[0].Dims), make([]int, len(in[0].Dims))
	for i, r := range whole(in[1].Ints) {
		dims[i] *= r
	}
	return withPlaces(in[0], dims, func(at []int) int {
		for i, d := range in[0].Dims {
			source[i] = at[i] % d
		}
		return offset(in[0].Dims, source)
	})
}

// binary computes with two constants of integers or of floats, with extents of 1 repeated.
func binary(ints func(a, b int64) (int64, bool), reals func(a, b float32) float32) folding {
	return func(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
		if len(in) != 2 || (in[0].Ints == nil) != (in[1].Ints == nil) || in[0].Ints != nil && ints == nil || in[0].Ints == nil && reals == nil {
			return nil, nil
		}
		dims, err := spreadShape(in[0].Dims, in[1].Dims)
		if err != nil {
			return nil, err
		}
		a, err := spreadConstant(in[0], dims)
		if err != nil {
			return nil, err
		}
		b, err := spreadConstant(in[1], dims)
		if err != nil {
			return nil, err
		}
		out := &onnx.Tensor{Dims: dims}
		if a.Ints == nil {
			out.Floats = make([]float32, len(a.Floats))
			for i := range out.Floats {
				out.Floats[i] = reals(a.Floats[i], b.Floats[i])
			}
			return out, nil
		}
		out.Ints = make([]int64, len(a.Ints))
		for i := range out.Ints {
			var ok bool
			if out.Ints[i], ok = ints(a.Ints[i], b.Ints[i]); !ok {
				return nil, fmt.Errorf("%d by %d has no result", a.Ints[i], b.Ints[i])
			}
		}
		return out, nil
	}
}

func total(f func(a, b int64) int64) func(a, b int64) (int64, bool) {
	return func(a, b int64) (int64, bool) { return f(a, b), true }
}

func quotient(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	return a / b, true
}

func equal(a, b int64) int64 {
	if a == b {
		return 1
	}
	return 0
}

// unary computes each value of a constant of floats; of integers if it has a function for them.
func unary(ints func(a int64) int64, reals func(a float64) float64) folding {
	return func(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
		out := &onnx.Tensor{Dims: in[0].Dims}
		switch {
		case len(in) != 1 || in[0].Ints != nil && ints == nil:
			return nil, nil
		case in[0].Ints != nil:
			out.Ints = make([]int64, len(in[0].Ints))
			for i, v := range in[0].Ints {
				out.Ints[i] = ints(v)
			}
		default:
			out.Floats = make([]float32, len(in[0].Floats))
			for i, v := range in[0].Floats {
				out.Floats[i] = float32(reals(float64(v)))
			}
		}
		return out, nil
	}
}

// whereConstant chooses by truth values, which are integers here.
func whereConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 3 || in[0].Ints == nil || (in[1].Ints == nil) != (in[2].Ints == nil) {
		return nil, nil
	}
	dims, err := spreadShape(in[0].Dims, in[1].Dims, in[2].Dims)
	if err != nil {
		return nil, err
	}
	var t [3]*onnx.Tensor
	for k := range t {
		if t[k], err = spreadConstant(in[k], dims); err != nil {
			return nil, err
		}
	}
	n := count(dims)
	both := &onnx.Tensor{Floats: slices.Concat(t[1].Floats, t[2].Floats)}
	if t[1].Ints != nil {
		both.Ints = append(slices.Concat(t[1].Ints, t[2].Ints), 0)[:2*n]
	}
	return withPlaces(both, dims, func(at []int) int {
		if i := offset(dims, at); t[0].Ints[i] != 0 {
			return i
		}
		return n + offset(dims, at)
	})
}

// rangeConstant counts integers.
func rangeConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) != 3 || len(in[0].Ints) != 1 || len(in[1].Ints) != 1 || len(in[2].Ints) != 1 || in[2].Ints[0] == 0 {
		return nil, nil
	}
	from, to, step := in[0].Ints[0], in[1].Ints[0], in[2].Ints[0]
	n := max(0, int(math.Ceil(float64(to-from)/float64(step))))
	if n > maxFolded {
		return nil, fmt.Errorf("a constant of %d values", n)
	}
	out := &onnx.Tensor{Dims: []int{n}, Ints: make([]int64, n)}
	for i := range out.Ints {
		out.Ints[i] = from + int64(i)*step
	}
	return out, nil
}

// foldSize is the number of values, which the shape of a value says.
func (n *node) foldSize() error {
	v, err := n.operand(0)
	if err != nil {
		return err
	}
	n.set(0, &value{constant: &onnx.Tensor{Dims: []int{}, Ints: []int64{int64(count(v.dims()))}}})
	return nil
}

// unfolded names the node that reads only constants and makes no constant, if a value depends on nothing else; "" if it depends on an input. known has the
// answers for other values.
func (t *translator) unfolded(name string, known map[string]string) (by string) {
	nodes := t.model.GetGraph().GetNode()
	at := slices.IndexFunc(nodes, func(p *onnxpb.NodeProto) bool { return slices.Contains(p.GetOutput(), name) })
	if at < 0 {
		return ""
	}
	for _, in := range nodes[at].GetInput() {
		if v := t.values[in]; in == "" || v != nil && v.constant != nil {
			continue
		}
		before, ok := known[in]
		if !ok {
			before = t.unfolded(in, known)
		}
		if before == "" {
			return ""
		}
		by = before
	}
	if by == "" {
		by = fmt.Sprintf("node %d, %q (%s)", at, nodes[at].GetName(), nodes[at].GetOpType())
	}
	known[name] = by
	return by
}
