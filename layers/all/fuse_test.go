package all_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// chain is a sequence of layers, each with its own top.
type chain struct {
	layers    []layers.Layer
	texts     []string
	bottoms   []*blob.Blob
	tops      []*blob.Blob // by layer
	propagate []bool
}

// newChain sets up layers on a device. r fills the first layer's bottoms, of the given shape, and all weights.
func newChain(t testing.TB, d *layers.Device, phase caffepb.Phase, texts []string, bottoms int, shape ...int) *chain {
	t.Helper()
	c := &chain{}
	r := rand.New(rand.NewPCG(5, 9))
	fill := func(v []float32) {
		for i := range v {
			v[i] = float32(r.NormFloat64()) + 0.3
		}
	}
	for range bottoms {
		b := blob.New(shape...)
		fill(b.Data())
		c.bottoms, c.propagate = append(c.bottoms, b), append(c.propagate, true)
	}
	for i, text := range texts {
		in := c.inputs(i, texts)
		p := &caffepb.LayerParameter{Phase: &phase}
		if _, err := swproto.UnmarshalText("chain", []byte(text), p); err != nil {
			t.Fatal(err)
		}
		typ, err := layers.Find(p.GetType())
		if err != nil {
			t.Fatal(err)
		}
		l, top := typ.New(p, d), []*blob.Blob{{}}
		if err := l.SetUp(in, top); err != nil {
			t.Fatal(err)
		}
		if err := l.Reshape(in, top); err != nil {
			t.Fatal(err)
		}
		for _, w := range l.Params() {
			fill(w.Data())
			if typ.Name == "BatchNorm" {
				for i, v := range w.Data() {
					w.Data()[i] = 1 + v*v
				}
			}
		}
		c.layers, c.tops, c.texts = append(c.layers, l), append(c.tops, top[0]), texts
	}
	return c
}

// inputs returns the bottoms of layer i: the previous layer's top and, for a sum, the chain's last bottom.
func (c *chain) inputs(i int, texts []string) []*blob.Blob {
	sum := func(text string) bool { return strings.Contains(text, "Eltwise") }
	switch {
	case i == 0 && slices.ContainsFunc(texts[1:], sum):
		return c.bottoms[:1]
	case i == 0:
		return c.bottoms
	case sum(texts[i]):
		return []*blob.Blob{c.tops[i-1], c.bottoms[1]}
	}
	return c.tops[i-1 : i]
}

// run runs the chain layer by layer and returns the top and the gradients of bottoms and weights.
func (c *chain) run(t *testing.T, dy []float32) (forward, backward [][]float32) {
	t.Helper()
	for i, l := range c.layers {
		if err := l.Forward(c.inputs(i, c.texts), c.tops[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	copy(c.tops[len(c.tops)-1].Diff(), dy)
	for i := len(c.layers) - 1; i >= 0; i-- {
		in := c.inputs(i, c.texts)
		propagate := []bool{true, true, true}[:len(in)]
		if err := c.layers[i].Backward(c.tops[i:i+1], propagate, in); err != nil {
			t.Fatal(err)
		}
	}
	return c.results(c.tops[len(c.tops)-1])
}

func (c *chain) results(top *blob.Blob) (forward, backward [][]float32) {
	forward = [][]float32{top.Data()}
	for _, b := range c.bottoms {
		backward = append(backward, b.Diff())
	}
	for _, l := range c.layers {
		for _, w := range l.Params() {
			forward, backward = append(forward, w.Data()), append(backward, w.Diff())
		}
	}
	return forward, backward
}

// fuse returns the layer that combines the whole chain.
func (c *chain) fuse(t testing.TB) layers.Layer {
	t.Helper()
	fused := c.layers[0]
	for _, next := range c.layers[1:] {
		before := fused
		if fused, _ = layers.Fuse(before, next, nil); fused == nil {
			t.Fatalf("%T does not fuse with %T", before, next)
		}
	}
	return fused
}

// runFused runs the fused chain. The top holds NaN before, and so do values that Backward must not read.
func (c *chain) runFused(t testing.TB, dy []float32) (forward, backward [][]float32) {
	t.Helper()
	fused := c.fuse(t)
	top := []*blob.Blob{blob.New(c.tops[len(c.tops)-1].Shape()...)}
	for i := range top[0].Data() {
		top[0].Data()[i] = float32(math.NaN())
	}
	for _, b := range c.tops {
		b.Reshape(0)
	}
	if err := fused.Reshape(c.bottoms, top); err != nil {
		t.Fatal(err)
	}
	if err := fused.Forward(c.bottoms, top); err != nil {
		t.Fatal(err)
	}
	copy(top[0].Diff(), dy)
	y := slices.Clone(top[0].Data())
	layertest.Forget(fused, c.bottoms, top)
	if err := fused.Backward(top, c.propagate, c.bottoms); err != nil {
		t.Fatal(err)
	}
	forward, backward = c.results(top[0])
	forward[0] = y
	return forward, backward
}

// TestFusedLayers: fused layers give the results of separate layers, forward bit by bit and backward within the tolerance.
func TestFusedLayers(t *testing.T) {
	const (
		norm    = `type: "BatchNorm"`
		stored  = `type: "BatchNorm" batch_norm_param { use_global_stats: true }`
		scale   = `type: "Scale" scale_param { bias_term: true }`
		noShift = `type: "Scale"`
		relu    = `type: "ReLU"`
		leaky   = `type: "ReLU" relu_param { negative_slope: 0.25 }`
		inverse = `type: "ReLU" relu_param { negative_slope: -0.5 }`
		sum     = `type: "Eltwise"`
	)
	for _, tt := range []struct {
		layers    []string
		bottoms   int
		shape     []int
		tolerance float64
	}{
		{[]string{norm, scale, relu}, 1, []int{3, 5, 7, 9}, 2e-6},
		{[]string{norm, scale, relu}, 1, []int{2, 2, 71, 90}, 2e-6},
		{[]string{norm, scale}, 1, []int{4, 19, 5, 5}, 2e-6},
		{[]string{norm, noShift, leaky}, 1, []int{4, 3, 6, 5}, 2e-6},
		{[]string{norm, scale, inverse}, 1, []int{4, 3, 6, 5}, 2e-6},
		{[]string{norm, scale, relu}, 1, []int{12, 33}, 2e-6},
		{[]string{stored, scale, relu}, 1, []int{2, 4, 9, 8}, 2e-6},
		{[]string{stored, noShift}, 1, []int{7, 40}, 2e-6},
		{[]string{norm, scale, sum}, 2, []int{3, 5, 7, 9}, 2e-6},
		{[]string{norm, scale, sum, relu}, 2, []int{3, 5, 7, 9}, 2e-6},
		{[]string{norm, scale, sum, leaky}, 2, []int{2, 2, 71, 90}, 2e-6},
		{[]string{norm, noShift, sum, relu}, 2, []int{12, 33}, 2e-6},
		{[]string{stored, scale, sum, relu}, 2, []int{2, 4, 9, 8}, 2e-6},
		{[]string{relu, `type: "Pooling" pooling_param { kernel_size: 2 stride: 2 }`}, 1, []int{3, 5, 8, 10}, 0},
		{[]string{relu, `type: "Pooling" pooling_param { kernel_size: 3 stride: 2 pad: 1 }`}, 1, []int{2, 11, 15, 13}, 0},
		{[]string{relu, `type: "Pooling" pooling_param { kernel_size: 3 stride: 1 pad: 1 }`}, 1, []int{2, 6, 7, 7}, 0},
		{[]string{relu, `type: "Pooling" pooling_param { kernel_size: 9 stride: 5 }`}, 1, []int{2, 2, 30, 31}, 0},
		{[]string{`type: "Pooling" pooling_param { kernel_size: 3 stride: 2 pad: 1 }`, relu}, 1, []int{2, 11, 15, 13}, 0},
		{[]string{`type: "Pooling" pooling_param { kernel_size: 9 stride: 5 }`, relu}, 1, []int{2, 2, 30, 31}, 0},
	} {
		for _, machine := range []string{"host", "sw26010"} {
			t.Run(fmt.Sprint(tt.layers, tt.shape, machine), func(t *testing.T) {
				d := fuseDevice(t, machine)
				one := newChain(t, d, caffepb.Phase_TRAIN, tt.layers, tt.bottoms, tt.shape...)
				all := newChain(t, d, caffepb.Phase_TRAIN, tt.layers, tt.bottoms, tt.shape...)
				dy := make([]float32, one.tops[len(one.tops)-1].Count())
				for i := range dy {
					dy[i] = float32(math.Sin(float64(i) + 0.5))
				}
				forward, backward := one.run(t, dy)
				fusedForward, fusedBackward := all.runFused(t, dy)
				for i, want := range forward {
					layertest.Equal(t, fmt.Sprintf("value %d", i), fusedForward[i], want, 0)
				}
				for i, want := range backward {
					layertest.Equal(t, fmt.Sprintf("gradient %d", i), fusedBackward[i], want, tt.tolerance)
				}
			})
		}
	}
}

func fuseDevice(t *testing.T, machine string) *layers.Device {
	t.Helper()
	spec, err := cpe.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return &layers.Device{Machine: m, Random: layers.NewRandom(1)}
}

// TestFusionIsRefused: layers are not fused if that would change results.
func TestFusionIsRefused(t *testing.T) {
	const norm, scale, relu, pool = `type: "BatchNorm"`, `type: "Scale"`, `type: "ReLU"`, `type: "Pooling" pooling_param { kernel_size: 2 }`
	shape := []int{2, 3, 4, 4}
	for _, tt := range []struct {
		why     string
		engine  layers.Engine
		layers  []string
		bottoms int
	}{
		{"the MPE path computes layers one by one", layers.MPE, []string{norm, scale}, 1},
		{"the MPE path computes layers one by one", layers.MPE, []string{relu, pool}, 1},
		{"factors along other axes", layers.CPE, []string{norm, `type: "Scale" scale_param { axis: 2 }`}, 1},
		{"a mean is not monotone in ReLU", layers.CPE, []string{relu, `type: "Pooling" pooling_param { kernel_size: 2 pool: AVE }`}, 1},
		{"a mean is not monotone in ReLU", layers.CPE, []string{`type: "Pooling" pooling_param { kernel_size: 2 pool: AVE }`, relu}, 1},
		{"what is below zero stays different", layers.CPE, []string{pool, `type: "ReLU" relu_param { negative_slope: 0.1 }`}, 1},
		{"kernels are pointwise", layers.CPE, []string{`type: "Convolution" convolution_param { num_output: 16 kernel_size: 1 }`, pool}, 1},
		{"groups", layers.CPE, []string{`type: "Convolution" convolution_param { num_output: 15 kernel_size: 2 group: 3 }`, pool}, 1},
		{"negative values may round to equal ones", layers.CPE, []string{`type: "ReLU" relu_param { negative_slope: 0.1 }`, pool}, 1},
		{"a difference is no sum", layers.CPE, []string{norm, scale, `type: "Eltwise" eltwise_param { coeff: 1 coeff: -1 }`}, 2},
		{"the sign of y does not tell that of the sum", layers.CPE, []string{norm, scale, `type: "Eltwise"`, `type: "ReLU" relu_param { negative_slope: -1 }`}, 2},
	} {
		d := fuseDevice(t, "host")
		d.Engine = tt.engine
		c := newChain(t, d, caffepb.Phase_TRAIN, tt.layers, tt.bottoms, shape...)
		last, first := len(c.layers)-1, c.layers[0]
		if last > 1 {
			first = (&chain{layers: c.layers[:last]}).fuse(t)
		}
		if fused, _ := layers.Fuse(first, c.layers[last], nil); fused != nil {
			t.Errorf("%v are computed together on path %v: %s", tt.layers, tt.engine, tt.why)
		}
	}
}
