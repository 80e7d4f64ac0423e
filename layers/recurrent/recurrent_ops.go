package recurrent

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// matmul is a matrix product on either path.
type matmul struct {
	shape gemm.Shape
	gemm  *gemm.Blocked // nil on the MPE path
}

func newMatmul(b *layers.Base, s gemm.Shape) (p matmul, err error) {
	p.shape = s
	if !b.MPE() {
		p.gemm, err = gemm.NewBlocked(b.Device.Machine, s)
	}
	return p, err
}

func (p *matmul) run(a, b, bias, c []float32) error {
	if p.gemm != nil {
		return p.gemm.Run(a, b, bias, c)
	}
	s := &p.shape
	ai, ak, bk, bj := s.K, 1, s.N, 1
	if s.TransA {
		ai, ak = 1, s.M
	}
	if s.TransB {
		bk, bj = 1, s.K
	}
	for i := range s.M {
		for j := range s.N {
			var sum float64
			for k := range s.K {
				sum += float64(a[i*ai+k*ak]) * float64(b[k*bk+j*bj])
			}
			if bias != nil {
				sum += float64(bias[j])
			}
			if s.Accumulate {
				sum += float64(c[i*s.N+j])
			}
			c[i*s.N+j] = float32(sum)
		}
	}
	return nil
}

// addTo adds a product to the gradient of a weight.
func (p *matmul) addTo(weight *blob.Blob, a, b []float32) error {
	if p.gemm == nil {
		return p.run(a, b, nil, weight.Diff())
	}
	diff, add := weight.Gradient()
	return p.gemm.Sum(a, b, diff, add)
}

// spread repeats each of n values d times.
type spread struct {
	d    int
	pass *stream.Kernel
	ins  [1][]float32
	outs [1][]float32
}

func newSpread(b *layers.Base, n, d int) (s spread, err error) {
	s.d = d
	if b.MPE() {
		return s, nil
	}
	s.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "continuation", Dims: [3]int{1, n, d}, Ins: part.Arrays(0, stream.Row), Outs: part.Arrays(1),
		Op: func(t *stream.Tile) {
			for m := range t.M {
				y := t.Out[0][m*t.MStride:][:t.I]
				for i := range y {
					y[i] = t.In[0][m]
				}
			}
		},
	})
	return s, err
}

func (s *spread) run(x, y []float32) error {
	if s.pass != nil {
		s.ins[0], s.outs[0] = x, y
		return s.pass.Run(s.ins[:], s.outs[:])
	}
	for i := range y {
		y[i] = x[i/s.d]
	}
	return nil
}

// maskOp computes y = a*b, or a*b + c.
type maskOp struct {
	pass *stream.Kernel
	ins  [3][]float32
	outs [1][]float32
}

func newMask(b *layers.Base, n int, add bool) (s maskOp, err error) {
	if b.MPE() {
		return s, nil
	}
	ins := part.Arrays(2)
	if add {
		ins = part.Arrays(3)
	}
	s.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "state", Dims: [3]int{1, 1, n}, Ins: ins, Outs: part.Arrays(1), Cost: stream.Work{Flops: 2},
		Op: func(t *stream.Tile) {
			vec.Mul(t.Out[0][:t.I], t.In[0][:t.I], t.In[1][:t.I])
			if len(t.In) > 2 {
				vec.Add(t.Out[0][:t.I], t.Out[0][:t.I], t.In[2][:t.I])
			}
		},
	})
	return s, err
}

func (s *maskOp) run(a, b, c, y []float32) error {
	if s.pass != nil {
		s.ins, s.outs[0] = [3][]float32{a, b, c}, y
		n := 3
		if c == nil {
			n = 2
		}
		return s.pass.Run(s.ins[:n], s.outs[:])
	}
	for i := range y {
		y[i] = a[i] * b[i]
		if c != nil {
			y[i] += c[i]
		}
	}
	return nil
}
