package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
)

// Finishing applies functions of single results to an array in main memory, in place: a pass over memory for what a kernel did not do to its
// results as it computed them. It is for machines without DMA.
type Finishing struct {
	pass   *Kernel
	finish op.Finish
	y      []float32
	arrays [1][]float32
}

// NewFinishing plans it for an array of outer x mid x inner values. If channels are in blocks, mid counts blocks and lanes is the number of
// channels of one; otherwise mid counts channels, and lanes is 0.
func NewFinishing(m *cpe.Machine, dims [3]int, lanes int) (*Finishing, error) {
	f := &Finishing{}
	var err error
	f.pass, err = New(m, Pass{Name: "finishing", Dims: dims, Lanes: lanes, Ins: []Array{Full}, Outs: []Array{Full}, InPlace: 1, Cost: Work{Flops: 1}, Op: f.tile})
	return f, err
}

// Run applies finish to y.
func (f *Finishing) Run(y []float32, finish op.Finish) error {
	f.y, f.finish, f.arrays[0] = y, finish, y
	return f.pass.Run(f.arrays[:], f.arrays[:])
}

// tile applies it to a tile, row by row.
func (f *Finishing) tile(t *Tile) {
	t.EachRow(func(at, n, m int) {
		at += t.At()
		f.finish(f.y[at:at+n], at, t.M0+m)
	})
}
