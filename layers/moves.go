package layers

import "github.com/swcaffe/swcaffe/cpe/kernel/stream"

// mover copies arrays of rows x cols values on either path.
type mover struct{ pass *stream.Copy } // nil on the MPE path

func newMover(b *Base, rows, cols int) (s mover, err error) {
	if !b.mpe() {
		s.pass, err = stream.NewCopy(b.Device.Machine, stream.CopyShape{Outer: 1, Rows: rows, Cols: cols, SrcRow: cols, DstRow: cols})
	}
	return s, err
}

func (s *mover) run(dst, src []float32) error {
	if s.pass != nil {
		return s.pass.Run(dst, src)
	}
	copy(dst, src)
	return nil
}

// adder adds n values to others on either path: y += x.
type adder struct{ pass *stream.Copy } // nil on the MPE path

func newAdder(b *Base, n int) (s adder, err error) {
	if !b.mpe() {
		s.pass, err = stream.NewCopy(b.Device.Machine, stream.CopyShape{Outer: 1, Rows: 1, Cols: n, SrcRow: n, DstRow: n, Add: true})
	}
	return s, err
}

func (s *adder) run(y, x []float32) error {
	if s.pass != nil {
		return s.pass.Run(y, x)
	}
	for i, v := range x {
		y[i] += v
	}
	return nil
}

// zeroer clears arrays of n values on either path.
type zeroer struct {
	n    int
	pass *stream.Kernel // nil on the MPE path
	outs [1][]float32
}

func (z *zeroer) reshape(b *Base, n int) (err error) {
	if b.mpe() || z.pass != nil && z.n == n {
		return nil
	}
	z.n = n
	z.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "zeros", Dims: [3]int{1, 1, n}, Outs: arrays(1),
		Op: func(t *stream.Tile) { clear(t.Out[0][:t.I]) },
	})
	return err
}

func (z *zeroer) run(dst []float32) error {
	if z.pass == nil {
		clear(dst)
		return nil
	}
	z.outs[0] = dst
	return z.pass.Run(nil, z.outs[:])
}
