package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// neuron is the mechanism of layers whose tops are functions of single bottom values: y = f(x), dx = dy * f'(x). A
// layer gives the function twice: by element for the MPE path, and by tile, on vectors, for the CPE path. They may run in
// place, and then find y where x was.
type neuron struct {
	Base
	rule     neuronRule
	count    int
	inPlace  bool
	saved    []float32
	forward  *kernel.StreamKernel
	backward *kernel.StreamKernel
	ins      [3][]float32
	outs     [1][]float32
}

// neuronRule is a function and its derivative.
type neuronRule struct {
	f     func(x float64) float64
	slope func(x, y float64) float64 // f'(x); nil where the layer has no gradient

	// keepX: run in place, the derivative still needs x, of which a copy is kept.
	keepX bool
	// inPlaceSlope: run in place, Caffe's layer overwrites the gradient it is about to multiply with by the derivative, taken
	// at y, so that its square goes down. Nets trained with Caffe were trained like that, so it is reproduced.
	inPlaceSlope func(y float64) float64

	tile     func(y, x []float32)
	tileGrad func(dx, dy, x, y []float32)
	cost     kernel.Work
}

// newNeuron returns a constructor for the registry; prepare reads the layer's parameters.
func newNeuron(prepare func(n *neuron) (neuronRule, error)) func(*caffepb.LayerParameter, *Device) Layer {
	return func(p *caffepb.LayerParameter, d *Device) Layer {
		return &neuronLayer{neuron{Base: Base{Param: p, Device: d}, count: -1}, prepare}
	}
}

type neuronLayer struct {
	neuron
	prepare func(n *neuron) (neuronRule, error)
}

func (l *neuronLayer) SetUp(_, _ []*blob.Blob) (err error) {
	l.rule, err = l.prepare(&l.neuron)
	return err
}

func (n *neuron) Reshape(bottom, top []*blob.Blob) error {
	if n.inPlace = top[0] == bottom[0]; !n.inPlace {
		top[0].ReshapeLike(bottom[0])
	}
	if n.count == bottom[0].Count() || n.mpe() {
		return nil
	}
	n.count = bottom[0].Count()
	dims := [3]int{1, 1, n.count}
	one, three := []kernel.Array{kernel.Full}, []kernel.Array{kernel.Full, kernel.Full, kernel.Full}
	var err error
	n.forward, err = kernel.NewStream(n.Device.Machine, kernel.Stream{
		Name: n.Param.GetType(), Dims: dims, Ins: one, Outs: one, Cost: n.rule.cost,
		Op: func(t *kernel.Tile) { n.rule.tile(t.Out[0][:t.I], t.In[0]) },
	})
	if err != nil || n.rule.slope == nil {
		return err
	}
	n.backward, err = kernel.NewStream(n.Device.Machine, kernel.Stream{
		Name: n.Param.GetType() + " gradient", Dims: dims, Ins: three, Outs: one, Cost: n.rule.cost, Op: n.gradTile,
	})
	return err
}

func (n *neuron) gradTile(t *kernel.Tile) {
	dx := t.Out[0][:t.I]
	if n.inPlace && n.rule.inPlaceSlope != nil {
		n.squareSlopes(dx, t.In[2])
		return
	}
	n.rule.tileGrad(dx, t.In[0], t.In[1], t.In[2])
}

// squareSlopes is what inPlaceSlope describes.
func (n *neuron) squareSlopes(dx, y []float32) {
	for i := range dx {
		slope := n.rule.inPlaceSlope(float64(y[i]))
		dx[i] = float32(slope * slope)
	}
}

func (n *neuron) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if n.rule.keepX && n.inPlace {
		n.saved = append(n.saved[:0], x...)
	}
	if !n.mpe() {
		n.ins[0], n.outs[0] = x, y
		return n.forward.Run(n.ins[:1], n.outs[:])
	}
	for i, v := range x {
		y[i] = float32(n.rule.f(float64(v)))
	}
	return nil
}

func (n *neuron) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	x, y, dy, dx := bottom[0].Data(), top[0].Data(), top[0].Diff(), bottom[0].Diff()
	if n.rule.keepX && n.inPlace {
		x = n.saved
	}
	if !n.mpe() {
		n.ins, n.outs[0] = [3][]float32{dy, x, y}, dx
		return n.backward.Run(n.ins[:], n.outs[:])
	}
	if n.inPlace && n.rule.inPlaceSlope != nil {
		n.squareSlopes(dx, y)
		return nil
	}
	for i, g := range dy {
		dx[i] = float32(float64(g) * n.rule.slope(float64(x[i]), float64(y[i])))
	}
	return nil
}

// registerNeuron registers a layer of this family.
func registerNeuron(name, doc string, inPlace bool, prepare func(n *neuron) (neuronRule, error)) {
	Register(Type{Name: name, Doc: doc, New: newNeuron(prepare), Bottoms: Exactly(1), Tops: Exactly(1), InPlace: inPlace})
}
