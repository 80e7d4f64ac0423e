package neuron

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// neuronLayer is a layer whose tops are functions of single bottom values: y = f(x), dx = dy * f'(x). A neuronRule gives the function by
// element for the MPE path, and by tile, with vector instructions, for the CPE path. A layer may run in place; then y overwrites x.
type neuronLayer struct {
	layers.Base
	prepare            func(n *neuronLayer) (neuronRule, error)
	rule               neuronRule
	count              int
	inPlace            bool
	saved              *blob.Blob // a copy of x, if saves reports true
	forward            *stream.Kernel
	backward           *stream.Kernel
	ins                [3][]float32
	outs               [2][]float32
	topLost, inference bool // of Arranged
	finish             *neuronFinish
}

// neuronRule is a function and its derivative.
type neuronRule struct {
	f     func(x float64) float64
	slope func(x, y float64) float64 // f'(x); nil if the layer has no gradient

	needs neuronNeeds // arguments of tileGrad
	// either: Backward also works from x if needs says y. slope and tileGrad then get for both arguments the one that holds values.
	either bool
	// keepX: the derivative needs x even if the layer runs in place. Forward then keeps a copy.
	keepX bool
	// inPlaceSlope is set where Caffe's layer has a fault in place: it overwrites dy by the derivative at y before it multiplies by dy, so
	// that the gradient is the derivative's square. Nets were trained with Caffe that way, so it is reproduced.
	inPlaceSlope func(y float64) float64

	// tile writes len(y) values, tileGrad len(dx) values. dx may be dy, and y may be x. If scratch is set, both arrays of tmp have the same
	// length.
	tile     func(y, x []float32, tmp scratch)
	tileGrad func(dx, dy, x, y []float32, tmp scratch)
	scratch  bool
	// affine: tile uses vec.Affine, which rounds once on whole vectors and twice on less than one. A layer before it would cut the array into other
	// pieces, so that it applies the function only in inference.
	affine bool
	cost   stream.Work
}

// neuronNeeds says which of x and y a tileGrad or inPlaceSlope reads. The other argument is not valid.
type neuronNeeds int

const (
	needsX neuronNeeds = iota
	needsY
	needsBoth
	needsNeither
)

func (n neuronNeeds) x() bool { return n == needsX || n == needsBoth }
func (n neuronNeeds) y() bool { return n == needsY || n == needsBoth }

// scratch holds temporary arrays for a tile function.
type scratch [2][]float32

// newNeuron returns a constructor for the registry. prepare reads the layer's parameters.
func newNeuron(prepare func(n *neuronLayer) (neuronRule, error)) func(*caffepb.LayerParameter, *layers.Device) layers.Layer {
	return func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
		return &neuronLayer{Base: layers.Base{Param: p, Device: d}, count: -1, prepare: prepare}
	}
}

func (n *neuronLayer) SetUp(_, _ []*blob.Blob) (err error) {
	n.rule, err = n.prepare(n)
	return err
}

func (n *neuronLayer) Reshape(bottom, top []*blob.Blob) error {
	if n.inPlace = top[0] == bottom[0]; !n.inPlace {
		top[0].ReshapeLike(bottom[0])
	}
	if n.count == bottom[0].Count() {
		return nil
	}
	if n.count = bottom[0].Count(); n.saves() {
		n.save()
	}
	if n.MPE() {
		return nil
	}
	return n.prepareKernels()
}

func (n *neuronLayer) prepareKernels() error {
	dims, scratches := [3]int{1, 1, n.count}, 0
	if n.rule.scratch {
		scratches = len(scratch{})
	}
	outs, gradIns := part.Arrays(1), part.Arrays(1) // y and the saved x; dy, x and y
	if n.saves() {
		outs = part.Arrays(2)
	}
	if n.needs().x() {
		gradIns = append(gradIns, stream.Full)
	}
	if n.needs().y() {
		gradIns = append(gradIns, stream.Full)
	}
	name, streams := n.Param.GetType(), part.StreamsOf(&n.Base)
	n.forward = streams.Make(stream.Pass{
		Name: name, Dims: dims, Ins: part.Arrays(1), Outs: outs, Scratch: scratches, Cost: n.rule.cost, Op: n.tile,
	})
	if n.rule.slope != nil {
		n.backward = streams.Make(stream.Pass{
			Name: name + " gradient", Dims: dims, Ins: gradIns, Outs: part.Arrays(1), Scratch: scratches, Cost: n.rule.cost, Op: n.gradTile,
		})
	}
	return streams.Err
}

// saves reports whether Forward keeps a copy of x.
func (n *neuronLayer) saves() bool { return n.rule.keepX && n.inPlace }

// save makes room for the copy of x.
func (n *neuronLayer) save() {
	if n.saved == nil {
		n.saved = n.Device.NewBlob(0)
	}
	n.saved.Reshape(n.count)
}

func (n *neuronLayer) tile(t *stream.Tile) {
	for _, saved := range t.Out[1:] {
		copy(saved[:t.I], t.In[0])
	}
	n.rule.tile(t.Out[0][:t.I], t.In[0], scratchOf(t))
}

func (n *neuronLayer) gradTile(t *stream.Tile) {
	dx, last := t.Out[0][:t.I], len(t.In)-1
	if n.inPlace && n.rule.inPlaceSlope != nil {
		n.squareSlopes(dx, t.In[last])
		return
	}
	n.rule.tileGrad(dx, t.In[0], t.In[min(1, last)], t.In[last], scratchOf(t))
}

func scratchOf(t *stream.Tile) (tmp scratch) {
	for k, s := range t.Scratch {
		tmp[k] = s[:t.I]
	}
	return tmp
}

// squareSlopes computes dx with Caffe's fault in place (inPlaceSlope).
func (n *neuronLayer) squareSlopes(dx, y []float32) {
	for i := range dx {
		slope := n.rule.inPlaceSlope(float64(y[i]))
		dx[i] = float32(slope * slope)
	}
}

func (n *neuronLayer) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	outs := append(n.outs[:0], y)
	if n.saves() {
		outs = append(outs, n.saved.Data())
	}
	if !n.MPE() {
		n.ins[0] = x
		return n.forward.Run(n.ins[:1], outs)
	}
	if n.saves() {
		copy(n.saved.Data(), x)
	}
	for i, v := range x {
		y[i] = float32(n.rule.f(float64(v)))
	}
	return nil
}

// Traits implements Planned. The derivative is a function of x, of y or of both.
func (n *neuronLayer) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!n.needs().x() || n.saves()), Tops: !n.needs().y()}, Layout: n.AnyLayout()}
	if n.saves() {
		t.Keeps = []*blob.Blob{n.saved}
	}
	if n.Blockable() && (n.inference || !n.rule.affine) {
		t.Is.Finish = n.finishes()
	}
	if n.Param.GetType() == "ReLU" && !n.MPE() {
		t.Is.ReLU = &layers.ReLU{Slope: n.Param.GetReluParam().GetNegativeSlope(), BySign: n.needs() == needsY}
	}
	return t
}

// Arrange implements Planned.
func (n *neuronLayer) Arrange(a layers.Arranged) error {
	n.topLost, n.inference = a.TopLost, a.Inference
	return nil
}

// needs returns the rule's needs, or x if the top's values are lost and x suffices.
func (n *neuronLayer) needs() neuronNeeds {
	if n.topLost && n.rule.either && !n.inPlace {
		return needsX
	}
	return n.rule.needs
}

func (n *neuronLayer) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	if n.rule.slope == nil {
		return n.NoGradient()
	}
	x, y, dy, dx := bottom[0].Data(), top[0].Data(), top[0].Diff(), bottom[0].Diff()
	if n.saves() {
		x = n.saved.Data()
	}
	if !n.MPE() {
		ins := append(n.ins[:0], dy)
		if n.needs().x() {
			ins = append(ins, x)
		}
		if n.needs().y() {
			ins = append(ins, y)
		}
		n.outs[0] = dx
		return n.backward.Run(ins, n.outs[:1])
	}
	if n.inPlace && n.rule.inPlaceSlope != nil {
		n.squareSlopes(dx, y)
		return nil
	}
	if n.rule.either { // y may be overwritten, and x not kept
		if n.needs() == needsY {
			x = y
		} else {
			y = x
		}
	}
	for i, g := range dy {
		dx[i] = float32(float64(g) * n.rule.slope(float64(x[i]), float64(y[i])))
	}
	return nil
}

// registerNeuron registers a layer with a neuronRule.
func registerNeuron(t layers.Type, prepare func(n *neuronLayer) (neuronRule, error)) {
	t.New, t.Bottoms, t.Tops = newNeuron(prepare), layers.Exactly(1), layers.Exactly(1)
	layers.Register(t)
}
