package model

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	swnet "github.com/swcaffe/swcaffe/net"
)

// rounding says which directions of a layer multiply factors rounded to bfloat16. The sums and the biases are in float32. The methods run the same layer of
// a net that does not round, on rounded factors.
type rounding struct{ output, inputs, weights bool }

func roundingOf(n *swnet.Net, i int) rounding {
	rounds := func(d shape.Direction) bool {
		return strings.HasSuffix(string(n.Algorithm(i, d)), op.RoundedFactors.Suffix())
	}
	return rounding{rounds(shape.Forward), rounds(shape.InputGradient), rounds(shape.WeightGradient)}
}

// forward runs layer i. Its factors are the bottoms and the weights.
func (r rounding) forward(n *swnet.Net, i int) error {
	run := func() error { _, err := n.ForwardLayer(i); return err }
	if !r.output {
		return run()
	}
	return withRounded(run, append(datas(n.Bottoms(i)), n.Layer(i).Params()[0].Data()))
}

// backward runs layer i for each gradient whose factors differ: those of the inputs' gradients are the tops' gradients and the weights, those of the
// weights' gradient the tops' gradients and the bottoms. The bias has the sum of the tops' gradients as they are.
func (r rounding) backward(n *swnet.Net, i int) error {
	run := func() error { return n.BackwardLayer(i) }
	if !r.inputs && !r.weights {
		return run()
	}
	bottoms, params := diffs(n.Bottoms(i)), diffs(n.Layer(i).Params())
	before := clones(params)
	if err := run(); err != nil {
		return err
	}
	inputs, weights := clones(bottoms), clones(params)
	if r.weights {
		copyAll(params, before)
		if err := withRounded(run, append(diffs(n.Tops(i)), datas(n.Bottoms(i))...)); err != nil {
			return err
		}
		copy(weights[0], params[0])
	}
	if r.inputs {
		if err := withRounded(run, append(diffs(n.Tops(i)), n.Layer(i).Params()[0].Data())); err != nil {
			return err
		}
		inputs = clones(bottoms)
	}
	copyAll(bottoms, inputs)
	copyAll(params, weights)
	return nil
}

// withRounded calls f while arrays have values rounded to bfloat16.
func withRounded(f func() error, arrays [][]float32) error {
	exact := clones(arrays)
	for _, a := range arrays {
		vec.Round(a, a)
	}
	defer copyAll(arrays, exact)
	return f()
}

func datas(blobs []*blob.Blob) (all [][]float32) {
	for _, b := range blobs {
		all = append(all, b.Data())
	}
	return all
}

func diffs(blobs []*blob.Blob) (all [][]float32) {
	for _, b := range blobs {
		all = append(all, b.Diff())
	}
	return all
}

func clones(arrays [][]float32) (all [][]float32) {
	for _, a := range arrays {
		all = append(all, slices.Clone(a))
	}
	return all
}

func copyAll(dst, src [][]float32) {
	for i := range dst {
		copy(dst[i], src[i])
	}
}
