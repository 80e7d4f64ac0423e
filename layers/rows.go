package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// rowMover moves rows of n values by index: gather takes rows out of an array of so many rows, scatter adds rows to an
// array of zeros.
type rowMover struct {
	rows, n   int
	mpe       bool
	copy, add *kernel.Copy
	zero      zeroer
}

func (r *rowMover) reshape(b *Base, rows, n int) (err error) {
	if r.rows == rows && r.n == n {
		return nil
	}
	r.rows, r.n, r.mpe = rows, n, b.mpe()
	if r.mpe {
		return nil
	}
	shape := kernel.CopyShape{Outer: 1, Rows: 1, Cols: n, SrcRow: n, DstRow: n}
	if r.copy, err = kernel.NewCopy(b.Device.Machine, shape); err != nil {
		return err
	}
	shape.Add = true
	if r.add, err = kernel.NewCopy(b.Device.Machine, shape); err != nil {
		return err
	}
	return r.zero.reshape(b, rows*n)
}

// gather: dst[k] = src[index[k]].
func (r *rowMover) gather(dst, src []float32, index []int) error {
	for k, row := range index {
		to, from := dst[k*r.n:(k+1)*r.n], src[row*r.n:(row+1)*r.n]
		if r.mpe {
			copy(to, from)
		} else if err := r.copy.Run(to, from); err != nil {
			return err
		}
	}
	return nil
}

// scatter: dst = 0, then dst[index[k]] += src[k], in the order of k.
func (r *rowMover) scatter(dst, src []float32, index []int) error {
	if r.mpe {
		clear(dst)
	} else if err := r.zero.run(dst); err != nil {
		return err
	}
	for k, row := range index {
		to, from := dst[row*r.n:(row+1)*r.n], src[k*r.n:(k+1)*r.n]
		if r.mpe {
			for i, v := range from {
				to[i] += v
			}
		} else if err := r.add.Run(to, from); err != nil {
			return err
		}
	}
	return nil
}

// zeroer clears arrays of n values on the CPE path.
type zeroer struct {
	n      int
	stream *kernel.StreamKernel
	outs   [1][]float32
}

func (z *zeroer) reshape(b *Base, n int) (err error) {
	if z.stream != nil && z.n == n {
		return nil
	}
	z.n = n
	z.stream, err = kernel.NewStream(b.Device.Machine, kernel.Stream{
		Name: "zeros", Dims: [3]int{1, 1, n}, Outs: []kernel.Array{kernel.Full},
		Op: func(t *kernel.Tile) { clear(t.Out[0][:t.I]) },
	})
	return err
}

func (z *zeroer) run(dst []float32) error {
	z.outs[0] = dst
	return z.stream.Run(nil, z.outs[:])
}
