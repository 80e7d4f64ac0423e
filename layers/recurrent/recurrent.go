package recurrent

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// recurrent is the base of Caffe's RNN and LSTM layers. Bottoms are x (T x N x ...), cont (T x N; 0 at the start of a sequence), an
// optional static input (N x ...), and with expose_hidden the initial states. Tops are T x N x D, and with expose_hidden the final states.
// Let h be the first part of the state, and a_t have gates*D values:
//
//	a_t = W_x x_t + b + W_static x_static + W_h (cont_t * h_(t-1)).
//
// A cell computes the next state from a_t. The products with x and those of the weights' gradients run for all T steps at once. If cont is
// 1 at t = 0, the state continues from the last Forward. As in Caffe, the initial and final states have no gradient.
type recurrent struct {
	layers.Base
	cell                   cell
	gates, states          int
	readsTop               bool // outputBack reads the top's values
	d, t, n, k, static     int
	hasStatic, expose      bool
	hidden                 []hiddenState
	cont, prev, a, da, dh  []float32 // T x N x D (cont, prev, dh), T x N x gates*D (a, da)
	fixed, dprev           []float32 // N x gates*D; N x D
	spread                 spread
	mask, carry            maskOp
	input, inputGrad, dwx  matmul
	step, stepGrad, dwh    matmul
	fixedIn, dFixed, dwFix matmul
	addFixed               part.Adder
	bias                   part.BiasGrad
}

// hiddenState holds T+1 states, the initial one and one after each step: (T+1) x N x D.
type hiddenState []float32

// cell is the part in which recurrent layers differ.
type cell interface {
	setUp(p *caffepb.RecurrentParameter) error
	prepare() error
	begin()                                       // called before the steps of Backward
	step(t int) error                             // computes state t+1 from a_t and state t
	stepBack(t int, dh []float32) error           // computes da_t from the gradient of h_(t+1)
	output(top *blob.Blob) error                  // computes the top from the states
	outputBack(top *blob.Blob) ([]float32, error) // computes the gradients of all h from the top's
}

func (l *recurrent) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetRecurrentParam()
	l.d, l.expose = int(p.GetNumOutput()), p.GetExposeHidden()
	if l.d < 1 {
		return fmt.Errorf("num_output must be positive, it is %d", l.d)
	}
	given := 0
	if l.expose {
		given = l.states
	}
	if n := len(bottom) - given; n < 2 || n > 3 {
		return fmt.Errorf("%d bottoms given; needed: x, cont, optionally a static input, and %d initial states", len(bottom), given)
	}
	l.hasStatic = len(bottom)-given == 3
	if bottom[0].NumAxes() < 3 {
		return fmt.Errorf("bottom[0] must have at least 3 axes, time steps x streams x features: it has shape %s", bottom[0].ShapeString())
	}
	if l.t, l.k = bottom[0].Dim(0), bottom[0].CountFrom(2); l.t == 0 {
		return fmt.Errorf("bottom[0] has no time steps: it has shape %s", bottom[0].ShapeString())
	}
	rows := l.gates * l.d
	if err := l.AddWeight(p.GetWeightFiller(), rows, l.k); err != nil {
		return err
	}
	if err := l.AddWeight(p.GetBiasFiller(), rows); err != nil {
		return err
	}
	if l.hasStatic {
		if bottom[2].NumAxes() < 2 {
			return fmt.Errorf("bottom[2] must have at least 2 axes, streams x features: it has shape %s", bottom[2].ShapeString())
		}
		l.static = bottom[2].CountFrom(1)
		if err := l.AddWeight(p.GetWeightFiller(), rows, l.static); err != nil {
			return err
		}
	}
	if err := l.AddWeight(p.GetWeightFiller(), rows, l.d); err != nil {
		return err
	}
	return l.cell.setUp(p)
}

// hiddenWeight returns the index of W_h.
func (l *recurrent) hiddenWeight() int {
	if l.hasStatic {
		return 3
	}
	return 2
}

func (l *recurrent) check(bottom, top []*blob.Blob) error {
	x, cont := bottom[0], bottom[1]
	if x.NumAxes() < 2 || x.Dim(0) != l.t || x.CountFrom(2) != l.k {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d time steps of %d values", x.ShapeString(), l.t, l.k)
	}
	n := x.Dim(1)
	if cont.NumAxes() != 2 || cont.Dim(0) != l.t || cont.Dim(1) != n {
		return fmt.Errorf("bottom[1] must have shape %d %d, time steps x streams: it has %s", l.t, n, cont.ShapeString())
	}
	if l.hasStatic && (bottom[2].Dim(0) != n || bottom[2].CountFrom(1) != l.static) {
		return fmt.Errorf("bottom[2] must be %d streams of %d values: it has shape %s", n, l.static, bottom[2].ShapeString())
	}
	want := 1
	if l.expose {
		want += l.states
		for i, b := range bottom[len(bottom)-l.states:] {
			if b.Count() != n*l.d {
				return fmt.Errorf("initial state %d must have shape 1 %d %d: it has %s", i, n, l.d, b.ShapeString())
			}
		}
	}
	if len(top) != want {
		return fmt.Errorf("there are %d tops, %d needed", len(top), want)
	}
	return nil
}

func (l *recurrent) Reshape(bottom, top []*blob.Blob) error {
	if err := l.check(bottom, top); err != nil {
		return err
	}
	n := bottom[0].Dim(1)
	top[0].Reshape(l.t, n, l.d)
	for _, b := range top[1:] {
		b.Reshape(1, n, l.d)
	}
	if l.n == n && l.hidden != nil {
		return nil
	}
	l.n = n
	return l.prepare()
}

// Carries implements Carrier.
func (l *recurrent) Carries() bool { return !l.expose }

// State implements Stateful: the states after the last step.
func (l *recurrent) State() (last [][]float32) {
	if l.expose {
		return nil
	}
	for _, s := range l.hidden {
		last = append(last, l.at(s, l.t, l.d))
	}
	return last
}

// pair returns the two products of a direction: the one with all steps' inputs, and the one of a single step.
func (l *recurrent) pair(d shape.Direction) [2]*matmul {
	return [...][2]*matmul{
		shape.Forward:        {&l.input, &l.step},
		shape.WeightGradient: {&l.dwx, &l.dwh},
		shape.InputGradient:  {&l.inputGrad, &l.stepGrad},
	}[d]
}

// Algorithm implements Algorithmic. It names both products of a direction.
func (l *recurrent) Algorithm(d shape.Direction, _ bool) shape.Algorithm {
	pair := l.pair(d)
	if l.MPE() || pair[0].gemm == nil {
		return ""
	}
	return pair[0].gemm.Algorithm() + "," + pair[1].gemm.Algorithm()
}

// Explain implements layers.Explainer, for both products of a direction.
func (l *recurrent) Explain(d shape.Direction) (all []*op.Explanation, err error) {
	for _, p := range l.pair(d) {
		e, err := gemm.ExplainBlocked(l.Device.Machine, p.shape, l.Device.Tuner != nil)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// at returns step t's part of an array with n x width values per step.
func (l *recurrent) at(a []float32, t, width int) []float32 {
	return a[t*l.n*width : (t+1)*l.n*width]
}

// prepare makes the arrays and kernels for n streams. The states start at zero.
func (l *recurrent) prepare() (err error) {
	nd, rows, all := l.n*l.d, l.gates*l.d, l.t*l.n
	l.hidden = nil
	for range l.states {
		l.hidden = append(l.hidden, make(hiddenState, (l.t+1)*nd))
	}
	l.cont, l.prev, l.dh, l.dprev = pages.Make[float32](l.t*nd), pages.Make[float32](l.t*nd), pages.Make[float32](nd), pages.Make[float32](nd)
	l.a, l.da, l.fixed = pages.Make[float32](all*rows), pages.Make[float32](all*rows), pages.Make[float32](l.n*rows)
	products := []struct {
		p *matmul
		s gemm.Shape
	}{
		{&l.input, gemm.Shape{M: all, N: rows, K: l.k, TransB: true}},
		{&l.inputGrad, gemm.Shape{M: all, N: l.k, K: rows}},
		{&l.dwx, gemm.Shape{M: rows, N: l.k, K: all, TransA: true, Accumulate: true}},
		{&l.step, gemm.Shape{M: l.n, N: rows, K: l.d, TransB: true, Accumulate: true}},
		{&l.stepGrad, gemm.Shape{M: l.n, N: l.d, K: rows}},
		{&l.dwh, gemm.Shape{M: rows, N: l.d, K: all, TransA: true, Accumulate: true}},
		{&l.fixedIn, gemm.Shape{M: l.n, N: rows, K: l.static, TransB: true}},
		{&l.dFixed, gemm.Shape{M: l.n, N: l.static, K: rows}},
		{&l.dwFix, gemm.Shape{M: rows, N: l.static, K: l.n, TransA: true, Accumulate: true}},
	}
	if !l.hasStatic {
		products = products[:6]
	}
	for _, p := range products {
		if *p.p, err = newMatmul(&l.Base, p.s); err != nil {
			return err
		}
	}
	if l.spread, err = newSpread(&l.Base, all, l.d); err != nil {
		return err
	}
	if l.mask, err = newMask(&l.Base, nd, false); err != nil {
		return err
	}
	if l.carry, err = newMask(&l.Base, nd, true); err != nil {
		return err
	}
	if l.addFixed, err = part.NewAdder(&l.Base, l.n*rows); err != nil {
		return err
	}
	if l.bias, err = part.NewBiasGrad(&l.Base, [3]int{all, rows, 1}, false); err != nil {
		return err
	}
	return l.cell.prepare()
}

// continues is the effect of layers whose sequences may go on from one batch to the next.
var continues = layers.Effect("continues from the last pass")
