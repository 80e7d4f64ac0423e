package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// RowMover moves rows of n values by index, on either path, between a table of rows x n values and a list of rows. Gather reads rows of the
// table, Add adds rows to it, and Scatter clears it first.
type RowMover struct {
	rows, n int
	pass    *stream.Rows // nil on the MPE path
	zero    Zeroer
}

// Reshape prepares for arrays of rows x n values.
func (r *RowMover) Reshape(b *layers.Base, rows, n int) (err error) {
	if r.rows == rows && r.n == n {
		return nil
	}
	r.rows, r.n = rows, n
	if b.MPE() {
		return nil
	}
	if r.pass, err = stream.NewRows(b.Device.Machine, n); err != nil {
		return err
	}
	return r.zero.Reshape(b, rows*n)
}

// Gather computes dst[k] = src[index[k]].
func (r *RowMover) Gather(dst, src []float32, index []int) error {
	if r.pass != nil {
		return r.pass.Gather(dst, src, index)
	}
	for k, row := range index {
		copy(dst[k*r.n:(k+1)*r.n], src[row*r.n:])
	}
	return nil
}

// Add computes dst[index[k]] += src[k], in the order of k.
func (r *RowMover) Add(dst, src []float32, index []int) error {
	if r.pass != nil {
		return r.pass.Scatter(dst, src, index)
	}
	for k, row := range index {
		to := dst[row*r.n : (row+1)*r.n]
		for i, v := range src[k*r.n : (k+1)*r.n] {
			to[i] += v
		}
	}
	return nil
}

// Scatter clears dst, then computes dst[index[k]] += src[k].
func (r *RowMover) Scatter(dst, src []float32, index []int) error {
	if err := r.zero.Run(dst); err != nil {
		return err
	}
	return r.Add(dst, src, index)
}
