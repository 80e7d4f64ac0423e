package layers

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Embed", Doc: "looks up row x of a table of input_dim x num_output for every index x, and adds a bias",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &embed{Base: Base{Param: p, Device: d}, m: -1}
		},
		Bottoms: Exactly(1), Tops: Exactly(1), NoForceBackward: []int{0},
	})
}

// embed is Caffe's Embed layer: an InnerProduct of one-hot vectors. Indices have no gradient.
type embed struct {
	Base
	m, n, k int // indices, num_output, input_dim
	bias    bool

	topShape []int
	look     mover // a row of the table to the top
	learn    adder // a row's gradient to the table's
	addBias  biasAdder
	biasGrad biasGrad
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
		if l.addBias, err = newBiasAdder(&l.Base, dims); err != nil {
			return err
		}
		if l.biasGrad, err = newBiasGrad(&l.Base, dims, false); err != nil {
			return err
		}
	}
	if l.look, err = newMover(&l.Base, 1, l.n); err != nil {
		return err
	}
	l.learn, err = newAdder(&l.Base, l.n)
	return err
}

// index returns the table's row that element i asks for.
func (l *embed) index(x []float32, i int) (int, error) {
	if at := int(x[i]); at >= 0 && at < l.k && float32(at) == x[i] {
		return at, nil
	}
	return 0, fmt.Errorf("index %g of element %d is no integer from 0 to %d (input_dim %d)", x[i], i, l.k-1, l.k)
}

func (l *embed) Forward(bottom, top []*blob.Blob) error {
	x, y, table := bottom[0].Data(), top[0].Data(), l.params[0].Data()
	for i := range x {
		at, err := l.index(x, i)
		if err != nil {
			return err
		}
		if err := l.look.run(y[i*l.n:(i+1)*l.n], table[at*l.n:(at+1)*l.n]); err != nil {
			return err
		}
	}
	if !l.bias {
		return nil
	}
	return l.addBias.run(y, l.params[1].Data())
}

// BackwardReads implements BackwardReader: the gradient of the table needs the indices.
func (l *embed) BackwardReads() (bottoms, tops bool) { return l.ParamGrad(0), false }

func (l *embed) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[0] {
		return errors.New("an Embed layer cannot backpropagate to its indices (bottom 0)")
	}
	dy := top[0].Diff()
	if l.ParamGrad(0) {
		if err := l.tableGrad(bottom[0].Data(), dy, l.params[0].Diff()); err != nil {
			return err
		}
	}
	if !l.bias || !l.ParamGrad(1) {
		return nil
	}
	return l.biasGrad.run(l.params[1].Diff(), dy)
}

// tableGrad adds the tops' gradients to their rows of the table's gradient, in the order of the indices.
func (l *embed) tableGrad(x, dy, dw []float32) error {
	for i := range x {
		at, err := l.index(x, i)
		if err != nil {
			return err
		}
		if err := l.learn.run(dw[at*l.n:(at+1)*l.n], dy[i*l.n:(i+1)*l.n]); err != nil {
			return err
		}
	}
	return nil
}
