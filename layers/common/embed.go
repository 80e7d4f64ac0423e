package common

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Embed", Doc: "looks up row x of a table of input_dim x num_output for every index x, and adds a bias",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &embed{Base: layers.Base{Param: p, Device: d}, m: -1}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), NoForceBackward: []int{0},
	})
}

// embed is Caffe's Embed layer, an InnerProduct of one-hot vectors. The indices have no gradient.
type embed struct {
	layers.Base
	m, n, k int // indices, num_output, input_dim
	bias    bool

	topShape []int
	rows     part.RowMover // moves rows of the weight table
	index    []int         // the table row for each bottom element
	addBias  part.BiasAdder
	biasGrad part.BiasGrad
}

func (l *embed) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetEmbedParam()
	l.n, l.k, l.bias = int(p.GetNumOutput()), int(p.GetInputDim()), p.GetBiasTerm()
	switch {
	case l.n < 1:
		return fmt.Errorf("num_output must be positive, it is %d", l.n)
	case l.k < 1:
		return fmt.Errorf("input_dim must be positive, it is %d", l.k)
	}
	if err := l.AddWeight(p.GetWeightFiller(), l.k, l.n); err != nil || !l.bias {
		return err
	}
	return l.AddWeight(p.GetBiasFiller(), l.n)
}

func (l *embed) Reshape(bottom, top []*blob.Blob) error {
	l.topShape = append(append(l.topShape[:0], bottom[0].Shape()...), l.n)
	top[0].Reshape(l.topShape...)
	if l.m == bottom[0].Count() {
		return nil
	}
	l.m = bottom[0].Count()
	return l.prepare()
}

func (l *embed) prepare() (err error) {
	if l.bias {
		dims := [3]int{l.m, l.n, 1}
		if l.addBias, err = part.NewBiasAdder(&l.Base, dims); err != nil {
			return err
		}
		if l.biasGrad, err = part.NewBiasGrad(&l.Base, dims, false); err != nil {
			return err
		}
	}
	l.index = pages.Make[int](l.m)
	return l.rows.Reshape(&l.Base, l.k, l.n)
}

// read converts the bottom's values to table rows. Where no values are computed, all rows are 0; any cost the same.
func (l *embed) read(x []float32) error {
	if !l.Device.Machine.Values() {
		return nil
	}
	for i, v := range x {
		at := int(v)
		if at < 0 || at >= l.k || float32(at) != v {
			return layers.WrongValue("index %g of element %d is no integer from 0 to %d (input_dim %d)", v, i, l.k-1, l.k)
		}
		l.index[i] = at
	}
	return nil
}

func (l *embed) Forward(bottom, top []*blob.Blob) error {
	if err := l.read(bottom[0].Data()); err != nil {
		return err
	}
	y := top[0].Data()
	if err := l.rows.Gather(y, l.Weights[0].Data(), l.index); err != nil || !l.bias {
		return err
	}
	return l.addBias.Run(y, l.Weights[1].Data())
}

// Traits implements Planned. The table's gradient needs the indices.
func (l *embed) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!l.ParamGrad(0)), Tops: true}}
}

func (l *embed) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[0] {
		return errors.New("an Embed layer cannot backpropagate to its indices (bottom 0)")
	}
	dy := top[0].Diff()
	if l.ParamGrad(0) {
		if err := l.read(bottom[0].Data()); err != nil {
			return err
		}
		if err := l.rows.Add(l.Weights[0].Diff(), dy, l.index); err != nil {
			return err
		}
	}
	if !l.bias || !l.ParamGrad(1) {
		return nil
	}
	return l.biasGrad.Run(l.Weights[1].Diff(), dy)
}
