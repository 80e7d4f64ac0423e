package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// Mover copies arrays of rows x cols values on either path.
type Mover struct{ pass *stream.Copy } // nil on the MPE path

// NewMover prepares for arrays of rows x cols values.
func NewMover(b *layers.Base, rows, cols int) (s Mover, err error) {
	if !b.MPE() {
		s.pass, err = stream.NewCopy(b.Device.Machine, stream.CopyShape{Outer: 1, Rows: rows, Cols: cols, SrcRow: cols, DstRow: cols})
	}
	return s, err
}

// Run copies src to dst.
func (s *Mover) Run(dst, src []float32) error {
	if s.pass != nil {
		return s.pass.Run(dst, src)
	}
	copy(dst, src)
	return nil
}

// Adder adds one array of n values to another on either path: y += x.
type Adder struct{ pass *stream.Copy } // nil on the MPE path

// NewAdder prepares for arrays of n values.
func NewAdder(b *layers.Base, n int) (s Adder, err error) {
	if !b.MPE() {
		s.pass, err = stream.NewCopy(b.Device.Machine, stream.CopyShape{Outer: 1, Rows: 1, Cols: n, SrcRow: n, DstRow: n, Add: true})
	}
	return s, err
}

// Run adds x to y.
func (s *Adder) Run(y, x []float32) error {
	if s.pass != nil {
		return s.pass.Run(y, x)
	}
	for i, v := range x {
		y[i] += v
	}
	return nil
}

// Zeroer clears arrays of n values on either path.
type Zeroer struct {
	n    int
	pass *stream.Kernel // nil on the MPE path
	outs [1][]float32
}

// Reshape prepares for arrays of n values.
func (z *Zeroer) Reshape(b *layers.Base, n int) (err error) {
	if b.MPE() || z.pass != nil && z.n == n {
		return nil
	}
	z.n = n
	z.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "zeros", Dims: [3]int{1, 1, n}, Outs: Arrays(1),
		Op: func(t *stream.Tile) { clear(t.Out[0][:t.I]) },
	})
	return err
}

// Run clears dst.
func (z *Zeroer) Run(dst []float32) error {
	if z.pass == nil {
		clear(dst)
		return nil
	}
	z.outs[0] = dst
	return z.pass.Run(nil, z.outs[:])
}
