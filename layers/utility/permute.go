package utility

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Permute", Doc: "the bottom with its axes in another order",
		Couples: permutesItems(func(p *caffepb.LayerParameter) []uint32 { return p.GetPermuteParam().GetOrder() }),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &permute{permuted{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
	layers.Register(layers.Type{
		Name: "Transpose", Doc: "the bottom with all its axes in another order",
		Couples: permutesItems(func(p *caffepb.LayerParameter) (order []uint32) {
			for _, axis := range p.GetTransposeParam().GetDim() {
				order = append(order, uint32(axis))
			}
			return order
		}),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &transpose{permute{permuted{Base: layers.Base{Param: p, Device: d}}}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
	layers.Register(layers.Type{
		Name: "ShuffleChannel", Doc: "interleaves the channels of group groups",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &shuffleChannel{permuted{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// permuted is embedded by layers that permute axes.
type permuted struct {
	layers.Base
	shape, order       []int // of the bottom as the layer sees it
	topShape, topOrder []int // the inverse
	forward, backward  part.Permuter
}

// reshape prepares for the shape and order in l.
func (l *permuted) reshape() {
	l.topShape, l.topOrder = append(l.topShape[:0], l.shape...), append(l.topOrder[:0], l.order...)
	for k, axis := range l.order {
		l.topShape[k], l.topOrder[axis] = l.shape[axis], k
	}
	l.forward.Reshape(&l.Base, l.shape, l.order)
	l.backward.Reshape(&l.Base, l.topShape, l.topOrder)
}

func (l *permuted) Forward(bottom, top []*blob.Blob) error {
	return l.forward.Run(top[0].Data(), bottom[0].Data())
}

// Traits implements Planned. Backward permutes gradients.
func (l *permuted) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *permuted) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	return l.backward.Run(bottom[0].Diff(), top[0].Diff())
}

// permute is the Permute layer of SSD. Axes that permute_param does not name follow those that it names, in their order.
type permute struct{ permuted }

func (l *permute) SetUp(bottom, _ []*blob.Blob) error {
	axes := bottom[0].NumAxes()
	for _, axis := range l.Param.GetPermuteParam().GetOrder() {
		if int(axis) >= axes {
			return fmt.Errorf("order should be less than the input dimension: axis %d of %d (%s)", axis, axes, bottom[0].ShapeString())
		}
		if slices.Contains(l.order, int(axis)) {
			return fmt.Errorf("there are duplicate orders: axis %d is in %v twice", axis, l.Param.GetPermuteParam().GetOrder())
		}
		l.order = append(l.order, int(axis))
	}
	for axis := range axes {
		if !slices.Contains(l.order, axis) {
			l.order = append(l.order, axis)
		}
	}
	return nil
}

func (l *permute) Reshape(bottom, top []*blob.Blob) error {
	if n := bottom[0].NumAxes(); n != len(l.order) {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d axes", bottom[0].ShapeString(), len(l.order))
	}
	l.shape = append(l.shape[:0], bottom[0].Shape()...)
	l.reshape()
	top[0].Reshape(l.topShape...)
	return nil
}

// transpose is the Transpose layer of CTPN and forks for text: a permute whose transpose_param names every axis.
type transpose struct{ permute }

func (l *transpose) SetUp(bottom, _ []*blob.Blob) error {
	dims, axes := l.Param.GetTransposeParam().GetDim(), bottom[0].NumAxes()
	if len(dims) != axes {
		return fmt.Errorf("transpose_param has %d of dim for the %d axes of bottom[0] (%s)", len(dims), axes, bottom[0].ShapeString())
	}
	for _, axis := range dims {
		if axis < 0 || int(axis) >= axes || slices.Contains(l.order, int(axis)) {
			return fmt.Errorf("dim must name each of the %d axes once, it is %v", axes, dims)
		}
		l.order = append(l.order, int(axis))
	}
	return nil
}

// shuffleChannel is the ShuffleChannel layer of ShuffleNet (Zhang et al. 2018): with C channels in g groups, channel j*g + i of the top is
// channel i*C/g + j of the bottom.
type shuffleChannel struct{ permuted }

func (l *shuffleChannel) SetUp(_, _ []*blob.Blob) error {
	l.order = []int{0, 2, 1, 3}
	if group := l.Param.GetShuffleChannelParam().GetGroup(); group < 1 {
		return fmt.Errorf("group must be greater than 0, it is %d", group)
	}
	return nil
}

func (l *shuffleChannel) Reshape(bottom, top []*blob.Blob) error {
	n, c, group := bottom[0].Legacy(0), bottom[0].Legacy(1), int(l.Param.GetShuffleChannelParam().GetGroup())
	if c%group != 0 {
		return fmt.Errorf("group %d does not divide the number of channels, %d (%s)", group, c, bottom[0].ShapeString())
	}
	top[0].ReshapeLike(bottom[0])
	l.shape = append(l.shape[:0], n, group, c/group, bottom[0].Count()/max(1, n*c))
	l.reshape()
	return nil
}

// permutesItems is the rule of layers that permute axes: items must stay on axis 0. An empty order keeps all axes.
func permutesItems(order func(*caffepb.LayerParameter) []uint32) layers.CouplingRule {
	return func(p *caffepb.LayerParameter, _ [][]int) layers.Coupling {
		if o := order(p); len(o) > 0 && o[0] != 0 {
			return layers.Coupling{Kind: layers.Moves, Why: "moves the items to another axis"}
		}
		return layers.Coupling{}
	}
}
