package loss

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// squaredError computes the differences of two arrays and the sum of their squares. Without a kernel it takes the MPE path.
type squaredError struct {
	kernel *stream.Kernel
	ins    [2][]float32
	outs   [1][]float32
}

// prepare makes the kernel for arrays of n values.
func (s *squaredError) prepare(b *layers.Base, name string, n int) error {
	streams := part.StreamsOf(b)
	s.kernel = streams.Make(stream.Pass{
		Name: name, Dims: [3]int{1, 1, n}, Ins: part.Arrays(2), Outs: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 3},
		Op: func(t *stream.Tile) {
			d := t.Out[0][:t.I]
			vec.Sub(d, t.In[0], t.In[1])
			t.Sum[0] += vec.SumSq(d)
		},
	})
	return streams.Err
}

// of writes a - b to diff and returns the sum of the squares.
func (s *squaredError) of(a, b, diff []float32) (sum float64, err error) {
	if s.kernel == nil {
		for i := range diff {
			d := float64(a[i]) - float64(b[i])
			diff[i] = float32(d)
			sum += d * d
		}
		return sum, nil
	}
	s.ins, s.outs[0] = [2][]float32{a, b}, diff
	if err := s.kernel.Run(s.ins[:], s.outs[:]); err != nil {
		return 0, err
	}
	return s.kernel.Sums()[0], nil
}
