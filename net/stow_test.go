package net

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// stowText has weights that kernels keep packed (a and d: pointwise, with and without Maps behind), weights that are only folded (b), and weights that
// are read in every run (y).
const stowText = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 64 dim: 9 dim: 7 } } }` +
	`layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 272 kernel_size: 1 bias_term: false weight_filler { type: "msra" } } }
	layer { name: "an" type: "BatchNorm" bottom: "a" top: "a" }
	layer { name: "as" type: "Scale" bottom: "a" top: "a" scale_param { bias_term: true filler { type: "gaussian" std: 3 } } }
	layer { name: "ar" type: "ReLU" bottom: "a" top: "a" }
	layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
	layer { name: "bs" type: "Scale" bottom: "b" top: "b" scale_param { filler { type: "gaussian" std: 2 } } }
	layer { name: "d" type: "Convolution" bottom: "b" top: "d" convolution_param { num_output: 640 kernel_size: 1 weight_filler { type: "msra" } } }
	layer { name: "y" type: "InnerProduct" bottom: "d" top: "y" inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }`

// stowNet builds a net of stowText with given weights.
func stowNet(t *testing.T, weights *caffepb.NetParameter, change func(*Options)) *Net {
	n := buildWith(t, stowText, func(o *Options) {
		o.State, o.Economise, o.ForwardOnly = MergeState(caffepb.Phase_TEST), true, true
		if change != nil {
			change(o)
		}
	})
	if weights != nil {
		if err := n.CopyWeights(weights); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// stowWeights returns weights of stowText, with a factor of 0 and negative ones.
func stowWeights(t *testing.T) *caffepb.NetParameter {
	n := stowNet(t, nil, nil)
	n.fillStatistics()
	n.Params("as")[0].Data()[3] = 0
	return proto.CloneOf(n.ToProto(false))
}

// result runs a net on values that follow from seed.
func result(t *testing.T, n *Net, seed int) []float32 {
	for i, x := 0, n.graph.Blobs[0].Data(); i < len(x); i++ {
		x[i] = float32(math.Sin(float64(i*7 + seed)))
	}
	if _, err := n.Forward(); err != nil {
		t.Error(err)
	}
	return slices.Clone(n.Outputs()[0].Blob.Data())
}

// hasWeights fails the test unless a net has the weights bit by bit.
func hasWeights(t *testing.T, what string, n *Net, want *caffepb.NetParameter) {
	t.Helper()
	for _, l := range n.ToProto(false).Layer {
		for k, b := range l.Blobs {
			for _, m := range want.Layer {
				if m.GetName() == l.GetName() {
					sameBits(t, what+": "+l.GetName(), b.Data, m.Blobs[k].Data)
				}
			}
		}
	}
}

// stowed lists the layers whose first weights are stowed.
func (n *Net) stowed() (names []string) {
	for _, d := range n.nodes {
		if w := d.Params(); len(w) > 0 && w[0].Stowed() {
			names = append(names, d.Name)
		}
	}
	return names
}

// TestWeightsAreThereOnce: in inference, weights that are packed or folded are not in memory a second time. They come back bit by bit when somebody looks,
// results have the bits of a net that keeps nothing, and weights that somebody has written count.
func TestWeightsAreThereOnce(t *testing.T) {
	p := stowWeights(t)
	n, plain := stowNet(t, p, nil), stowNet(t, p, func(o *Options) { o.Changing = true })
	want := []string{"a", "b", "d"}
	for i := range 3 {
		sameBits(t, "results", result(t, n, i), result(t, plain, i))
		if got := n.stowed(); !slices.Equal(got, want) {
			t.Fatalf("weights of %v are stowed, want %v", got, want)
		}
		if i == 1 {
			hasWeights(t, "after two runs", n, p)
			if got := n.stowed(); len(got) > 0 {
				t.Errorf("weights of %v are stowed while somebody looks at them", got)
			}
		}
	}
	if got := plain.stowed(); len(got) > 0 {
		t.Errorf("a net whose weights change stows those of %v", got)
	}
	for _, m := range []*Net{n, plain} {
		m.graph.Blobs[0].Reshape(9, 64, 5, 8)
		if err := m.Reshape(); err == nil {
			t.Fatal("InnerProduct takes another image")
		}
		m.graph.Blobs[0].Reshape(9, 64, 9, 7) // of 3 to 8 items, inner products sum in another order than in training
		if err := m.Reshape(); err != nil {
			t.Fatal(err)
		}
	}
	sameBits(t, "results of another batch", result(t, n, 5), result(t, plain, 5))
	hasWeights(t, "after another batch", n, p)
	for _, m := range []*Net{n, plain} {
		m.Blob("b") // no longer folded
		m.Params("d")[0].Data()[100]++
	}
	sameBits(t, "results of other weights", result(t, n, 6), result(t, plain, 6))
	if err := n.CopyWeights(p); err != nil {
		t.Fatal(err)
	}
	hasWeights(t, "loaded again", n, p)
}

// TestWeightsOfSeveralNets: nets over one set of weights, of several batch sizes and at the same time, compute what each computes alone, have packed and folded
// weights in the place of the shared ones, and leave these as they are.
func TestWeightsOfSeveralNets(t *testing.T) {
	p := stowWeights(t)
	of := stowNet(t, p, nil)
	for _, l := range of.nodes {
		for _, w := range l.Params() {
			w.Freeze()
		}
	}
	var all sync.WaitGroup
	for batch := 1; batch <= 4; batch++ {
		sized := func(o *Options) { o.WeightsOf = of }
		n, alone := stowNet(t, nil, sized), stowNet(t, p, nil)
		for _, m := range []*Net{n, alone} {
			m.graph.Blobs[0].Reshape(batch, 64, 9, 7)
			if err := m.Reshape(); err != nil {
				t.Fatal(err)
			}
		}
		all.Go(func() {
			for i := range 5 {
				if got, want := result(t, n, i), result(t, alone, i); !slices.Equal(got, want) {
					t.Errorf("batch %d, run %d: other results than alone", batch, i)
				}
			}
		})
	}
	all.Wait()
	if got, want := of.stowed(), []string{"a", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("weights of %v are stowed, want %v", got, want)
	}
	hasWeights(t, "shared", of, p)
}
