package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// BiasAdder adds biases to an outer x channels x inner array on either path: y(o,m,i) += b(m).
type BiasAdder struct {
	inner int
	pass  *stream.Kernel // nil on the MPE path
	ins   [2][]float32
	outs  [1][]float32
}

// NewBiasAdder prepares for an array of shape dims: outer x channels x inner.
func NewBiasAdder(b *layers.Base, dims [3]int) (s BiasAdder, err error) {
	s.inner = dims[2]
	if b.MPE() {
		return s, nil
	}
	s.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "bias", Dims: dims, Ins: Arrays(1, stream.Row), Outs: Arrays(1),
		Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) {
			t.EachRow(func(at, n, m int) {
				dst, src := t.Out[0][at:at+n], t.In[0][at:]
				if t.I == 1 {
					vec.Add(dst, src, t.In[1])
				} else {
					vec.AddScalar(dst, src, t.In[1][m])
				}
			})
		},
	})
	return s, err
}

// Run adds the biases to y.
func (s *BiasAdder) Run(y, bias []float32) error {
	if s.pass != nil {
		s.ins, s.outs[0] = [2][]float32{y, bias}, y
		return s.pass.Run(s.ins[:], s.outs[:])
	}
	for i := range y {
		y[i] += bias[i/s.inner%len(bias)]
	}
	return nil
}

// BiasGrad adds to the gradient of biases on either path: db(m) += the sum of dy(o,m,i) over outer and inner.
type BiasGrad struct {
	inner int
	pass  *stream.Kernel // nil on the MPE path
	ins   [1][]float32
}

// NewBiasGrad prepares for a dy of shape dims: outer x channels x inner. blocked means that the channels are in blocks.
func NewBiasGrad(b *layers.Base, dims [3]int, blocked bool) (s BiasGrad, err error) {
	s.inner = dims[2]
	if !b.MPE() {
		s.pass, err = newChannelSum(b.Device, dims, blocked)
	}
	return s, err
}

// Run adds the gradient from dy to db.
func (s *BiasGrad) Run(db, dy []float32) error {
	if s.pass == nil {
		sums := make([]float64, len(db))
		for i, g := range dy {
			sums[i/s.inner%len(sums)] += float64(g)
		}
		AddTo(db, sums)
		return nil
	}
	s.ins[0] = dy
	if err := s.pass.Run(s.ins[:], nil); err != nil {
		return err
	}
	AddTo(db, s.pass.Sums())
	return nil
}

// AddTo adds sums to grad.
func AddTo(grad []float32, sums []float64) {
	for i, s := range sums {
		grad[i] += float32(s)
	}
}
