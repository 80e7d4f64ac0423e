package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// matmul is a product on either path.
type matmul struct {
	shape kernel.GemmShape
	gemm  *kernel.Gemm // nil on the MPE path
}

func newMatmul(b *Base, s kernel.GemmShape) (p matmul, err error) {
	p.shape = s
	if !b.mpe() {
		p.gemm, err = kernel.NewGemm(b.Device.Machine, s)
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

// spread repeats every one of n values d times.
type spread struct {
	d    int
	pass *kernel.StreamKernel
	ins  [1][]float32
	outs [1][]float32
}

func newSpread(b *Base, n, d int) (s spread, err error) {
	s.d = d
	if b.mpe() {
		return s, nil
	}
	s.pass, err = kernel.NewStream(b.Device.Machine, kernel.Stream{
		Name: "continuation", Dims: [3]int{1, n, d}, Ins: []kernel.Array{kernel.Row}, Outs: []kernel.Array{kernel.Full},
		Op: func(t *kernel.Tile) {
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
	pass *kernel.StreamKernel
	ins  [3][]float32
	outs [1][]float32
}

func newMask(b *Base, n int, add bool) (s maskOp, err error) {
	if b.mpe() {
		return s, nil
	}
	ins := make([]kernel.Array, 2, 3)
	if add {
		ins = append(ins, kernel.Full)
	}
	s.pass, err = kernel.NewStream(b.Device.Machine, kernel.Stream{
		Name: "state", Dims: [3]int{1, 1, n}, Ins: ins, Outs: []kernel.Array{kernel.Full}, Cost: kernel.Work{Flops: 2},
		Op: func(t *kernel.Tile) {
			simd.Mul(t.Out[0][:t.I], t.In[0][:t.I], t.In[1][:t.I])
			if len(t.In) > 2 {
				simd.Add(t.Out[0][:t.I], t.Out[0][:t.I], t.In[2][:t.I])
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

// prepare makes the arrays and kernels for n streams; the states begin at zero.
func (l *recurrent) prepare() (err error) {
	nd, rows, all := l.n*l.d, l.gates*l.d, l.t*l.n
	l.hidden = nil
	for range l.states {
		l.hidden = append(l.hidden, make(hiddenState, (l.t+1)*nd))
	}
	l.cont, l.prev, l.dh, l.dprev = make([]float32, l.t*nd), make([]float32, l.t*nd), make([]float32, nd), make([]float32, nd)
	l.a, l.da, l.fixed = make([]float32, all*rows), make([]float32, all*rows), make([]float32, l.n*rows)
	products := []struct {
		p *matmul
		s kernel.GemmShape
	}{
		{&l.input, kernel.GemmShape{M: all, N: rows, K: l.k, TransB: true}},
		{&l.inputGrad, kernel.GemmShape{M: all, N: l.k, K: rows}},
		{&l.dwx, kernel.GemmShape{M: rows, N: l.k, K: all, TransA: true, Accumulate: true}},
		{&l.step, kernel.GemmShape{M: l.n, N: rows, K: l.d, TransB: true, Accumulate: true}},
		{&l.stepGrad, kernel.GemmShape{M: l.n, N: l.d, K: rows}},
		{&l.dwh, kernel.GemmShape{M: rows, N: l.d, K: all, TransA: true, Accumulate: true}},
		{&l.fixedIn, kernel.GemmShape{M: l.n, N: rows, K: l.static, TransB: true}},
		{&l.dFixed, kernel.GemmShape{M: l.n, N: l.static, K: rows}},
		{&l.dwFix, kernel.GemmShape{M: rows, N: l.static, K: l.n, TransA: true, Accumulate: true}},
	}
	if !l.hasStatic {
		products = products[:6]
	}
	for _, p := range products {
		if *p.p, err = newMatmul(&l.Base, p.s); err != nil {
			return err
		}
	}
	if l.spread, err = newSpread(&l.Base, all, l.d); err != nil {
		return err
	}
	if l.mask, err = newMask(&l.Base, nd, false); err != nil {
		return err
	}
	if l.carry, err = newMask(&l.Base, nd, true); err != nil {
		return err
	}
	if l.addFixed, err = newAdder(&l.Base, l.n*rows); err != nil {
		return err
	}
	if l.bias, err = newBiasGrad(&l.Base, [3]int{all, rows, 1}, false); err != nil {
		return err
	}
	return l.cell.prepare()
}

// weightGrads adds to the gradients of the weights. Behind it, fixed holds the sum of da over time.
func (l *recurrent) weightGrads(bottom []*blob.Blob) error {
	if l.paramGrad(0) {
		if err := l.dwx.addTo(l.params[0], l.da, bottom[0].Data()); err != nil {
			return err
		}
	}
	if l.paramGrad(1) {
		if err := l.bias.run(l.params[1].Diff(), l.da); err != nil {
			return err
		}
	}
	if i := l.hiddenWeight(); l.paramGrad(i) {
		if err := l.dwh.addTo(l.params[i], l.da, l.prev); err != nil {
			return err
		}
	}
	if !l.hasStatic {
		return nil
	}
	clear(l.fixed)
	for t := range l.t {
		if err := l.addFixed.run(l.fixed, l.at(l.da, t, l.gates*l.d)); err != nil {
			return err
		}
	}
	if !l.paramGrad(2) {
		return nil
	}
	return l.dwFix.addTo(l.params[2], l.fixed, bottom[2].Data())
}

// bottomGrads computes the gradients of x and of the static input; those of first states are zero.
func (l *recurrent) bottomGrads(propagateDown []bool, bottom []*blob.Blob) error {
	for i, b := range bottom {
		var err error
		switch {
		case !propagateDown[i]:
		case i == 0:
			err = l.inputGrad.run(l.da, l.params[0].Data(), nil, b.Diff())
		case i == 2 && l.hasStatic:
			err = l.dFixed.run(l.fixed, l.params[2].Data(), nil, b.Diff())
		default:
			b.ZeroDiff()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
