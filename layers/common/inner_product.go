package common

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "InnerProduct", Doc: "y = W x + b, the axes from axis on taken as one vector", Precisions: cpe.Precisions,
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetInnerProductParam().GetAxis() }, "has weights for every item of the batch"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &innerProduct{Base: layers.Base{Param: p, Device: d}, m: -1}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), Effects: scalesWeights,
	})
}

// innerProduct is Caffe's InnerProduct layer: it maps M items of K values to N outputs. Weights are N x K, or K x N if transpose is set. With
// normalize, of forks for faces, Forward first divides the N rows by their lengths; the weights' gradient does not go through the division.
type innerProduct struct {
	layers.Base
	axis, m, n, k int
	transpose     bool
	bias          bool
	units         *unitRows // for normalize
	inference     bool      // Arranged.Inference
	topShape      []int

	forward, input gemm.Kernel
	weights        *gemm.Blocked
	biasGrad       part.BiasGrad
	fixed          part.Fixed // what Forward multiplies with
	steps          part.Steps
	scales         *quant.Scales // of Forward in INT8, else nil
}

func (l *innerProduct) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetInnerProductParam()
	axis, err := part.AxisOf(bottom[0], int(p.GetAxis()))
	if err != nil {
		return err
	}
	l.axis, l.n, l.k = axis, int(p.GetNumOutput()), bottom[0].CountFrom(axis)
	l.transpose, l.bias = p.GetTranspose(), p.GetBiasTerm()
	if l.n < 1 {
		return fmt.Errorf("num_output must be positive, it is %d", l.n)
	}
	shape := []int{l.n, l.k}
	if l.transpose {
		shape = []int{l.k, l.n}
	}
	if err := l.AddWeight(p.GetWeightFiller(), shape...); err != nil {
		return err
	}
	if l.scales, err = part.ReadScales(&l.Base, l.Param.GetQuantizationParam(), l.n, l.k); err != nil {
		return err
	}
	if l.bias {
		if err := l.AddWeight(p.GetBiasFiller(), l.n); err != nil {
			return err
		}
	}
	switch {
	case !p.GetNormalize():
		return nil
	case l.transpose:
		return errors.New("normalize: true divides rows of weights of one output each: transpose must be false")
	}
	l.units = newUnitRows(&l.Base, leastSquares)
	return nil
}

// leastSquares is added to the sum of a row's squares, as in caffe-windows.
const leastSquares = 1e-6

// PrepareWeights implements WeightPreparer.
func (l *innerProduct) PrepareWeights() error {
	if l.units == nil {
		return nil
	}
	return l.units.divide()
}

// factors returns the weights that Forward multiplies with.
func (l *innerProduct) factors() []float32 {
	if l.units != nil {
		return l.units.unit.Data()
	}
	return l.Weights[0].Values()
}

func (l *innerProduct) Reshape(bottom, top []*blob.Blob) error {
	if k := bottom[0].CountFrom(l.axis); k != l.k {
		return fmt.Errorf("input size is incompatible with inner product parameters: bottom[0] with shape %s has %d values an item, the weights take %d", bottom[0].ShapeString(), k, l.k)
	}
	l.topShape = append(append(l.topShape[:0], bottom[0].Shape()[:l.axis]...), l.n)
	top[0].Reshape(l.topShape...)
	m := bottom[0].CountRange(0, l.axis)
	if m == l.m {
		return nil
	}
	l.m = m
	return l.prepare()
}

func (l *innerProduct) prepare() (err error) {
	if l.bias {
		if l.biasGrad, err = part.NewBiasGrad(&l.Base, [3]int{l.m, l.n, 1}, false); err != nil {
			return err
		}
	}
	if l.MPE() {
		return nil
	}
	machine := l.Device.Machine
	if err = l.planForward(); err != nil {
		return err
	}
	if l.weights, err = gemm.NewBlocked(machine, l.product(shape.WeightGradient)); err != nil {
		return err
	}
	l.input, err = gemm.NewIn(machine, l.product(shape.InputGradient), false, l.Device.Types(), nil)
	return err
}

// planForward plans the product of Forward.
func (l *innerProduct) planForward() (err error) {
	l.forward, err = gemm.NewIn(l.Device.Machine, l.product(shape.Forward), l.inference, part.Types(&l.Base, l.scales), l.scales)
	return err
}

// product returns the product that computes a direction.
func (l *innerProduct) product(d shape.Direction) gemm.Shape {
	switch {
	case d == shape.Forward:
		return gemm.Shape{M: l.m, N: l.n, K: l.k, TransB: !l.transpose}
	case d == shape.InputGradient:
		return gemm.Shape{M: l.m, N: l.k, K: l.n, TransB: l.transpose}
	case l.transpose:
		return gemm.Shape{M: l.k, N: l.n, K: l.m, TransA: true, Accumulate: true}
	}
	return gemm.Shape{M: l.n, N: l.k, K: l.m, TransA: true, Accumulate: true}
}

// Explain implements layers.Explainer.
func (l *innerProduct) Explain(d shape.Direction) ([]*op.Explanation, error) {
	m, product, measured := l.Device.Machine, l.product(d), l.Device.Tuner != nil
	if d == shape.WeightGradient {
		e, err := gemm.ExplainBlocked(m, product, measured)
		return []*op.Explanation{e}, err
	}
	scales := l.scales
	if d != shape.Forward {
		scales = nil
	}
	e, err := gemm.Explain(m, product, l.inference, part.Types(&l.Base, scales), scales, measured)
	return []*op.Explanation{e}, err
}

// Algorithm implements Algorithmic.
func (l *innerProduct) Algorithm(d shape.Direction, _ bool) shape.Algorithm {
	switch {
	case l.forward == nil:
		return ""
	case d == shape.Forward:
		return l.forward.Algorithm()
	case d == shape.WeightGradient:
		return l.weights.Algorithm()
	}
	return l.input.Algorithm()
}

func (l *innerProduct) Forward(bottom, top []*blob.Blob) error {
	k, _ := l.forward.(gemm.Fixer)
	w, bias, fixed, err := l.operands(k)
	defer l.fixed.Settle(k)
	if k != nil {
		k.Fix(fixed)
	}
	x, y := bottom[0].Data(), top[0].Data()
	switch {
	case err != nil:
		return err
	case !l.MPE():
		if err := l.forward.Run(x, w, bias, y); err != nil {
			return err
		}
		return l.steps.Run(&l.Base, top[0], nil)
	case l.scales != nil:
		l.quantisedMPE(x, w, bias, y)
		return nil
	}
	for i := range l.m {
		for j := range l.n {
			var sum float64
			for k := range l.k {
				sum += float64(x[i*l.k+k]) * float64(w[l.weight(j, k)])
			}
			if l.bias {
				sum += float64(bias[j])
			}
			y[i*l.n+j] = float32(sum)
		}
	}
	return nil
}

// quantisedMPE is Forward's product in INT8 (package quant): sums of integers, which float64 holds exactly.
func (l *innerProduct) quantisedMPE(x, w, bias, y []float32) {
	rows, xs, ws, factors := make([]float32, len(w)), make([]float32, len(x)), make([]float32, len(w)), make([]float32, l.n)
	for i := range rows {
		rows[i] = w[l.weight(i/l.k, i%l.k)]
	}
	l.scales.Inputs(xs, x)
	l.scales.Weights(ws, factors, rows)
	for i := range y {
		var sum float64
		at, of := xs[i/l.n*l.k:], ws[i%l.n*l.k:]
		for k := range l.k {
			sum += float64(at[k]) * float64(of[k])
		}
		y[i] = float32(float32(sum) * factors[i%l.n])
		if bias != nil {
			y[i] += bias[i%l.n]
		}
	}
}

// operands returns the weights and the biases that Forward computes with; there may be no biases, and no weights if the kernel k keeps them. k may be
// nil. fixed is that of Fixed.Take.
func (l *innerProduct) operands(k op.Keeper) (w, bias []float32, fixed *op.Weights, err error) {
	if l.units == nil {
		return l.fixed.Take(l.Device.Machine, l.Weights, k, l.inference)
	}
	if l.bias {
		bias = l.Weights[1].Values()
	}
	err = l.units.run()
	return l.factors(), bias, nil, err
}

// Arrange implements Planned.
func (l *innerProduct) Arrange(a layers.Arranged) error {
	l.steps.Arrange(a.Steps)
	if l.inference == a.Inference {
		return nil
	}
	if l.inference = a.Inference; l.forward == nil {
		return nil
	}
	return l.planForward()
}

// Fold implements layers.Folder.
func (l *innerProduct) Fold(maps []layers.Map) { l.fixed.Fold(maps, l.Weights) }

// weight returns the index of the weight from input k to output j.
func (l *innerProduct) weight(j, k int) int {
	if l.transpose {
		return k*l.n + j
	}
	return j*l.k + k
}

// Traits implements Planned. The weights' gradient needs the bottom.
func (l *innerProduct) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!l.ParamGrad(0)), Tops: true}}
	if l.forward != nil {
		t.Scratch = layers.Scratch{Forward: l.forward.Scratch(), Bottoms: l.input.Scratch()}
	}
	t.Joins.Finish, t.Apart = l.Blockable(), op.Among(l.steps.Last())
	if l.Blockable() && l.axis == 1 && !l.transpose && l.units == nil && l.scales == nil {
		t.Joins.Fold = l.n
	}
	return t
}

// Backward computes the bottom's gradient first: the weights may still be in a cache from Forward. Their gradient has the same size and
// would evict them.
func (l *innerProduct) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	dy := top[0].Diff()
	if propagateDown[0] {
		if err := l.inputGrad(dy, bottom[0].Diff()); err != nil {
			return err
		}
	}
	if l.ParamGrad(0) {
		if err := l.weightGrad(bottom[0].Data(), dy); err != nil {
			return err
		}
	}
	if l.bias && l.ParamGrad(1) {
		return l.biasGrad.Run(l.Weights[1].Diff(), dy)
	}
	return nil
}

func (l *innerProduct) inputGrad(dy, dx []float32) error {
	w := l.factors()
	if !l.MPE() {
		return l.input.Run(dy, w, nil, dx)
	}
	for i := range l.m {
		for k := range l.k {
			var sum float64
			for j := range l.n {
				sum += float64(dy[i*l.n+j]) * float64(w[l.weight(j, k)])
			}
			dx[i*l.k+k] = float32(sum)
		}
	}
	return nil
}

func (l *innerProduct) weightGrad(x, dy []float32) error {
	if !l.MPE() {
		if l.transpose {
			x, dy = dy, x
		}
		dw, add := l.Weights[0].Gradient()
		return l.weights.Sum(dy, x, dw, add)
	}
	dw := l.Weights[0].Diff()
	for j := range l.n {
		for k := range l.k {
			var sum float64
			for i := range l.m {
				sum += float64(dy[i*l.n+j]) * float64(x[i*l.k+k])
			}
			dw[l.weight(j, k)] += float32(sum)
		}
	}
	return nil
}

// scalesWeights is the effect of layers with normalize.
func scalesWeights(p *caffepb.LayerParameter) string {
	if !p.GetInnerProductParam().GetNormalize() {
		return ""
	}
	return "scales its weights to length 1"
}
