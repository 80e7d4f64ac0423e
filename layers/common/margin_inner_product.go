package common

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "MarginInnerProduct", Doc: "y = W x with rows of W of length 1, and a margin of the angle for the label's class; a second top gets lambda",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &marginInnerProduct{Base: layers.Base{Param: p, Device: d}, rows: [2]int{-1, -1}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Between(1, 2), NoForceBackward: []int{1}, Effects: layers.Effect("counts passes, and scales its weights to length 1"),
	})
}

// marginInnerProduct is the MarginInnerProduct layer of SphereFace (Liu et al. 2017). Bottom 0 has M items of K values, bottom 1 their labels.
// Forward divides each of the N rows of the weights by its length; in phase TEST the weights themselves stay as they are. The score of a class
// at angle a is |x| cos a, that of the label's class
//
//	|x| (psi(cos a) + lambda cos a) / (1 + lambda),
//
// and lambda falls with the number of Forwards. As in SphereFace, the weights' gradient ignores margin and lengths, and the part of psi in
// the bottom's gradient is divided by sqrt(u^2 + v^2), where u and v are its factors of the weights and of x.
type marginInnerProduct struct {
	layers.Base
	p        *caffepb.MarginInnerProductParameter
	product  *innerProduct
	rows     [2]int    // items and classes for which the kernels are made
	units    *unitRows // the weights of length 1
	forwards int       // since the net was made
	lambda   float64
	labels   []int
	lengths  []float32 // of items
	cosines  []float64 // of items and their labels' weights
	factors  []float32 // of x in the gradient of each item

	room         *blob.Blob // the top's gradient with the factor of the label's weights
	measure, add *stream.Units
	x, dx        []float32
}

func (l *marginInnerProduct) SetUp(bottom, top []*blob.Blob) error {
	l.p = l.Param.GetMarginInnerProductParam()
	inner := &caffepb.LayerParameter{Name: l.Param.Name, Type: proto.String("InnerProduct"), Param: l.Param.Param, InnerProductParam: &caffepb.InnerProductParameter{
		NumOutput: proto.Uint32(l.p.GetNumOutput()), Axis: proto.Int32(l.p.GetAxis()), BiasTerm: proto.Bool(false), WeightFiller: l.p.GetWeightFiller(),
	}}
	l.product = &innerProduct{Base: layers.Base{Param: inner, Device: l.Device}, m: -1}
	l.product.Weights = l.Weights
	if err := l.product.SetUp(bottom[:1], top[:1]); err != nil {
		return err
	}
	l.Weights, l.product.Weights = l.product.Weights, slices.Clone(l.product.Weights)
	l.room = l.Device.NewBlob(0)
	l.units = newUnitRows(&l.Base, 0)
	return nil
}

// PrepareWeights implements WeightPreparer.
func (l *marginInnerProduct) PrepareWeights() error { return l.units.divide() }

func (l *marginInnerProduct) Reshape(bottom, top []*blob.Blob) error {
	if err := l.product.Reshape(bottom[:1], top[:1]); err != nil {
		return err
	}
	m, n := l.product.m, l.product.n
	if bottom[1].Count() != m {
		return fmt.Errorf("number of labels must match number of items: bottom[0] has shape %s, bottom[1] %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	if len(top) > 1 {
		top[1].Reshape(1)
	}
	if l.rows == [2]int{m, n} {
		return nil
	}
	l.rows = [2]int{m, n}
	l.room.Reshape(m, n)
	l.labels, l.lengths, l.cosines, l.factors = make([]int, m), make([]float32, m), make([]float64, m), make([]float32, m)
	if l.MPE() {
		return nil
	}
	k := l.product.k
	units := func(name string, rows int, do func(w *stream.UnitWorker, row int)) *stream.Units {
		return stream.NewUnits(l.Device.Machine, "MarginInnerProduct "+name, rows, rows*k, do)
	}
	l.measure = units("lengths", m, func(w *stream.UnitWorker, item int) {
		x, _ := w.Load(stream.Span(l.x, item*k, k))
		length, _ := w.Place(stream.Span(l.lengths, item, 1))
		if w.Cost(2*k, 1); w.Values() {
			length[0] = float32(math.Sqrt(sumSquares(x[:k])))
		}
	})
	l.add = units("gradient", m, func(w *stream.UnitWorker, item int) {
		x, _ := w.Load(stream.Span(l.x, item*k, k))
		dx, _ := w.Update(stream.Span(l.dx, item*k, k))
		if w.Cost(2*k, 0); w.Values() {
			addTimes(dx[:k], x, l.factors[item])
		}
	})
	return nil
}

func addTimes(to, x []float32, factor float32) {
	for i := range to {
		to[i] += float32(factor * x[i])
	}
}

func (l *marginInnerProduct) Forward(bottom, top []*blob.Blob) error {
	n, k := l.product.n, l.product.k
	for i, v := range bottom[1].Data() {
		if !l.Device.Machine.Values() {
			v = 0 // any label costs the same
		}
		if l.labels[i] = int(v); l.labels[i] < 0 || l.labels[i] >= n || v != v {
			return layers.WrongValue("label %g of item %d is out of range: there are %d classes (0 to %d)", v, i, n, n-1)
		}
	}
	l.x = bottom[0].Data()
	err := l.units.run()
	if err == nil {
		err = each(l.measure, l.product.m, func(item int) { l.lengths[item] = float32(math.Sqrt(sumSquares(l.x[item*k:][:k]))) })
	}
	if err == nil {
		l.product.Weights[0] = l.units.unit
		err = l.product.Forward(bottom[:1], top[:1])
	}
	if err != nil {
		return err
	}
	l.forwards++
	l.lambda = max(float64(l.p.GetLambdaMin()), float64(l.p.GetBase())*math.Pow(1+float64(l.p.GetGamma())*float64(int(l.p.GetIteration())+l.forwards), -float64(l.p.GetPower())))
	if len(top) > 1 {
		top[1].Data()[0] = float32(l.lambda)
	}
	if l.Device.Machine.Values() && l.p.GetType() != caffepb.MarginInnerProductParameter_SINGLE {
		l.widen(top[0].Data())
	}
	return nil
}

// widen puts the margin into the scores of the labels' classes, one value an item, and keeps their cosines for Backward.
func (l *marginInnerProduct) widen(y []float32) {
	for i, label := range l.labels {
		score, length := &y[i*l.product.n+label], float64(l.lengths[i])
		if length > 0 {
			l.cosines[i] = float64(*score) / length
			psi, _ := margin(l.p.GetType(), l.cosines[i])
			*score = float32((length*psi + l.lambda*float64(*score)) / (1 + l.lambda))
		}
	}
}

// Traits implements Planned. The weights' gradient needs bottom 0, and so does the margin's part of its own gradient.
func (l *marginInnerProduct) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(0), Tops: true}, Scratch: l.product.Traits().Scratch}
}

func (l *marginInnerProduct) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return fmt.Errorf("the layer cannot backpropagate to label inputs (bottom 1)")
	}
	if propagateDown[0] {
		if err := l.inputGrad(top[0].Diff(), bottom[0]); err != nil {
			return err
		}
	}
	if l.ParamGrad(0) {
		l.product.Weights[0] = l.Weights[0]
		return l.product.weightGrad(bottom[0].Data(), top[0].Diff())
	}
	return nil
}

// inputGrad computes the bottom's gradient: the product's, with factors for the labels' weights, and x times a factor.
func (l *marginInnerProduct) inputGrad(dy []float32, x *blob.Blob) error {
	l.x, l.dx = x.Data(), x.Diff()
	l.product.Weights[0] = l.units.unit
	if l.p.GetType() == caffepb.MarginInnerProductParameter_SINGLE {
		return l.product.inputGrad(dy, l.dx)
	}
	room := l.room.Data()
	if l.Device.Machine.Values() {
		copy(room, dy)
		l.scaleLabels(room)
	}
	if err := l.product.inputGrad(room, l.dx); err != nil {
		return err
	}
	k := l.product.k
	return each(l.add, l.product.m, func(item int) { addTimes(l.dx[item*k:][:k], l.x[item*k:], l.factors[item]) })
}

// scaleLabels multiplies the labels' gradients with the factor of their weights, and sets the factors of x.
func (l *marginInnerProduct) scaleLabels(dy []float32) {
	for i, label := range l.labels {
		d, c, length := &dy[i*l.product.n+label], l.cosines[i], float64(l.lengths[i])
		if length == 0 {
			l.factors[i] = 0
			continue
		}
		psi, slope := margin(l.p.GetType(), c)
		u, v := slope, (psi-c*slope)/length
		scale := float64(*d) / (1 + l.lambda)
		if r := math.Hypot(u, v); r > 0 {
			u, v = u/r, v/r
		}
		*d, l.factors[i] = float32(scale*(u+l.lambda)), float32(scale*v)
	}
}

// Position implements Positioner: lambda goes on where a snapshot was taken.
func (l *marginInnerProduct) Position() uint64 {
	return uint64(l.forwards) * uint64(max(1, l.product.m))
}

// SetPosition implements Positioner.
func (l *marginInnerProduct) SetPosition(items uint64) error {
	l.forwards = int(items / uint64(max(1, l.product.m)))
	return nil
}
