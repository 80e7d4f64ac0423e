package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// biasAdder adds biases to an outer x mid x inner array on either path: y(o,m,i) += b(m).
type biasAdder struct {
	inner int
	pass  *stream.Kernel // nil on the MPE path
	ins   [2][]float32
	outs  [1][]float32
}

func newBiasAdder(b *Base, dims [3]int) (s biasAdder, err error) {
	s.inner = dims[2]
	if b.mpe() {
		return s, nil
	}
	s.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "bias", Dims: dims, Ins: arrays(1, stream.Row), Outs: arrays(1),
		Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) {
			eachRow(t, func(at, n, m int) {
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

func (s *biasAdder) run(y, bias []float32) error {
	if s.pass != nil {
		s.ins, s.outs[0] = [2][]float32{y, bias}, y
		return s.pass.Run(s.ins[:], s.outs[:])
	}
	for i := range y {
		y[i] += bias[i/s.inner%len(bias)]
	}
	return nil
}

// biasGrad adds to the gradient of biases on either path: db(m) += the sum of dy(o,m,i) over outer and inner.
type biasGrad struct {
	inner int
	pass  *stream.Kernel // nil on the MPE path
	ins   [1][]float32
}

// newBiasGrad is for a dy of outer x mid x inner values, whose mids, where they are blocked, lie in blocks of channels.
func newBiasGrad(b *Base, dims [3]int, blocked bool) (s biasGrad, err error) {
	s.inner = dims[2]
	if !b.mpe() {
		s.pass, err = newChannelSum(b.Device, dims, blocked)
	}
	return s, err
}

func (s *biasGrad) run(db, dy []float32) error {
	if s.pass == nil {
		sums := make([]float64, len(db))
		for i, g := range dy {
			sums[i/s.inner%len(sums)] += float64(g)
		}
		addTo(db, sums)
		return nil
	}
	s.ins[0] = dy
	if err := s.pass.Run(s.ins[:], nil); err != nil {
		return err
	}
	addTo(db, s.pass.Sums())
	return nil
}

// addTo adds sums to a gradient.
func addTo(grad []float32, sums []float64) {
	for i, s := range sums {
		grad[i] += float32(s)
	}
}
