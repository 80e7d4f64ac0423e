package layers

// rowMover moves rows of n values by index on either path: gather takes rows out of an array of so many rows, scatter adds rows to an
// array of zeros.
type rowMover struct {
	rows, n int
	move    mover
	add     adder
	zero    zeroer
}

func (r *rowMover) reshape(b *Base, rows, n int) (err error) {
	if r.rows == rows && r.n == n {
		return nil
	}
	r.rows, r.n = rows, n
	if r.move, err = newMover(b, 1, n); err != nil {
		return err
	}
	if r.add, err = newAdder(b, n); err != nil {
		return err
	}
	return r.zero.reshape(b, rows*n)
}

// gather: dst[k] = src[index[k]].
func (r *rowMover) gather(dst, src []float32, index []int) error {
	for k, row := range index {
		if err := r.move.run(dst[k*r.n:(k+1)*r.n], src[row*r.n:(row+1)*r.n]); err != nil {
			return err
		}
	}
	return nil
}

// scatter: dst = 0, then dst[index[k]] += src[k], in the order of k.
func (r *rowMover) scatter(dst, src []float32, index []int) error {
	if err := r.zero.run(dst); err != nil {
		return err
	}
	for k, row := range index {
		if err := r.add.run(dst[row*r.n:(row+1)*r.n], src[k*r.n:(k+1)*r.n]); err != nil {
			return err
		}
	}
	return nil
}
