package export

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// innerProduct is Flatten and Gemm, with a Reshape if the top has other than 2 axes.
func innerProduct(l *layer) error {
	p := l.p.GetInnerProductParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	rounded, err := l.quantised(0, l.weights[0].Shape(), p.GetTranspose())
	if err != nil {
		return err
	}
	w := rounded.weights
	if w == "" {
		w = l.weight(0)
	}
	if p.GetNormalize() {
		squares := l.reduce("ReduceSumSquare", w, []int{1}, true)
		w = l.node("Div", []string{w, l.node("Sqrt", []string{l.plus(squares, "least", 1e-6)})})
	}
	y := l.gemm(l.rows(rounded.input(l, l.in[0]), l.bottom[0].NumAxes(), axis), w, l.biasOf(1), !p.GetTranspose())
	top := l.dims(l.top[0])
	l.set(0, l.reshape(y, []dim{product(top[:axis]), top[axis]}, top))
	return nil
}

// rows flattens a value to two axes, unless it has them already.
func (l *layer) rows(v string, axes, axis int) string {
	if axes == 2 && axis == 1 {
		return v
	}
	return l.node("Flatten", []string{v}, attr{"axis", axis})
}

// gemm writes x * w + b, or with transposed weights x * w' + b.
func (l *layer) gemm(x, w, b string, transposed bool) string {
	if transposed {
		return l.node("Gemm", []string{x, w, b}, attr{"transB", 1})
	}
	return l.node("Gemm", []string{x, w, b})
}

func embed(l *layer) error {
	y := l.node("Gather", []string{l.weight(0), l.integers(l.in[0])}, attr{"axis", 0})
	if b := l.biasOf(1); b != "" {
		y = l.node("Add", []string{y, b})
	}
	l.set(0, y)
	return nil
}

// dropout has no effect in inference, unless it does not scale in training. The node keeps the net recognisable.
func dropout(l *layer) error {
	in := []string{l.in[0]}
	if p := l.p.GetDropoutParam(); p != nil && !p.GetScaleTrain() {
		l.set(0, l.node("Mul", append(in, l.add(&constant{name: l.name + "/kept", dims: []int{}, floats: []float32{1 - p.GetDropoutRatio()}}))))
		return nil
	}
	if ratio := l.p.GetDropoutParam().GetDropoutRatio(); ratio != 0.5 {
		in = append(in, l.add(&constant{name: l.name + "/ratio", dims: []int{}, floats: []float32{ratio}}))
	}
	l.set(0, l.node("Dropout", in))
	return nil
}

// dummyData makes constants of constant fillers. Other fillers draw new values in every pass.
func dummyData(l *layer) error {
	p := l.p.GetDummyDataParam()
	var names []string
	for k, top := range l.top {
		f := &caffepb.FillerParameter{}
		if n := len(p.GetDataFiller()); n > 0 {
			f = p.GetDataFiller()[min(k, n-1)]
		}
		if f.GetType() != "constant" {
			return fmt.Errorf("filler %q draws new values in every pass", f.GetType())
		}
		values := slices.Repeat([]float32{f.GetValue()}, top.Count())
		names = append(names, l.array(l.p.GetTop()[k], values, slices.Clone(top.Shape())...))
	}
	l.constants(names...)
	return nil
}

// continuationIndicator makes a constant: zeros for the first time step, then ones.
func continuationIndicator(l *layer) error {
	values := slices.Repeat([]float32{1}, l.top[0].Count())
	clear(values[:l.top[0].Dim(1)])
	l.constants(l.array(l.p.GetTop()[0], values, slices.Clone(l.top[0].Shape())...))
	return nil
}

// concat reads the axis from axis, or from its older name concat_dim.
func concat(l *layer) error {
	p := l.p.GetConcatParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	if p != nil && p.ConcatDim != nil {
		axis = int(p.GetConcatDim())
	}
	l.set(0, l.node("Concat", l.in, attr{"axis", axis}))
	return nil
}

func slice(l *layer) error {
	p := l.p.GetSliceParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	if p != nil && p.SliceDim != nil {
		axis = int(p.GetSliceDim())
	}
	var sizes []int
	for _, top := range l.top {
		sizes = append(sizes, top.Dim(axis))
	}
	for k, v := range l.nodes("Split", len(l.top), []string{l.in[0], l.ints("split", sizes...)}, attr{"axis", axis}) {
		l.set(k, v)
	}
	return nil
}

func eltwise(l *layer) error {
	p := l.p.GetEltwiseParam()
	switch p.GetOperation() {
	case caffepb.EltwiseParameter_MAX:
		l.set(0, l.chain("Max", l.in)) // OpenCV 4.12 reads a Max of three values wrong
	case caffepb.EltwiseParameter_PROD:
		l.set(0, l.chain("Mul", l.in))
	default:
		terms := slices.Clone(l.in)
		for i, c := range p.GetCoeff() {
			terms[i] = l.times(terms[i], fmt.Sprintf("coeff%d", i), c)
		}
		l.set(0, l.chain("Add", terms))
	}
	return nil
}

// chain applies an operator of two inputs from the left.
func (l *layer) chain(op string, in []string) string {
	y := in[0]
	for _, v := range in[1:] {
		y = l.node(op, []string{y, v})
	}
	return y
}

func flatten(l *layer) error {
	p := l.p.GetFlattenParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	end, _ := l.bottom[0].Axis(int(p.GetEndAxis()))
	if axis == 1 && end == l.bottom[0].NumAxes()-1 {
		l.set(0, l.node("Flatten", l.in, attr{"axis", 1}))
		return nil
	}
	return view(l)
}

func view(l *layer) error {
	l.set(0, l.reshape(l.in[0], l.dims(l.bottom[0]), l.dims(l.top[0])))
	return nil
}

// reduction reduces all axes from axis on. They become one before, since OpenCV 4.8 to 4.12 reduce axes 1, 2 and 3 together wrong; the axis stays
// up to the product, which they compute wrong for values of one axis.
func reduction(l *layer) error {
	p, ds := l.p.GetReductionParam(), l.dims(l.bottom[0])
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	from := append(slices.Clone(ds[:axis]), product(ds[axis:]))
	if axis == 0 {
		from = []dim{{n: 1}, product(ds)}
	}
	last := len(from) - 1
	op := map[caffepb.ReductionParameter_ReductionOp]string{
		caffepb.ReductionParameter_SUM: "ReduceSum", caffepb.ReductionParameter_ASUM: "ReduceL1",
		caffepb.ReductionParameter_SUMSQ: "ReduceSumSquare", caffepb.ReductionParameter_MEAN: "ReduceMean",
	}[p.GetOperation()]
	y := l.times(l.reduce(op, l.reshape(l.in[0], ds, from), []int{last}, true), "coeff", p.GetCoeff())
	from[last] = dim{n: 1}
	l.set(0, l.reshape(y, from, l.dims(l.top[0])))
	return nil
}

func tile(l *layer) error {
	p := l.p.GetTileParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	l.set(0, l.repeat(l.in[0], int(p.GetTiles()), axis))
	return nil
}

// repeat puts n copies of a value one behind another. It is a Concat, since OpenCV 4.8 to 4.12 compute a Tile of any axis but the first wrong.
func (l *layer) repeat(v string, n, axis int) string {
	return l.node("Concat", slices.Repeat([]string{v}, n), attr{"axis", axis})
}

func batchReindex(l *layer) error {
	l.set(0, l.node("Gather", []string{l.in[0], l.integers(l.in[1])}, attr{"axis", 0}))
	return nil
}
